#include <boost/json/object.hpp>
#include <fmt/format.h>

#include "cli/commands/commands.hpp"
#include "cli/commands/instance_option.hpp"
#include "cli/context.hpp"
#include "cli/parse.hpp"
#include "cli/print/json_output.hpp"
#include "core/text.hpp"
#include "registry/announce/drain_mark.hpp"

namespace rollcall::cli {

namespace {

using std::chrono::milliseconds;

class Drain final : public Command {
public:
    void declare(OptionSet& options) override {
        instance_.declare(options);
        options.value("--for", time_, "TIME", "how long it gets no new traffic: 1s to 30d");
        options.flag("--end", end_, "end what an earlier --for began");
    }

    Exit run(Context& context) override {
        if (time_.empty() != end_) throw UsageError{"drain takes --for TIME or --end"};
        if (end_) return end(context);
        auto const time = parse_duration("--for", time_, {std::chrono::seconds{1}});
        tell(context, time, begin(context.backend(), time));
        return Exit::done;
    }

private:
    Written begin(Backend const& backend, milliseconds time) const {
        auto const& id = instance_.id();
        bool const was_drained = is_drained(backend);
        auto const begun = std::chrono::steady_clock::now();
        // First of all, so that its owner does not undo the rest.
        backend.mark_drained(id, time);
        auto const written = stays_listed(backend) ? backend.set_enabled(id, false)
                                                   : backend.deregister_instance(id);
        // One that is drained already may be gone: then only the mark is about it.
        if (!written.existed && !written.repeated && !was_drained) backend.unmark_drained(id);
        if (!was_drained) instance_.require_existed(written);
        // Its owner may have found the end before we disabled it.
        bool const too_late = std::chrono::steady_clock::now() - begun >= time;
        if (too_late) backend.mark_drained(id, milliseconds{0});
        return written;
    }

    /// Now, or so shortly ago that its owner need not know yet.
    bool is_drained(Backend const& backend) const {
        auto const mark = backend.drain_mark(instance_.id());
        return mark && (!mark->left || *mark->left > -backend.port()->live().lease());
    }

    static bool stays_listed(Backend const& backend) {
        return backend.port()->capabilities().enabled_flag;
    }

    Exit end(Context& context) const {
        auto const& backend = context.backend();
        auto const mark = backend.drain_mark(instance_.id());
        if (!mark || mark->over()) {
            throw CommandError{Exit::not_found, "instance " + shown(instance_.id().id) +
                                                    " of service " + shown(instance_.id().service) +
                                                    " is not drained"};
        }
        backend.mark_drained(instance_.id(), milliseconds{0});
        auto const stored = backend.port()->validated(instance_.id());
        if (context.wants_json()) {
            context.print(boost::json::object{{"service", json_text(stored.service)},
                                              {"id", json_text(stored.id)},
                                              {"done", "ended"}});
            return Exit::done;
        }
        context.print_line(fmt::format("ended the drain of {}", stored.id));
        context.print_line(
            stays_listed(backend)
                ? "If it is announced by rollcall, it is enabled with its owner's next heartbeat; "
                  "else 'rollcall enable' does so."
                : "If it is announced by rollcall, it comes back with its owner's next heartbeat.");
        return Exit::done;
    }

    void tell(Context& context, milliseconds time, Written const& written) const {
        auto const stored = context.backend().port()->validated(instance_.id());
        bool const disabled = stays_listed(context.backend());
        if (context.wants_json()) {
            context.print(boost::json::object{{"service", json_text(stored.service)},
                                              {"id", json_text(stored.id)},
                                              {"done", disabled ? "disabled" : "deregistered"},
                                              {"for_ms", time.count()},
                                              {"announced", written.announced}});
            return;
        }
        context.print_line(fmt::format("{} {} for {}", disabled ? "disabled" : "deregistered",
                                       stored.id, format_duration(time)));
        context.print_line(
            disabled ? "If it is announced by rollcall, it is enabled again then; else "
                       "'rollcall enable' does so."
                     : "If it is announced by rollcall, it comes back then; another owner "
                       "may register it again at once.");
    }

    InstanceOption instance_;
    std::string time_;
    bool end_ = false;
};

}  // namespace

std::unique_ptr<Command> make_drain() { return std::make_unique<Drain>(); }

}  // namespace rollcall::cli
