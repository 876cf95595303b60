#include "redis/push.hpp"

namespace rollcall::redis {
namespace {

struct Shape {
    std::string_view word;
    Push::Kind kind;
    bool pattern;
};

constexpr Shape shapes[] = {
    {"message", Push::Kind::message, false},        {"pmessage", Push::Kind::message, true},
    {"invalidate", Push::Kind::invalidated, false}, {"subscribe", Push::Kind::confirmed, false},
    {"psubscribe", Push::Kind::confirmed, true},    {"unsubscribe", Push::Kind::withdrawn, false},
    {"punsubscribe", Push::Kind::withdrawn, true},
};

Push message_of(Value value, bool pattern) noexcept {
    Push push{Push::Kind::message, pattern};
    push.topic = value[1].text();
    auto const channel = value[pattern ? 2 : 1];
    auto const payload = value[pattern ? 3 : 2];
    push.channel = channel.text();
    if (!payload.is_null() && !payload.is_aggregate() && !channel.is_null()) {
        push.payload = payload.text();
    }
    return push;
}

}  // namespace

Push Push::of(Value value) noexcept {
    if (value.is_error()) {
        Push push{Kind::error};
        push.value = value;
        return push;
    }
    auto const word = value[0].text();
    for (auto const& shape : shapes) {
        if (word != shape.word) continue;
        if (shape.kind == Kind::message) return message_of(value, shape.pattern);
        Push push{shape.kind, shape.pattern};
        if (shape.kind == Kind::invalidated) {
            push.value = value[1];
        } else {
            push.topic = value[1].text();
        }
        return push;
    }
    return {};
}

void PushInbox::add(boost::redis::resp3::node_view const& node) {
    if (node.value.size() <= longest_) return pushes_.add(node);
    auto left_out = node;
    left_out.data_type = boost::redis::resp3::type::null;
    left_out.value = {};
    pushes_.add(left_out);
}

void PushInbox::end() {
    pushes_.end_reply();
    auto const kind = Push::of(pushes_[pushes_.size() - 1]).kind;
    if (kind == Push::Kind::confirmed || kind == Push::Kind::invalidated) disturb();
}

}  // namespace rollcall::redis
