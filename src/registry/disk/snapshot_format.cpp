#include "registry/disk/snapshot_format.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <openssl/evp.h>
#include <utility>

#include "core/text.hpp"

namespace rollcall::disk {
namespace {

using std::chrono::milliseconds;
using SystemTime = std::chrono::system_clock::time_point;

constexpr std::string_view format_name = "rollcall snapshot ";
constexpr std::string_view first_line = "rollcall snapshot 1\n";
constexpr std::size_t digest_size = 32;

// From 1970 to 2219, so that differences of two still fit into nanoseconds.
constexpr std::int64_t latest_time = std::int64_t{250} * 365 * 86'400 * 1'000;
constexpr std::int64_t no_time = std::numeric_limits<std::int64_t>::min();

constexpr bool is_plausible(std::int64_t time) noexcept { return time >= 0 && time <= latest_time; }

constexpr std::uint8_t ephemeral_bit = 1;
constexpr std::uint8_t enabled_bit = 2;
constexpr std::uint8_t healthy_bit = 4;

class Writer {
public:
    template <class Integer>
    void number(Integer value) {
        auto const bits = static_cast<std::make_unsigned_t<Integer>>(value);
        for (std::size_t i = 0; i < sizeof bits; ++i) {
            bytes_.push_back(static_cast<char>(static_cast<std::uint64_t>(bits) >> (8 * i)));
        }
    }
    void text(std::string_view value) {
        number(static_cast<std::uint32_t>(value.size()));
        bytes_.append(value);
    }
    void time(SavedInstance::Time const& value) {
        if (!value) return number(no_time);
        auto const count = std::chrono::floor<milliseconds>(value->time_since_epoch()).count();
        number(is_plausible(count) ? std::int64_t{count} : no_time);
    }
    std::string const& bytes() const noexcept { return bytes_; }

private:
    std::string bytes_;
};

/// Gives zeros and empty texts behind the end, or behind what makes no sense.
class Reader {
public:
    explicit Reader(std::string_view bytes) : rest_(bytes) {}

    bool failed() const noexcept { return failed_; }
    bool at_end() const noexcept { return rest_.empty(); }
    void fail() noexcept { failed_ = true; }

    template <class Integer>
    Integer number() {
        auto const taken = take(sizeof(Integer));
        std::uint64_t bits = 0;
        for (std::size_t i = 0; i < taken.size(); ++i) {
            bits |= std::uint64_t{static_cast<unsigned char>(taken[i])} << (8 * i);
        }
        return static_cast<Integer>(bits);
    }
    std::string text() {
        auto const size = number<std::uint32_t>();
        return std::string{take(size)};
    }
    SavedInstance::Time time() {
        auto const count = number<std::int64_t>();
        if (count == no_time) return std::nullopt;
        if (!is_plausible(count)) fail();
        return failed_ ? SystemTime{} : SystemTime{milliseconds{count}};
    }

private:
    std::string_view take(std::size_t size) {
        if (size > rest_.size()) fail();
        if (failed_) return {};
        auto const taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }

    std::string_view rest_;
    bool failed_ = false;
};

void write(Writer& to, SavedInstance const& saved) {
    auto const& instance = *saved.instance;
    to.text(instance.instance_id);
    to.text(instance.service_name);
    to.text(instance.scheme);
    to.text(instance.host);
    to.number(std::int32_t{instance.port});
    to.number(std::int32_t{instance.weight});
    to.number(static_cast<std::uint8_t>((instance.ephemeral ? ephemeral_bit : 0) |
                                        (instance.enabled ? enabled_bit : 0) |
                                        (instance.healthy ? healthy_bit : 0)));
    to.number(static_cast<std::uint32_t>(instance.metadata.size()));
    for (auto const& [key, value] : instance.metadata) {
        to.text(key);
        to.text(value);
    }
    to.time(saved.registered_at);
    to.time(saved.last_heartbeat_at);
    to.time(saved.lease_until);
}

SavedInstance read_instance(Reader& from) {
    ServiceInstance instance;
    instance.instance_id = from.text();
    instance.service_name = from.text();
    instance.scheme = from.text();
    instance.host = from.text();
    instance.port = from.number<std::int32_t>();
    instance.weight = from.number<std::int32_t>();
    auto const flags = from.number<std::uint8_t>();
    if (flags > (ephemeral_bit | enabled_bit | healthy_bit)) from.fail();
    instance.ephemeral = (flags & ephemeral_bit) != 0;
    instance.enabled = (flags & enabled_bit) != 0;
    instance.healthy = (flags & healthy_bit) != 0;
    auto const labels = from.number<std::uint32_t>();
    for (std::uint32_t i = 0; i < labels && !from.failed(); ++i) {
        auto key = from.text();
        auto value = from.text();
        auto const& [at, is_new] = instance.metadata.emplace(std::move(key), std::move(value));
        if (!is_new) from.fail();
    }
    SavedInstance saved;
    saved.registered_at = from.time();
    saved.last_heartbeat_at = from.time();
    saved.lease_until = from.time();
    saved.instance = std::make_shared<ServiceInstance const>(std::move(instance));
    return saved;
}

Decoded refused(std::string why) { return {std::nullopt, std::move(why)}; }

/// None of a damaged one.
std::optional<std::string_view> body_of(std::string_view bytes) {
    if (bytes.size() < first_line.size() + digest_size) return std::nullopt;
    bytes.remove_prefix(first_line.size());
    auto const digest = bytes.substr(0, digest_size);
    bytes.remove_prefix(digest_size);
    if (sha256(bytes) != digest) return std::nullopt;
    return bytes;
}

}  // namespace

std::size_t const time_prefix_size = first_line.size() + digest_size + sizeof(std::int64_t);

std::string sha256(std::string_view bytes) {
    std::string digest(digest_size, '\0');
    auto* const out = reinterpret_cast<unsigned char*>(digest.data());
    // Nothing but a lack of memory makes it fail.
    if (::EVP_Digest(bytes.data(), bytes.size(), out, nullptr, ::EVP_sha256(), nullptr) != 1) {
        throw std::bad_alloc{};
    }
    return digest;
}

std::string encode(Origin const& origin, SavedService const& saved) {
    Writer body;
    body.time(saved.confirmed_at);
    body.text(origin.server);
    body.text(origin.layout);
    body.text(origin.name_space);
    body.text(saved.service);
    body.number(static_cast<std::uint32_t>(saved.instances.size()));
    for (auto const& instance : saved.instances) write(body, instance);
    return joined({first_line, sha256(body.bytes()), body.bytes()});
}

Decoded decode(std::string_view bytes, Origin const& origin, std::string_view service) {
    if (!bytes.starts_with(format_name)) return refused("is no snapshot");
    if (!bytes.starts_with(first_line)) return refused("is of another version");
    auto const body = body_of(bytes);
    if (!body) return refused("is damaged");
    Reader from{*body};
    SavedService saved;
    auto const confirmed_at = from.time();
    Origin theirs;
    theirs.server = from.text();
    theirs.layout = from.text();
    theirs.name_space = from.text();
    saved.service = from.text();
    if (from.failed() || !confirmed_at) return refused("makes no sense");
    if (theirs != origin) return refused("is of another server, layout or namespace");
    if (saved.service != service) return refused("is of another service");
    saved.confirmed_at = *confirmed_at;
    auto const count = from.number<std::uint32_t>();
    for (std::uint32_t i = 0; i < count && !from.failed(); ++i) {
        auto next = read_instance(from);
        if (!saved.instances.empty() &&
            saved.instances.back().instance->instance_id >= next.instance->instance_id) {
            from.fail();
        }
        saved.instances.push_back(std::move(next));
    }
    if (from.failed() || !from.at_end()) return refused("makes no sense");
    return {std::move(saved), {}};
}

std::optional<SystemTime> time_of(std::string_view bytes) {
    if (bytes.size() < time_prefix_size || !bytes.starts_with(first_line)) return std::nullopt;
    Reader from{bytes.substr(first_line.size() + digest_size)};
    auto const time = from.time();
    return from.failed() ? std::nullopt : time;
}

}  // namespace rollcall::disk
