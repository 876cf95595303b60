#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#pragma GCC visibility push(default)

namespace rollcall::streaming {

/// Builds and takes apart the keys of one prefix. Source: seed 000, "Redis Key Structure".
///
/// Thread safety: immutable after construction; all members from any thread.
class RegistryKeys {
public:
    /// Trims `prefix` (characters up to U+0020 on both sides); a blank one becomes `registry`.
    explicit RegistryKeys(std::string_view prefix = {});

    std::string const& prefix() const noexcept { return prefix_; }

    std::string services_index() const;  ///< Set of service names: `P:services`.
    /// Sorted set, member = instance id, score = last heartbeat in epoch milliseconds:
    /// `P:services:S:heartbeats`. Errors (this and the next two): `std::invalid_argument` for an
    /// empty or blank part or one that contains `:`.
    std::string heartbeats(std::string_view service_name) const;
    std::string instance(std::string_view service_name,
                         std::string_view instance_id) const;  ///< Hash.
    std::string changes(std::string_view service_name) const;  ///< Pub/sub channel.

    bool is_registry_key(std::string_view key) const noexcept;  ///< Starts with `P:`.
    /// Parts of a key that begins with this prefix, whatever the prefix holds; none for other keys.
    /// What follows a further `:` behind an instance id is not part of it.
    std::optional<std::string> service_of_instance_key(std::string_view key) const;
    std::optional<std::string> instance_id_of_instance_key(std::string_view key) const;
    std::optional<std::string> service_of_heartbeats_key(std::string_view key) const;
    /// The service of a name that `changes` can give; none for others.
    std::optional<std::string> service_of_changes_channel(std::string_view channel) const;

    /// The four templates of the design, with `%s` for each variable part.
    static std::array<std::string_view, 4> all_key_templates() noexcept;

    /// `:` becomes `_`; space, tab, line feed and carriage return become `-`; nothing else changes.
    /// Not injective: `a:b` and `a_b` meet, as in the design.
    static std::string sanitize_service_name(std::string_view name);
    static std::string sanitize_instance_id(std::string_view id);

    /// Sanitised; `std::invalid_argument` for an empty or blank name, one that holds a NUL or is
    /// not UTF-8, or one above `max_name_size` bytes.
    static std::string validate_and_sanitize_service_name(std::string_view name);
    static std::string validate_and_sanitize_instance_id(std::string_view id);

    /// `prefix`, fit for keys that people and programs share. Errors: `std::invalid_argument` for a
    /// blank one, one with white space or control characters, one that is not UTF-8, or one above
    /// `max_name_size` bytes.
    static std::string validated_prefix(std::string_view prefix);

    /// None of the five replaced characters occurs.
    static bool is_service_name_safe(std::string_view name) noexcept;
    static bool is_instance_id_safe(std::string_view id) noexcept;

    static constexpr std::size_t max_name_size = 512;

private:
    std::string prefix_;
};

}  // namespace rollcall::streaming

#pragma GCC visibility pop
