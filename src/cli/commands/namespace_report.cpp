#include "cli/commands/namespace_report.hpp"

#include <fmt/format.h>
#include <string>

#include "cli/parse.hpp"

namespace rollcall::cli {

namespace {

std::string skew_text(Result<ServerFacts> const& facts) {
    if (!facts) return "Redis does not answer";
    if (!facts->clock) return "its clock is not known";
    std::chrono::duration<double> const skew = facts->local_clock - *facts->clock;
    return fmt::format("this clock is {:+.3f} s from that of Redis", skew.count());
}

}  // namespace

NamespaceReport::NamespaceReport(boost::asio::io_context& loop, Context& context,
                                 std::chrono::milliseconds period)
    : logger_(context.logger()),
      period_(period),
      registry_(context.registry()),
      watch_(registry_.on_change([](std::string const&, Change const&) {})),
      timer_(loop),
      calls_(context.backend(), loop) {
    wait();
}

void NamespaceReport::wait() {
    timer_.expires_after(period_);
    timer_.async_wait([this](boost::system::error_code error) {
        if (!error) ask();
    });
}

void NamespaceReport::ask() {
    wait();
    calls_.facts([this](Result<ServerFacts> const& facts) { tell(facts); });
}

void NamespaceReport::tell(Result<ServerFacts> const& facts) {
    auto const now = registry_.stats();
    logger_.info(
        fmt::format("{} services, {} instances, {} of them suspect; in {}: {} messages "
                    "({} unreadable), {} changes, {} resyncs, {} failed reads; {}",
                    now.services, now.instances, now.suspects, format_duration(period_),
                    now.messages - last_.messages, now.unreadable - last_.unreadable,
                    now.changes - last_.changes, now.resyncs - last_.resyncs,
                    now.failed_reads - last_.failed_reads, skew_text(facts)));
    last_ = now;
}

}  // namespace rollcall::cli
