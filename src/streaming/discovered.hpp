#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rollcall/instance.hpp"

namespace rollcall::streaming {

/// Which instances of which services were found, and whether they were healthy: as the last list of
/// a service had it. Bounded: services not listed for the longest are forgotten first.
///
/// Thread safety: one thread at a time.
class Discovered {
public:
    explicit Discovered(std::size_t most_instances = 100'000) : most_(most_instances) {}

    /// All that there is of a service.
    void replace(std::string const& service, std::vector<ServiceInstance> const& all);
    /// Some of it.
    void merge(std::string const& service, std::vector<ServiceInstance> const& some);

    /// Of all services but these.
    std::size_t count(std::set<std::string> const& but) const;
    /// None: it was not found.
    std::optional<bool> healthy(std::string_view service, std::string_view id) const;
    std::vector<std::string> services() const;

private:
    struct Found {
        // Sorted by id when somebody asks, so that a list costs no more than its copy.
        mutable std::vector<std::pair<std::string, bool>> ids;
        mutable bool sorted = false;
        std::uint64_t last = 0;
    };
    using Services = std::map<std::string, Found, std::less<>>;

    static std::pair<std::string, bool>* find(Found const& found, std::string_view id);
    void shrink();

    std::size_t const most_;
    std::size_t size_ = 0;
    std::uint64_t lists_ = 0;
    Services services_;
};

}  // namespace rollcall::streaming
