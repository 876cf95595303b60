#include "rollcall/streaming/registry_keys.hpp"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "core/text.hpp"

namespace rollcall::streaming {
namespace {

constexpr std::string_view replaced = ": \t\n\r";
constexpr std::string_view blank_prefix = "registry";
constexpr std::string_view service_field = "service name";
constexpr std::string_view id_field = "instance id";

std::string sanitize(std::string_view name) {
    std::string out{name};
    for (char& c : out) {
        if (c == ':') {
            c = '_';
        } else if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
            c = '-';
        }
    }
    return out;
}

std::string validate_and_sanitize(std::string_view field, std::string_view name) {
    if (is_blank(name)) refuse(field, name, "must not be empty or blank");
    if (name.size() > RegistryKeys::max_name_size) {
        refuse(field, name,
               "must not be longer than " + std::to_string(RegistryKeys::max_name_size) + " bytes");
    }
    if (name.find('\0') != std::string_view::npos) refuse(field, name, "must not contain NUL");
    if (!is_utf8(name)) refuse(field, name, "must be UTF-8");
    return sanitize(name);
}

bool is_safe(std::string_view name) noexcept {
    return name.find_first_of(replaced) == std::string_view::npos;
}

void check_part(std::string_view field, std::string_view part) {
    if (is_blank(part)) refuse(field, part, "must not be empty or blank");
    if (part.find(':') != std::string_view::npos) refuse(field, part, "must not contain ':'");
}

std::string join(std::initializer_list<std::string_view> parts) {
    std::size_t size = 0;
    for (auto const part : parts) size += part.size();
    std::string out;
    out.reserve(size);
    for (auto const part : parts) out += part;
    return out;
}

/// As Java's `split(":")`: empty parts at the end are dropped.
std::vector<std::string_view> split(std::string_view text) {
    std::vector<std::string_view> parts;
    for (std::size_t begin = 0; begin <= text.size();) {
        auto const end = std::min(text.find(':', begin), text.size());
        parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    while (!parts.empty() && parts.back().empty()) parts.pop_back();
    return parts;
}

/// The parts behind the prefix of `services:S:<kind>[:…]`; empty for any other key.
std::vector<std::string_view> parts_of(RegistryKeys const& keys, std::string_view key,
                                       std::string_view kind) {
    if (!keys.is_registry_key(key)) return {};
    auto parts = split(key.substr(keys.prefix().size() + 1));
    if (parts.size() < 3 || parts[0] != "services" || parts[2] != kind) return {};
    return parts;
}

}  // namespace

RegistryKeys::RegistryKeys(std::string_view prefix) : prefix_(trim(prefix)) {
    if (prefix_.empty()) prefix_ = blank_prefix;
}

std::string RegistryKeys::services_index() const { return join({prefix_, ":services"}); }

std::string RegistryKeys::heartbeats(std::string_view service_name) const {
    check_part(service_field, service_name);
    return join({prefix_, ":services:", service_name, ":heartbeats"});
}

std::string RegistryKeys::instance(std::string_view service_name,
                                   std::string_view instance_id) const {
    check_part(service_field, service_name);
    check_part(id_field, instance_id);
    return join({prefix_, ":services:", service_name, ":instance:", instance_id});
}

std::string RegistryKeys::changes(std::string_view service_name) const {
    check_part(service_field, service_name);
    return join({prefix_, ":services:", service_name, ":changes"});
}

bool RegistryKeys::is_registry_key(std::string_view key) const noexcept {
    return key.size() > prefix_.size() && key.starts_with(prefix_) && key[prefix_.size()] == ':';
}

std::optional<std::string> RegistryKeys::service_of_instance_key(std::string_view key) const {
    auto const parts = parts_of(*this, key, "instance");
    if (parts.empty()) return std::nullopt;
    return std::string{parts[1]};
}

std::optional<std::string> RegistryKeys::instance_id_of_instance_key(std::string_view key) const {
    auto const parts = parts_of(*this, key, "instance");
    if (parts.size() < 4) return std::nullopt;
    return std::string{parts[3]};
}

std::optional<std::string> RegistryKeys::service_of_heartbeats_key(std::string_view key) const {
    auto const parts = parts_of(*this, key, "heartbeats");
    if (parts.empty()) return std::nullopt;
    return std::string{parts[1]};
}

std::array<std::string_view, 4> RegistryKeys::all_key_templates() noexcept {
    return {"%s:services", "%s:services:%s:heartbeats", "%s:services:%s:instance:%s",
            "%s:services:%s:changes"};
}

std::string RegistryKeys::sanitize_service_name(std::string_view name) { return sanitize(name); }
std::string RegistryKeys::sanitize_instance_id(std::string_view id) { return sanitize(id); }

std::string RegistryKeys::validate_and_sanitize_service_name(std::string_view name) {
    return validate_and_sanitize(service_field, name);
}

std::string RegistryKeys::validate_and_sanitize_instance_id(std::string_view id) {
    return validate_and_sanitize(id_field, id);
}

std::string RegistryKeys::validated_prefix(std::string_view prefix) {
    constexpr std::string_view field = "key prefix";
    if (is_blank(prefix)) refuse(field, prefix, "must not be empty or blank");
    if (prefix.size() > max_name_size) {
        refuse(field, prefix,
               "must not be longer than " + std::to_string(max_name_size) + " bytes");
    }
    if (!is_utf8(prefix)) refuse(field, prefix, "must be UTF-8");
    for (std::size_t at = 0; at < prefix.size();) {
        auto const c = next_code_point(prefix, at);
        if (is_white_space(c)) refuse(field, prefix, "must not contain white space");
        if (is_control(c)) refuse(field, prefix, "must not contain control characters");
    }
    return std::string{prefix};
}

bool RegistryKeys::is_service_name_safe(std::string_view name) noexcept { return is_safe(name); }
bool RegistryKeys::is_instance_id_safe(std::string_view id) noexcept { return is_safe(id); }

}  // namespace rollcall::streaming
