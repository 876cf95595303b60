#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "redis/response.hpp"

namespace rollcall::redis {

/// What Redis pushed, taken apart; views into what it was read into. Untrusted.
struct Push {
    enum class Kind {
        message,
        confirmed,    ///< SUBSCRIBE or PSUBSCRIBE of `topic`.
        withdrawn,    ///< UNSUBSCRIBE or PUNSUBSCRIBE of `topic`.
        invalidated,  ///< `value`: keys, or null for all.
        error,        ///< `value`: the refusal of what has no reply of its own.
        unknown,
    };

    Kind kind = Kind::unknown;
    bool pattern = false;  ///< `topic` is one.
    std::string_view topic = {};
    std::string_view channel = {};                 ///< Of messages.
    std::optional<std::string_view> payload = {};  ///< None when it is no text, or was too large.
    Value value = {};

    /// Total: anything at all can be asked.
    static Push of(Value value) noexcept;
};

/// Takes in what Redis pushes, as it comes, and keeps it until it was handed on. Strings above a
/// limit are left out, and are null.
class PushInbox {
public:
    explicit PushInbox(std::size_t longest_string) : longest_(longest_string) {}

    void begin() { pushes_.begin_reply(); }
    void add(boost::redis::resp3::node_view const& node);
    void end();

    std::size_t size() const noexcept { return pushes_.size(); }
    Value operator[](std::size_t index) const noexcept { return pushes_[index]; }
    void clear() noexcept { pushes_.clear(); }

    /// Counts what makes doubtful that a reader knows all: see `Subscriber::disturbances`.
    std::uint64_t disturbances() const noexcept { return disturbances_; }
    void disturb() noexcept { ++disturbances_; }

private:
    std::size_t longest_;
    Response pushes_;
    std::uint64_t disturbances_ = 0;
};

/// How Boost.Redis puts in what it reads; found by its name.
class PushAdapter {
public:
    explicit PushAdapter(PushInbox& inbox) : inbox_(&inbox) {}

    void on_init() { inbox_->begin(); }
    void on_node(boost::redis::resp3::node_view const& node, boost::system::error_code&) {
        inbox_->add(node);
    }
    void on_done() { inbox_->end(); }

private:
    PushInbox* inbox_;
};

inline PushAdapter boost_redis_adapt(PushInbox& inbox) { return PushAdapter{inbox}; }

}  // namespace rollcall::redis
