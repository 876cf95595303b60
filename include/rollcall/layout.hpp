#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace rollcall {
class LayoutPort;
namespace redis {
class ClientCore;
}
}  // namespace rollcall

#pragma GCC visibility push(default)

namespace rollcall {

/// Which keys, scripts and messages are used, and under which prefix or namespace: made by
/// `streaming_layout` or `cosky_layout`.
class Layout {
public:
    /// What a layout is to the library; its types are not public. The time is that between two
    /// heartbeats.
    using MakePort = std::function<std::shared_ptr<LayoutPort>(std::shared_ptr<redis::ClientCore>,
                                                               std::chrono::milliseconds)>;

    Layout(std::string_view name, std::string name_space, std::chrono::milliseconds lease,
           MakePort make_port)
        : name_(name),
          name_space_(std::move(name_space)),
          lease_(lease),
          make_port_(std::move(make_port)) {}

    std::string const& name() const noexcept { return name_; }  ///< `streaming` or `cosky`.
    std::string const& name_space() const noexcept { return name_space_; }
    std::chrono::milliseconds lease() const noexcept { return lease_; }
    MakePort const& make_port() const noexcept { return make_port_; }

private:
    std::string name_;
    std::string name_space_;
    std::chrono::milliseconds lease_;
    MakePort make_port_;
};

/// The layout of the redis-streaming registry module. `lease` is the heartbeat timeout, the same
/// for everybody who uses the prefix. Source: seed 000, "Redis Key Structure".
///
/// Errors: `std::invalid_argument` for a prefix that `streaming::RegistryKeys` does not take, and
/// for a lease that is not a whole number of seconds from 1 s to ten years of 365 days (315,360,000
/// s). The program takes no lease above 30 days: what is forgotten is to go some day.
Layout streaming_layout(std::string key_prefix = "redis_streaming_registry",
                        std::chrono::milliseconds lease = std::chrono::seconds{90});

/// The layout of CoSky. `lease` is that of what this process registers. Source: seed 003, "Redis
/// Key Structure".
///
/// Errors: `std::invalid_argument` for a namespace that CoSky cannot use, and for a lease below
/// 1 s or above ten years of 365 days.
Layout cosky_layout(std::string name_space = "cosky-{default}",
                    std::chrono::milliseconds lease = std::chrono::seconds{60});

}  // namespace rollcall

#pragma GCC visibility pop
