#pragma once

#include <string>
#include <string_view>

namespace rollcall::streaming {

/// The keys of one service under names as they are stored: unlike `RegistryKeys` it refuses none,
/// since a peer may have stored any. Names from callers are sanitised before they come here.
class ServiceKeys {
public:
    ServiceKeys(std::string_view prefix, std::string_view service) {
        base_.reserve(prefix.size() + service.size() + 11);
        base_.append(prefix).append(":services:").append(service).append(":");
    }

    std::string heartbeats() const { return base_ + "heartbeats"; }
    std::string changes() const { return base_ + "changes"; }
    std::string instance(std::string_view id) const {
        std::string key;
        key.reserve(base_.size() + 9 + id.size());
        return key.append(base_).append("instance:").append(id);
    }

private:
    std::string base_;
};

}  // namespace rollcall::streaming
