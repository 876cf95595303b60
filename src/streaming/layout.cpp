#include "rollcall/layout.hpp"

#include <utility>

#include "streaming/streaming_port.hpp"

#include "rollcall/streaming/registry_keys.hpp"

namespace rollcall {

Layout streaming_layout(std::string key_prefix, std::chrono::milliseconds lease) {
    streaming::StreamingPortOptions options;
    options.prefix = streaming::RegistryKeys::validated_prefix(key_prefix);
    options.lease = lease;
    streaming::validate(options);
    auto make = [options](std::shared_ptr<redis::ClientCore> core, std::chrono::milliseconds) {
        return std::shared_ptr<LayoutPort>{
            streaming::make_streaming_port(std::move(core), options)};
    };
    return {"streaming", std::move(key_prefix), lease, std::move(make)};
}

}  // namespace rollcall
