#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <utility>

namespace rollcall::cosky {

/// Which services of a namespace are to be counted. Pure.
class CountsDue {
public:
    /// Of more, all are counted.
    static constexpr std::size_t most_services = 10'000;

    bool empty() const noexcept { return !all_ && services_.empty(); }
    bool all() const noexcept { return all_; }
    std::set<std::string> const& services() const noexcept { return services_; }

    void add(std::string_view service) {
        if (all_) return;
        services_.emplace(service);
        if (services_.size() > most_services) add_all();
    }
    void add_all() {
        all_ = true;
        services_.clear();
    }

    CountsDue take() { return std::exchange(*this, CountsDue{}); }

private:
    bool all_ = false;
    std::set<std::string> services_;
};

}  // namespace rollcall::cosky
