#include "cli/eviction_warning.hpp"

namespace rollcall::cli {

EvictionWarning::EvictionWarning(boost::asio::io_context& loop, Backend const& backend,
                                 Logger& logger)
    : logger_(logger), calls_(backend, loop) {}

void EvictionWarning::ask() {
    if (asked_) return;
    asked_ = true;
    calls_.facts([this](Result<ServerFacts> const& facts) {
        if (!facts) return;
        if (auto const finding = eviction_finding(*facts)) logger_.warning(finding->text);
    });
}

}  // namespace rollcall::cli
