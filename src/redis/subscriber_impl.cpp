#include "redis/subscriber_impl.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <exception>
#include <utility>

#include "redis/submit.hpp"

namespace rollcall::redis {
namespace {

using boost::system::error_code;

/// Redis itself gives up a subscriber that is 32 MiB behind.
constexpr std::size_t largest_push = std::size_t{64} << 20;
constexpr std::size_t keys_in_request = 100;

SessionOptions for_pushes(SessionOptions session) {
    session.client_name += "-push";
    return session;
}

Subscriptions::Limits limits_of(SubscriberOptions const& options) {
    Subscriptions::Limits limits;
    limits.topics = options.max_topics;
    limits.names_in_command = options.topics_in_command;
    return limits;
}

}  // namespace

Subscriber::Impl::Impl(asio::io_context& io, SessionOptions session, SubscriberOptions options,
                       Log log)
    : io_(io),
      options_(options),
      log_(std::move(log)),
      inbox_(options.max_payload),
      link_(io, for_pushes(std::move(session)), log_, LinkRole{" for pushes", largest_push}, this),
      subscriptions_(limits_of(options)),
      command_(boost::redis::request::config{true, false, true, false}),
      answer_(io),
      retry_(io),
      pause_(options.retry_pause) {
    ping_.push("PING");
    link_.connection().set_receive_response(inbox_);
}

void Subscriber::Impl::start() {
    link_.start();
    if (receiving_) return;
    asio::co_spawn(io_, receive_for_ever(), asio::detached);
    receiving_ = true;
}

void Subscriber::Impl::stop() {
    link_.stop();
    answer_.cancel();
    retry_.cancel();
}

void Subscriber::Impl::attach(PushHandler& handler) {
    if (std::find(handlers_.begin(), handlers_.end(), &handler) == handlers_.end()) {
        handlers_.push_back(&handler);
    }
}

void Subscriber::Impl::detach(PushHandler& handler) {
    subscriptions_.remove(handler);
    keys_.remove(handler);
    std::erase(handlers_, &handler);
    schedule();
}

Result<void> Subscriber::Impl::subscribe(PushHandler& handler, Topic const& topic) {
    // The inbox would leave the name out of the confirmation.
    if (topic.name.size() > options_.max_payload) {
        return Failure{errc::overloaded, "the name of a channel has more than " +
                                             std::to_string(options_.max_payload) + " bytes"};
    }
    if (!subscriptions_.find(topic.name, topic.is_pattern) && !subscriptions_.has_room()) {
        return Failure{errc::overloaded, "more than " + std::to_string(options_.max_topics) +
                                             " channels and patterns"};
    }
    attach(handler);
    subscriptions_.add(topic, handler);
    schedule();
    return {};
}

void Subscriber::Impl::unsubscribe(PushHandler& handler, Topic const& topic) {
    subscriptions_.remove(topic, handler);
    schedule();
}

Result<void> Subscriber::Impl::track(PushHandler& handler, std::string const& key) {
    if (!keys_.contains(key) && keys_.size() >= options_.max_keys) {
        return Failure{errc::overloaded,
                       "more than " + std::to_string(options_.max_keys) + " tracked keys"};
    }
    attach(handler);
    keys_.add(key, handler);
    schedule();
    return {};
}

Task<Result<void>> Subscriber::Impl::ping(Deadline deadline) {
    if (pings_ >= options_.max_pings) co_return Failure{errc::overloaded, "too many pings wait"};
    struct Count {
        explicit Count(std::size_t& pings) : number(pings) { ++number; }
        ~Count() { --number; }
        std::size_t& number;
    };
    Count const count{pings_};
    if (!link_.connected() && !link_.stopped()) {
        co_return Failure{errc::not_connected, link_.last_error()};
    }
    Response reply;
    Operation operation{ping_, reply, deadline, false};
    co_await submit(io_, link_.pipeline(), operation);
    if (operation.failure) co_return *std::move(operation.failure);
    deliver();  // What came before the answer may still lie there. A refused PING is an answer.
    co_return Result<void>{};
}

void Subscriber::Impl::on_up() { schedule(); }

void Subscriber::Impl::on_down() {
    inbox_.disturb();
    deliver();
    answer_.cancel();
    retry_.cancel();
    tracking_on_ = false;
    pause_ = options_.retry_pause;
    subscriptions_.reset();
    keys_.reset();
    auto const why = link_.last_error();
    link_.pipeline().refuse(Failure{errc::not_connected, why});
    contain(
        [&] { tell(std::vector{handlers_}, [&](PushHandler& handler) { handler.lost(why); }); });
}

Task<void> Subscriber::Impl::receive_for_ever() {
    while (!link_.stopped()) {
        auto const [error] = co_await link_.connection().async_receive2(asio::as_tuple(use_task));
        if (error) break;  // Only by `stop`.
        link_.note_sign_of_life();
        deliver();
    }
}

template <class Act>
void Subscriber::Impl::contain(Act act) {
    try {
        act();
    } catch (std::exception const& error) {
        log_.write(LogLevel::error, "push handler",
                   std::string{"handling what Redis pushed failed: "} + error.what());
        link_.abandon(std::string{"handling what it pushed failed: "} + error.what());
    }
}

template <class Tell>
void Subscriber::Impl::tell(std::vector<PushHandler*> const& chosen, Tell tell_one) {
    for (auto* const handler : chosen) {
        // One may detach another, or stop us.
        if (link_.stopped()) return;
        auto const still = std::find(handlers_.begin(), handlers_.end(), handler);
        if (still != handlers_.end()) tell_one(*handler);
    }
}

void Subscriber::Impl::deliver() {
    if (std::exchange(delivering_, true)) return;
    contain([this] {
        for (std::size_t i = 0; i < inbox_.size() && !link_.stopped(); ++i) {
            hand_on(Push::of(inbox_[i]));
        }
    });
    inbox_.clear();
    delivering_ = false;
}

void Subscriber::Impl::hand_on(Push const& push) {
    switch (push.kind) {
        case Push::Kind::message:
            return hand_on_message(push);
        case Push::Kind::confirmed:
            return on_confirmed(push);
        case Push::Kind::withdrawn:
            subscriptions_.withdraw(push.topic, push.pattern);
            return on_command_answered();
        case Push::Kind::invalidated:
            return on_invalidated(push.value);
        case Push::Kind::error:
            return on_error(push.value);
        case Push::Kind::unknown:
            return on_unknown({});
    }
}

void Subscriber::Impl::hand_on_message(Push const& push) {
    auto* const entry = subscriptions_.find(push.topic, push.pattern);
    if (!entry) return;  // Not wanted any more.
    if (!push.payload) {
        log_.write(
            LogLevel::warning, "unreadable message",
            "a message that is too large or no text on channel " + std::string{push.channel});
        entry->for_each_greeted([&](PushHandler& handler) {
            if (!link_.stopped()) handler.unreadable(entry->topic, push.channel);
        });
        return;
    }
    Message const message{entry->topic, push.channel, *push.payload};
    entry->for_each_greeted([&](PushHandler& handler) {
        if (!link_.stopped()) handler.message(message);
    });
}

void Subscriber::Impl::on_confirmed(Push const& push) {
    if (auto* const entry = subscriptions_.confirm(push.topic, push.pattern)) {
        entry->greet([&](PushHandler& handler) {
            if (!link_.stopped()) handler.confirmed(entry->topic);
        });
    }
    on_command_answered();
}

void Subscriber::Impl::on_invalidated(Value keys) {
    if (keys.is_aggregate()) {
        for (auto const key : keys) keys_.invalidated(key.text());
    } else {
        keys_.all_invalidated();
    }
    schedule();
}

void Subscriber::Impl::on_error(Value refusal) {
    if (!subscriptions_.awaits_answer()) return on_unknown(refusal.text());
    auto const why = failure_of(refusal, "subscribing");
    bool const transient = is_transient(why.code());
    if (auto* const entry = subscriptions_.refuse(transient)) {
        log_.write(LogLevel::warning, "subscribe",
                   why.detail() + "; without it changes are found late");
        std::vector<PushHandler*> concerned;
        for (auto const& slot : entry->slots) {
            if (slot.handler) concerned.push_back(slot.handler);
        }
        tell(concerned, [&](PushHandler& handler) { handler.refused(entry->topic, why); });
    }
    if (subscriptions_.has_refused()) schedule_retry(transient);
    on_command_answered();
}

void Subscriber::Impl::on_unknown(std::string_view text) {
    ++unknown_;
    log_.write(LogLevel::warning, "unknown push",
               "Redis pushed something unknown; so far " + std::to_string(unknown_) + " times" +
                   (text.empty() ? "" : ": " + std::string{text}));
}

void Subscriber::Impl::schedule() {
    if (std::exchange(scheduled_, true)) return;
    asio::post(io_, [this] {
        scheduled_ = false;
        proceed();
    });
}

void Subscriber::Impl::proceed() {
    if (!link_.connected() || link_.stopped()) return;
    contain([this] {
        for (auto const& topic : subscriptions_.take_late_comers()) {
            auto* const entry = subscriptions_.find(topic.name, topic.is_pattern);
            if (!entry || entry->state != Subscriptions::State::there) continue;
            entry->greet([&](PushHandler& handler) {
                if (!link_.stopped()) handler.confirmed(entry->topic);
            });
        }
    });
    if (!link_.connected() || link_.stopped()) return;
    if (keys_.any_due() && !tracking_keys_) {
        tracking_keys_ = true;
        asio::co_spawn(io_, track_due_keys(), asio::detached);
    }
    // Tracked first, confirmed then: or a change in between would go unnoticed.
    if (tracking_keys_ || command_pending_) return;
    if (auto const* const command = subscriptions_.next()) send_command(*command);
}

void Subscriber::Impl::send_command(Subscriptions::Command const& command) {
    command_.clear();
    command_.push_range(command.verb(), command.names.begin(), command.names.end());
    command_pending_ = true;
    link_.pipeline().hold();
    // It has no reply, so it ends when it is written; what it is answered by are pushes.
    using Event = boost::redis::any_adapter::parse_event;
    boost::redis::any_adapter none{
        [](Event, boost::redis::resp3::node_view const&, error_code&) {}};
    link_.connection().async_exec(command_, std::move(none), [this](error_code, std::size_t) {
        command_pending_ = false;
        schedule();
    });
    answer_.expires_after(options_.answer_limit);
    answer_.async_wait([this](error_code error) {
        if (error || !subscriptions_.awaits_answer()) return;
        link_.abandon("no answer to SUBSCRIBE");
    });
}

void Subscriber::Impl::on_command_answered() {
    if (subscriptions_.awaits_answer() || !link_.connected()) return;
    answer_.cancel();
    link_.pipeline().release();
    schedule();
}

Task<void> Subscriber::Impl::track_due_keys() {
    Request request;
    Response replies;
    while (link_.connected() && keys_.any_due()) {
        auto const due = keys_.due(keys_in_request);
        bool const first = !tracking_on_;
        request.clear();
        if (first) request.push("CLIENT", {"TRACKING", "ON"});
        for (auto const& key : due) request.push("EXISTS", {key});
        Operation operation{request, replies, after(options_.answer_limit), false};
        co_await submit(io_, link_.pipeline(), operation);
        if (operation.failure) {
            if (!link_.stopped()) link_.abandon("tracking keys: " + operation.failure->detail());
            break;
        }
        if (first) tracking_on_ = note_tracking(replies[0]);
        for (std::size_t i = 0; i < due.size(); ++i) {
            bool const read = tracking_on_ && note_tracking(replies[i + (first ? 1 : 0)]);
            if (!read) {
                keys_.refused(due[i]);
                continue;
            }
            auto const news = keys_.tracked(due[i]);
            contain([&] {
                if (news.first) {
                    tell(news.handlers, [&](PushHandler& handler) { handler.tracked(due[i]); });
                }
                tell(news.to_tell_change,
                     [&](PushHandler& handler) { handler.invalidated(due[i]); });
            });
        }
    }
    tracking_keys_ = false;
    schedule();
}

bool Subscriber::Impl::note_tracking(Value reply) {
    if (!reply.is_error()) return true;
    auto const why = failure_of(reply, "tracking a key");
    if (!std::exchange(tracking_told_, true)) {
        log_.write(LogLevel::warning, "tracking",
                   why.detail() + "; that Redis lost its data will be found late");
    }
    schedule_retry(is_transient(why.code()));
    return false;
}

void Subscriber::Impl::schedule_retry(bool transient) {
    if (std::exchange(retry_scheduled_, true)) return;
    retry_.expires_after(transient ? options_.retry_pause : pause_);
    if (!transient) pause_ = std::min(2 * pause_, options_.longest_retry_pause);
    retry_.async_wait([this](error_code error) {
        retry_scheduled_ = false;
        if (error) return;
        subscriptions_.retry();
        keys_.retry();
        schedule();
    });
}

}  // namespace rollcall::redis
