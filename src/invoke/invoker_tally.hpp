#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

#include "rollcall/streaming/client_invoker.hpp"

namespace rollcall::streaming {

/// What an invoker counts, in total and of each service, as long as these are not too many.
///
/// Thread safety: all members, from any thread.
class InvokerTally {
public:
    static constexpr std::size_t most_services = 10'000;

    void add(std::string_view service, std::uint64_t InvokerCounters::* counter) {
        std::lock_guard const lock{mutex_};
        ++(metrics_.total.*counter);
        auto found = metrics_.services.find(service);
        if (found == metrics_.services.end()) {
            if (metrics_.services.size() >= most_services) return;
            found = metrics_.services.emplace(service, InvokerCounters{}).first;
        }
        ++(found->second.*counter);
    }

    InvokerMetrics snapshot() const {
        std::lock_guard const lock{mutex_};
        return metrics_;
    }

private:
    std::mutex mutable mutex_;
    InvokerMetrics metrics_;  // Guarded by it.
};

}  // namespace rollcall::streaming
