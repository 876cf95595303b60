#include "rollcall/instance.hpp"

#include "rollcall/protocol.hpp"

namespace rollcall {

std::string uri(ServiceInstance const& instance) {
    bool const ipv6 = instance.host.find(':') != std::string::npos;
    std::string text = instance.scheme + "://";
    if (ipv6) text += '[';
    for (char const c : instance.host) {
        // A zone index is written with an escaped percent sign (RFC 6874).
        if (ipv6 && c == '%') {
            text += "%25";
        } else {
            text += c;
        }
    }
    if (ipv6) text += ']';
    return text + ':' + std::to_string(effective_port(instance.scheme, instance.port));
}

}  // namespace rollcall
