#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/golden.hpp"
#include "support/redis_server.hpp"

/// Recorded states in a real Redis: put there, read back, compared.
namespace rollcall::test::golden {

inline constexpr std::string_view recorded_prefix = "redis_streaming_registry";
inline constexpr std::string_view recorded_namespace = "cosky-{default}";

/// Stands in an expected value for a time of the step that is played.
inline constexpr std::string_view now_mark = "{{now}}";

/// `{{sec}}` or `{{sec+N}}`: epoch seconds of the step that is played, plus N. Gives N.
std::optional<long long> offset_of_second(std::string_view mark);

/// Stands in an expected value for the epoch second in which a lease ends, as far as whole seconds
/// can tell: TTL is rounded and TIME cut off.
std::string lease_mark(long long epoch_ms);
std::optional<long long> leased_until(std::string_view mark);
bool is_end_of_lease(std::string_view seconds, long long epoch_ms);

/// When a key goes away by itself.
struct Expiry {
    enum class Kind {
        none,
        at,           ///< `value`: epoch milliseconds.
        set_in_step,  ///< `value`: seconds, counted from a moment of the step.
    } kind = Kind::none;
    long long value = 0;

    static Expiry at(long long epoch_ms) { return {Kind::at, epoch_ms}; }
    static Expiry set_in_step(long long seconds) { return {Kind::set_in_step, seconds}; }
    friend bool operator==(Expiry const&, Expiry const&) = default;
};

/// A key with values in place of `{{ms}}` and `{{sec}}`: times, or marks where only the step is
/// known.
struct LiveKey : Content {
    Expiry expiry;

    friend bool operator==(LiveKey const&, LiveKey const&) = default;
};
using LiveKeys = std::map<std::string, LiveKey>;

/// How old the heartbeats of a recorded state are when it is loaded.
struct Ages {
    long long newest = 1'000;             ///< Milliseconds, of the last member of a sorted set.
    long long step = 1'000;               ///< Between neighbours.
    std::map<std::string, long long> of;  ///< By instance id, instead.
};

/// The recorded state with times chosen by `ages`, as seen at `now`; the times that one instance
/// holds all differ. Errors: `std::invalid_argument` when the ages contradict the recorded order.
LiveKeys place(RecordedKeys const& keys, Ages const& ages, long long now);

/// What the recorded commands of step `index` make of any state, not only of the recorded one:
/// fields and members that the step did not touch keep what they have.
LiveKeys advance(LiveKeys keys, Recording const& recording, std::size_t index);

/// Makes times of a step that begins at `now` of the marks that `advance` has left.
void settle(LiveKeys& keys, long long now);

struct Actual {
    LiveKeys keys;
    std::vector<Message> messages;
};

struct Expectation {
    LiveKeys keys;
    std::vector<Message> messages;  ///< With `{{ms}}` for a time of the step.
};

/// Redis' clock before and after a step, in epoch milliseconds.
struct Window {
    long long from = 0;
    long long until = 0;
};

/// Every way in which `actual` is not what was expected, one line each. Empty: none.
///
/// Free are only: the order of members of JSON objects in `metadata` and `metrics`, numbers in
/// `metrics` by value, and the order of sorted-set members with equal scores.
std::vector<std::string> compare(Expectation const& expected, Actual const& actual,
                                 Window const& window);

/// Whether a result is the expected one, where `{{sec+N}}` stands for the end of some lease in
/// `state`, whatever N: that says how long the key had lived in the recording.
bool same_result(std::string_view expected, std::string_view actual, LiveKeys const& state);

long long redis_time(RedisClient& redis);

/// Replaces everything in Redis by `keys`, which must not hold marks.
void load(RedisClient& redis, LiveKeys const& keys);

/// Whether a key is one of those that the recorded programs do not have: `epoch`, `sweep` and the
/// marks `drained:…` behind `<prefix>:rollcall:`.
bool is_ours(std::string_view key);

/// All keys but our own.
LiveKeys read(RedisClient& redis);

/// The id in `P:services:S:instance:I`, else empty.
std::string instance_of(std::string_view key);

/// `P:services:S:heartbeats` for `P:services:S:instance:I`.
std::string heartbeats_beside(std::string_view instance_key);

}  // namespace rollcall::test::golden
