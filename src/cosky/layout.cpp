#include "rollcall/layout.hpp"

#include <utility>

#include "cosky/cosky_port.hpp"

namespace rollcall {

Layout cosky_layout(std::string name_space, std::chrono::milliseconds lease) {
    cosky::CoskyPortOptions options;
    options.ns = name_space;
    options.lease = lease;
    cosky::validate(options);
    auto make = [options](std::shared_ptr<redis::ClientCore> core,
                          std::chrono::milliseconds heartbeat) {
        auto with_heartbeat = options;
        with_heartbeat.heartbeat = heartbeat;
        return std::shared_ptr<LayoutPort>{cosky::make_cosky_port(std::move(core), with_heartbeat)};
    };
    return {"cosky", std::move(name_space), lease, std::move(make)};
}

}  // namespace rollcall
