#include "rollcall/streaming/registry_keys.hpp"

#include <algorithm>
#include <vector>

#include "core/checks.hpp"
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
    check_not_blank(field, name);
    check_size(field, name, RegistryKeys::max_name_size);
    if (name.find('\0') != std::string_view::npos) refuse(field, name, "must not contain NUL");
    check_utf8(field, name);
    return sanitize(name);
}

bool is_safe(std::string_view name) noexcept {
    return name.find_first_of(replaced) == std::string_view::npos;
}

void check_part(std::string_view field, std::string_view part) {
    check_not_blank(field, part);
    check_without(field, part, ":");
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

std::string RegistryKeys::services_index() const { return joined({prefix_, ":services"}); }

std::string RegistryKeys::heartbeats(std::string_view service_name) const {
    check_part(service_field, service_name);
    return joined({prefix_, ":services:", service_name, ":heartbeats"});
}

std::string RegistryKeys::instance(std::string_view service_name,
                                   std::string_view instance_id) const {
    check_part(service_field, service_name);
    check_part(id_field, instance_id);
    return joined({prefix_, ":services:", service_name, ":instance:", instance_id});
}

std::string RegistryKeys::changes(std::string_view service_name) const {
    check_part(service_field, service_name);
    return joined({prefix_, ":services:", service_name, ":changes"});
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

std::optional<std::string> RegistryKeys::service_of_changes_channel(
    std::string_view channel) const {
    auto const parts = parts_of(*this, channel, "changes");
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
    check_not_blank(field, prefix);
    check_size(field, prefix, max_name_size);
    check_utf8(field, prefix);
    check_one_word(field, prefix);
    return std::string{prefix};
}

bool RegistryKeys::is_service_name_safe(std::string_view name) noexcept { return is_safe(name); }
bool RegistryKeys::is_instance_id_safe(std::string_view id) noexcept { return is_safe(id); }

}  // namespace rollcall::streaming
