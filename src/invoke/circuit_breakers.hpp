#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rollcall/streaming/circuit_breaker.hpp"

namespace rollcall::streaming {

/// A breaker for each instance that is called; bounded: the one that was not used for the longest
/// is forgotten first.
///
/// Thread safety: all members, from any thread.
class CircuitBreakers {
public:
    CircuitBreakers(CircuitBreakerConfig config, std::size_t most);

    /// A closed one for an instance that is not known. Lives on while a call holds it.
    std::shared_ptr<CircuitBreaker> of(std::string_view service, std::string_view id);
    /// The ids of the service whose breakers deny calls.
    std::vector<std::string> denying(std::string_view service, CircuitBreaker::TimePoint now) const;
    std::size_t size() const;

private:
    using Name = std::pair<std::string, std::string>;  // Service and id.
    using View = std::pair<std::string_view, std::string_view>;
    struct Less {
        using is_transparent = void;
        static View view(Name const& name) { return {name.first, name.second}; }
        static View view(View const& name) { return name; }
        bool operator()(auto const& left, auto const& right) const {
            return view(left) < view(right);
        }
    };
    struct Entry {
        std::shared_ptr<CircuitBreaker> breaker;
        std::list<Name const*>::iterator use;
    };

    CircuitBreakerConfig const config_;
    std::size_t const most_;

    std::mutex mutable mutex_;
    // Guarded by it:
    std::map<Name, Entry, Less> entries_;
    std::list<Name const*> uses_;  // The latest first.
};

}  // namespace rollcall::streaming
