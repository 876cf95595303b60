#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "model/feed/scene.hpp"

namespace rollcall::test::feed {

/// Tells states apart. Times are counted from now, those past are all the same: a state that comes
/// again later is the same state.
class Fingerprint {
public:
    explicit Fingerprint(Time now) : now_(now) {}

    void add(std::uint64_t value) {
        hash_ = (hash_ ^ value) * 0x9E37'79B9'7F4A'7C15U;
        hash_ ^= hash_ >> 29U;
    }
    void add(std::string_view text) {
        add(text.size());
        for (char const c : text) add(static_cast<std::uint64_t>(c));
    }
    void add(Time time) {
        if (time == Time::max()) return add(std::uint64_t{1});
        if (time <= now_) return add(std::uint64_t{2});
        add(static_cast<std::uint64_t>((time - now_).count()));
    }
    /// Where it matters how long ago that was.
    void add_past(Time time) { add(static_cast<std::uint64_t>((now_ - time).count())); }
    template <typename Value>
    void add(std::optional<Value> const& value) {
        add(std::uint64_t{value.has_value()});
        if (value) add(*value);
    }

    std::uint64_t value() const { return hash_; }

private:
    Time now_;
    std::uint64_t hash_ = 0x1234'5678'9ABC'DEFFU;
};

}  // namespace rollcall::test::feed
