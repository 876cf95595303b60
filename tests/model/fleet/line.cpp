#include "model/fleet/line.hpp"

#include <algorithm>
#include <utility>

namespace rollcall::test::fleet {
namespace {

// Of TCP, after a path works again.
constexpr milliseconds retransmission{120};
constexpr milliseconds login_limit{1'000};
// How long after its last sign of life a connection is given up.
constexpr milliseconds least_patience{500};
constexpr milliseconds most_patience{900};
constexpr milliseconds shortest_pause{20};
constexpr unsigned longest_pause = 1'000;

}  // namespace

Line::Line(Timeline& timeline, Redis& redis, Path const& path, Owner& owner, Unanswered unanswered,
           std::uint64_t seed)
    : timeline_(timeline),
      redis_(redis),
      path_(path),
      owner_(owner),
      unanswered_(unanswered),
      random_(static_cast<std::uint32_t>(seed % 2'147'483'646U + 1)) {
    random_.discard(4);
}

Line::~Line() {
    if (up_) redis_.detach(*this);
}

microseconds Line::draw(microseconds from, microseconds to) {
    auto const range = static_cast<std::uint64_t>((to - from).count() + 1);
    return from + microseconds{random_() % range};
}

microseconds Line::latency() {
    auto const longest = random_() % 16 == 0 ? milliseconds{20} : milliseconds{1};
    auto const usual = draw(microseconds{50}, longest);
    return timeline_.now() < path_.slow_until ? usual + path_.extra : usual;
}

Time Line::there() {
    last_there_ = std::max(last_there_, timeline_.now() + latency());
    return last_there_;
}
Time Line::back() {
    last_back_ = std::max(last_back_, timeline_.now() + latency());
    return last_back_;
}

void Line::end() {
    if (up_) take_down();
    ended_ = true;
    asked_.clear();
}

void Line::attempt() {
    if (ended_) return;
    connecting_ = true;
    auto const now = timeline_.now();
    if (path_.blocked(now)) return fail_attempt(login_limit);
    if (!redis_.up()) return fail_attempt(milliseconds{1});
    timeline_.after(4 * latency(), [this] { connect(); });
}

void Line::fail_attempt(microseconds after) {
    ++failures_;
    auto const longest = std::min(longest_pause, 50U << std::min(failures_, 5U));
    timeline_.after(after + draw(shortest_pause, milliseconds{longest}), [this] { attempt(); });
}

void Line::connect() {
    if (ended_) return;
    if (path_.blocked(timeline_.now()) || !redis_.up()) return fail_attempt(login_limit);
    connecting_ = false;
    failures_ = 0;
    up_ = true;
    ++connection_;
    services_.clear();
    tracks_ = false;
    last_there_ = last_back_ = timeline_.now();
    redis_.attach(*this);
    for (auto const& request : asked_) send(request);
    owner_.on_up(*this);
}

void Line::take_down() {
    up_ = false;
    // What is on its way to the server may get there, up to some request.
    auto const now = timeline_.now();
    auto const rest = std::chrono::ceil<microseconds>(std::max(last_there_, now) - now);
    drained_until_ = now + draw(microseconds{0}, 2 * rest) - microseconds{1};
    redis_.detach(*this);
}

void Line::cut() {
    if (!up_ || ended_) return;
    take_down();
    owner_.on_down(*this);
    if (unanswered_ == Unanswered::failed) fail_asked();
    fail_attempt(milliseconds{0});
}

void Line::fail_asked() {
    for (auto const& request : std::exchange(asked_, {})) {
        request->done = true;
        request->then(false);
    }
}

void Line::on_block() {
    if (!up_) return;
    last_there_ = std::max(last_there_, path_.blocked_until + retransmission);
    last_back_ = std::max(last_back_, path_.blocked_until + retransmission);
    timeline_.after(draw(least_patience, most_patience), [this, of = connection_] {
        bool const silent = timeline_.now() < path_.blocked_until + retransmission;
        if (up_ && of == connection_ && silent) {
            cut();
            drained_until_ = Time::min();
        }
    });
}

void Line::ask(CarryOut carry_out, Then then) {
    auto const request = std::make_shared<Request>();
    request->carry_out = std::move(carry_out);
    request->then = std::move(then);
    request->deadline = timeline_.now() + time_limit;
    asked_.push_back(request);
    if (up_) send(request);
    if (!std::exchange(watching_, true)) watch_deadlines();
}

void Line::watch_deadlines() {
    timeline_.at(asked_.front()->deadline, [this] {
        if (ended_) return;
        std::vector<RequestPtr> late;
        while (!asked_.empty() && asked_.front()->deadline <= timeline_.now()) {
            late.push_back(asked_.front());
            asked_.pop_front();
        }
        watching_ = !asked_.empty();
        if (watching_) watch_deadlines();
        for (auto const& request : late) {
            request->done = true;
            request->then(false);
        }
    });
}

void Line::send(RequestPtr const& request) {
    timeline_.at(there(), [this, request, of = connection_] { arrive(request, of); });
}

void Line::arrive(RequestPtr const& request, std::uint64_t connection) {
    auto const now = timeline_.now();
    if (connection != connection_ || !up_) {
        if (now <= drained_until_ && redis_.up()) request->carry_out();
        return;
    }
    if (path_.blocked(now)) {
        timeline_.at(path_.blocked_until + retransmission,
                     [this, request, connection] { arrive(request, connection); });
        return;
    }
    request->carry_out();
    timeline_.at(back(), [this, request, connection] { land(request, connection); });
}

void Line::land(RequestPtr const& request, std::uint64_t connection) {
    if (connection != connection_ || !up_ || request->done) return;
    if (path_.blocked(timeline_.now())) {
        timeline_.at(path_.blocked_until + retransmission,
                     [this, request, connection] { land(request, connection); });
        return;
    }
    request->done = true;
    std::erase(asked_, request);
    request->then(true);
}

bool Line::listens_to(std::string const& service) const {
    return std::find(services_.begin(), services_.end(), service) != services_.end();
}

void Line::push(Push const& push) {
    timeline_.at(back(), [this, push, of = connection_] { arrive(push, of); });
}

void Line::arrive(Push const& push, std::uint64_t connection) {
    if (connection != connection_ || !up_) return;
    if (path_.blocked(timeline_.now())) {
        timeline_.at(path_.blocked_until + retransmission,
                     [this, push, connection] { arrive(push, connection); });
        return;
    }
    owner_.on_push(*this, push);
}

}  // namespace rollcall::test::fleet
