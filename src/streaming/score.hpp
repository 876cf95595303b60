#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "rollcall/instance.hpp"
#include "rollcall/streaming/scored_load_balancer.hpp"

namespace rollcall::streaming {

/// The formula of spec 11.4.
class Score {
public:
    explicit Score(LoadBalancerConfig config);
    Score(Score const&) = delete;
    Score& operator=(Score const&) = delete;

    /// The metrics that it depends on; at most `most_metrics`.
    static constexpr std::size_t most_metrics = 6;
    std::vector<std::string_view> const& names() const noexcept { return names_; }

    /// `values` are those of `names()`; what is negative or NaN is not known. None: it is out.
    std::optional<double> operator()(ServiceInstance const& instance, double const* values) const;

    LoadBalancerConfig const& config() const noexcept { return config_; }

private:
    enum class Shape { percent, latency, count };
    struct Part {
        std::string_view key;
        double limit;
        double weight;
        Shape shape;
    };
    std::optional<double> factor(Part const& part, double value) const;

    LoadBalancerConfig const config_;
    std::vector<Part> parts_;  ///< As the names.
    std::vector<std::string_view> names_;
};

}  // namespace rollcall::streaming
