#include <algorithm>
#include <fmt/format.h>
#include <thread>
#include <utility>

#include "cli/commands/commands.hpp"
#include "cli/context.hpp"
#include "cli/failure_text.hpp"
#include "cli/parse.hpp"
#include "cli/print/instance_table.hpp"
#include "core/text.hpp"

namespace rollcall::cli {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds between_looks{200};
constexpr std::chrono::seconds one_look{2};

class Wait final : public Command {
public:
    void declare(OptionSet& options) override {
        options.positional("SERVICE", query_.service, "whose instances");
        options.value("--count", count_text_, "N", "how many must be there (1)");
        options.setting("timeout", "TIME", "limit of the whole wait (30s)");
    }

    Exit run(Context& context) override {
        auto const count =
            static_cast<std::size_t>(parse_integer("--count", count_text_, 1, 1'000'000));
        auto const limit = context.settings().given_timeout.value_or(std::chrono::seconds{30});
        auto const end = Clock::now() + limit;
        while (true) {
            look(context, end);
            if (!failure_ && found_.size() >= count) break;
            auto const left = end - Clock::now();
            if (left <= Clock::duration{}) return give_up(context, count, limit);
            if (failure_ && !std::exchange(told_, true)) {
                context.logger().warning("will keep trying: " + failure_text(*failure_));
            }
            std::this_thread::sleep_for(std::min<Clock::duration>(between_looks, left));
        }
        context.print_instances(found_);
        return Exit::done;
    }

private:
    /// A Redis that is not there yet is one more thing to wait for. A last look that the end of the
    /// wait cuts short says nothing against the answer before it.
    void look(Context& context, Deadline end) {
        auto const deadline = std::min(after(one_look), end);
        try {
            found_ = context.backend().instances(query_, deadline);
            std::erase_if(found_, [](Found const& one) { return !is_available(one); });
            failure_.reset();
            answered_ = true;
        } catch (Error const& error) {
            if (!is_transient(error.code())) throw;
            auto const cut_short = deadline == end && error.code() == errc::timeout;
            if (cut_short && answered_ && !failure_) return;
            failure_.emplace(error.code(), error.detail());
        }
    }

    Exit give_up(Context& context, std::size_t count, std::chrono::milliseconds limit) {
        if (failure_) throw Error{failure_->code(), failure_->detail()};
        context.print_instances(found_);
        context.logger().error(fmt::format("{} has {} of {} instances after {}",
                                           shown(query_.service), found_.size(), count,
                                           format_duration(limit)));
        return Exit::timed_out;
    }

    Query query_;
    std::string count_text_ = "1";
    std::vector<Found> found_;
    std::optional<Failure> failure_;  // Of the last look.
    bool answered_ = false;
    bool told_ = false;
};

}  // namespace

std::unique_ptr<Command> make_wait() { return std::make_unique<Wait>(); }

}  // namespace rollcall::cli
