#include "model/fleet/redis.hpp"

#include <utility>

namespace rollcall::test::fleet {

Redis::Redis(Timeline const& timeline, Layout layout)
    : timeline_(timeline), layout_(layout), contents_(make_contents(layout)) {}

Contents::Clock Redis::clock() const {
    return std::chrono::floor<milliseconds>(timeline_.now().time_since_epoch()).count();
}

Drain Redis::drain(std::size_t member) const {
    auto const& mark = marks_.at(member);
    if (mark.number == 0) return {};
    return {mark.until > clock() ? Drain::State::wanted : Drain::State::over, mark.number};
}

void Redis::tell() {
    for (auto& [service, message] : contents_->said()) {
        Push const push{Push::Kind::message, service, message.id, message.news};
        for (auto* const listener : listeners_) {
            if (listener->listens_to(service)) listener->push(push);
        }
    }
}

void Redis::garbage(std::string const& service) {
    Push const push{Push::Kind::garbage, service, {}, {}};
    for (auto* const listener : listeners_) {
        if (listener->listens_to(service)) listener->push(push);
    }
}

/// Once, until the key is looked at again.
void Redis::invalidate() {
    for (auto* const listener : listeners_) {
        if (!listener->tracks()) continue;
        listener->stop_tracking();
        listener->push({Push::Kind::invalidation, {}, {}, {}});
    }
}

void Redis::set_epoch_if_none() {
    if (lifetime_.epoch != 0) return;
    lifetime_.epoch = ++epochs_;
    invalidate();
}

void Redis::flush() {
    contents_ = make_contents(layout_);
    marks_.assign(marks_.size(), {});
    lifetime_.epoch = 0;
    invalidate();
}

void Redis::start_again() {
    ++lifetime_.run;
    up_ = true;
}

void Redis::start_empty() {
    flush();
    ++lifetime_.history;
    start_again();
}

void Redis::fail_over(Copy const& copy) {
    contents_ = copy.contents->copy();
    marks_ = copy.marks;
    lifetime_.epoch = copy.epoch;
    ++lifetime_.history;
    start_again();
}

}  // namespace rollcall::test::fleet
