#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <fmt/format.h>
#include <set>

#include "cli/commands/commands.hpp"
#include "cli/context.hpp"
#include "cli/parse.hpp"
#include "cli/print/json_output.hpp"
#include "cli/signal_source.hpp"

#include "rollcall/registry.hpp"

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
        case Liveness::refused:
            return "failed";
    }
    return "failed";
}

std::string_view word(AnnouncementEvent event) {
    switch (event) {
        case AnnouncementEvent::registered:
            return "alive";
        case AnnouncementEvent::persistent:
            return "persistent: it has no lease";
        case AnnouncementEvent::removed_by_other:
            return "gone: somebody deregistered it";
        case AnnouncementEvent::refused:
            return "refused, and its lease runs out";
        default:
            return "gone";
    }
}

/// Renewals of instances of which only the names are known; tells what changes. Of failures, the
/// library tells.
class Beats {
public:
    Beats(Registry const& registry, Ids const& ids, Logger& logger) {
        std::set<std::string> names;
        for (auto const& one : ids) {
            if (!names.insert(one.id).second) continue;
            renewals_.push_back(registry.renew(
                one.service, one.id,
                [one, &logger](AnnouncementEvent event) { tell(one, event, logger); }));
        }
    }

private:
    static void tell(InstanceId const& one, AnnouncementEvent event, Logger& logger) {
        bool const well =
            event == AnnouncementEvent::registered || event == AnnouncementEvent::persistent;
        logger.write(well ? LogLevel::info : LogLevel::warning,
                     fmt::format("{} of {} is {}", one.id, one.service, word(event)));
    }

    std::vector<Renewal> renewals_;
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
        for (auto const failure : {Liveness::failed, Liveness::refused}) {
            if (std::ranges::find(result, failure) != result.end()) return Exit::failed;
        }
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
        signals.start([&loop](signalfd_siginfo const&) { loop.stop(); });
        Beats const beats{context.registry(), validated(context), context.logger()};
        loop.run();
        // Who asks twice does not want to wait for an end in order.
        signals.give_back();
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
