#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "rollcall/client.hpp"

namespace rollcall::test {

/// Collects what a client logs.
class LogBook {
public:
    LogCallback callback();
    std::vector<std::string> lines() const;
    bool has(std::string_view part) const { return count(part) > 0; }
    std::size_t count(std::string_view part) const;

private:
    struct State {
        mutable std::mutex mutex;
        std::vector<std::string> lines;
    };
    std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace rollcall::test
