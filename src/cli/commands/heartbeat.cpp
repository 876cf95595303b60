#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>

#include "cli/async_calls.hpp"
#include "cli/commands/commands.hpp"
#include "cli/context.hpp"
#include "cli/failure_text.hpp"
#include "cli/parse.hpp"
#include "cli/print/json_output.hpp"
#include "cli/signal_source.hpp"

namespace rollcall::cli {

namespace {

using Ids = std::vector<InstanceId>;

std::string_view word(Liveness liveness) {
    switch (liveness) {
        case Liveness::alive:
        case Liveness::persistent:
            return "alive";
        case Liveness::gone:
            return "gone";
        case Liveness::failed:
            return "failed";
    }
    return "failed";
}

/// A lease goes on while heartbeats fail: the next one does not wait for its turn.
constexpr std::chrono::seconds longest_pause_after_failure{1};

/// Sends heartbeats until a signal ends it; tells only what changes.
///
/// Not on an `Announcement`: that registers again what is gone, and of these instances only their
/// names are known.
class HeartbeatLoop {
public:
    HeartbeatLoop(boost::asio::io_context& loop, Backend const& backend, Ids ids,
                  std::chrono::milliseconds every, Logger& logger)
        : ids_(std::move(ids)),
          every_(every),
          logger_(logger),
          timer_(loop),
          last_(ids_.size()),
          calls_(backend, loop) {}

    void beat() {
        next_ = std::chrono::steady_clock::now() + every_;
        calls_.heartbeat(ids_, [this](auto const& result) { on_answer(result); });
    }

private:
    void on_answer(Result<std::vector<Liveness>> const& result) {
        if (!result) {
            if (!failing_) {
                logger_.warning("cannot send heartbeats, will keep trying: " +
                                failure_text(result.error()));
            }
            next_ = std::min(next_, std::chrono::steady_clock::now() + longest_pause_after_failure);
        } else {
            if (failing_) logger_.info("sending heartbeats again");
            for (std::size_t i = 0; i < ids_.size(); ++i) tell(i, (*result)[i]);
        }
        failing_ = !result;
        timer_.expires_at(next_);
        timer_.async_wait([this](boost::system::error_code error) {
            if (!error) beat();
        });
    }

    void tell(std::size_t i, Liveness now) {
        if (last_[i] == now) return;
        last_[i] = now;
        bool const well = now == Liveness::alive || now == Liveness::persistent;
        logger_.write(
            well ? LogLevel::info : LogLevel::warning,
            fmt::format("{} of {} is {}", ids_[i].id, ids_[i].service,
                        now == Liveness::persistent ? "persistent: it has no lease" : word(now)));
    }

    Ids ids_;
    std::chrono::milliseconds every_;
    Logger& logger_;
    boost::asio::steady_timer timer_;
    std::chrono::steady_clock::time_point next_ = {};
    std::vector<std::optional<Liveness>> last_;
    bool failing_ = false;
    AsyncCalls calls_;
};

class Heartbeat final : public Command {
public:
    void declare(OptionSet& options) override {
        options.required("--service", service_, "NAME", "service of the instances");
        options.required_many("--id", ids_, "ID", "an instance");
        options.value("--every", every_, "TIME", "repeat until ended by a signal");
    }

    Exit run(Context& context) override { return every_.empty() ? once(context) : repeat(context); }

private:
    Ids validated(Context& context) const {
        Ids ids;
        for (auto const& id : ids_) {
            ids.push_back(context.backend().port()->validated(InstanceId{service_, id}));
        }
        return ids;
    }

    Exit once(Context& context) const {
        auto const ids = validated(context);
        auto const result = context.backend().heartbeat(ids);
        boost::json::array array;
        Table table{{"SERVICE", "ID", "RESULT"}};
        for (std::size_t i = 0; i < ids.size(); ++i) {
            array.push_back(boost::json::object{{"service", json_text(ids[i].service)},
                                                {"id", json_text(ids[i].id)},
                                                {"result", word(result[i])}});
            table.add({ids[i].service, ids[i].id, std::string{word(result[i])}});
        }
        if (context.wants_json()) {
            context.print(array);
        } else {
            context.print(table);
        }
        if (std::ranges::find(result, Liveness::failed) != result.end()) return Exit::failed;
        if (std::ranges::find(result, Liveness::gone) != result.end()) return Exit::not_found;
        return Exit::done;
    }

    Exit repeat(Context& context) const {
        auto const every = period(context.settings().lease);
        context.use_heartbeat(every);
        // Before anything can be heard of this process, so that a signal ends it in order from
        // then.
        boost::asio::io_context loop{1};
        SignalSource signals{loop, ending_signals()};
        context.logger().set_style(Logger::Style::running);
        HeartbeatLoop beats{loop, context.backend(), validated(context), every, context.logger()};
        signals.start([&loop](signalfd_siginfo const&) { loop.stop(); });
        beats.beat();
        loop.run();
        return Exit::done;
    }

    /// One that leaves the instances without a lease from time to time would keep nothing alive.
    std::chrono::milliseconds period(std::chrono::milliseconds lease) const {
        auto const every = parse_duration("--every", every_,
                                          {std::chrono::milliseconds{100}, std::chrono::hours{24}});
        if (every < lease) return every;
        throw UsageError{
            "--every", every_,
            fmt::format("must be shorter than the lease of {} (--lease)", format_duration(lease))};
    }

    std::string service_;
    std::vector<std::string> ids_;
    std::string every_;
};

}  // namespace

std::unique_ptr<Command> make_heartbeat() { return std::make_unique<Heartbeat>(); }

}  // namespace rollcall::cli
