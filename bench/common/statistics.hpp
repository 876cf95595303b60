#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace rollcall::bench {

/// The value below which `share` of the sample lies, by linear interpolation. Needs one value.
inline double quantile(std::vector<double> sample, double share) {
    std::sort(sample.begin(), sample.end());
    auto const place = share * static_cast<double>(sample.size() - 1);
    auto const below = static_cast<std::size_t>(place);
    auto const above = std::min(below + 1, sample.size() - 1);
    return sample[below] + (place - static_cast<double>(below)) * (sample[above] - sample[below]);
}

inline double median(std::vector<double> sample) { return quantile(std::move(sample), 0.5); }

/// Half of the distance between the quartiles, as a share of the median.
inline double spread(std::vector<double> const& sample) {
    auto const middle = median(sample);
    if (middle == 0) return 0;
    return (quantile(sample, 0.75) - quantile(sample, 0.25)) / 2 / middle;
}

/// Each value divided by the one of the same repetition.
inline std::vector<double> ratios(std::vector<double> const& values,
                                  std::vector<double> const& others) {
    std::vector<double> result;
    for (std::size_t i = 0; i < std::min(values.size(), others.size()); ++i) {
        result.push_back(values[i] / others[i]);
    }
    return result;
}

}  // namespace rollcall::bench
