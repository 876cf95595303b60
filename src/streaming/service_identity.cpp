#include "rollcall/streaming/service_identity.hpp"

#include "core/text.hpp"

namespace rollcall::streaming {

std::optional<std::string> ServiceIdentity::unique_id() const {
    if (!service_name || !instance_id) return std::nullopt;
    return *service_name + ':' + *instance_id;
}

bool ServiceIdentity::is_valid_identity() const noexcept {
    return service_name && instance_id && !is_blank(*service_name) && !is_blank(*instance_id);
}

std::string generate_instance_id(std::string_view service_name, std::string_view host, int port) {
    std::string id{service_name};
    id += '-';
    id += host;
    id += ':';
    id += std::to_string(port);
    return id;
}

}  // namespace rollcall::streaming
