#include "load/series.hpp"

#include <utility>

#include "common/statistics.hpp"

namespace rollcall::bench {

void Series::add(Lap const& lap, std::size_t operations) {
    auto const count = static_cast<double>(operations);
    per_second.push_back(count / lap.time.count());
    redis_cpu.push_back(lap.redis_cpu.count() / count);
    client_cpu.push_back(lap.client_cpu.count() / count);
}

Figure compare(std::string name, std::vector<double> const& values, std::string unit,
               std::vector<double> const& others, std::string against) {
    auto const each = ratios(values, others);
    Figure figure;
    figure.name = std::move(name);
    figure.value = median(values);
    figure.unit = std::move(unit);
    figure.ratio = median(each);
    figure.against = std::move(against);
    figure.spread = spread(each);
    figure.samples = each.size();
    return figure;
}

Figure client_cpu(std::string const& name, Series const& series) {
    return compare(name + ".client_cpu", series.client_cpu, "us", series.redis_cpu,
                   "Redis CPU of the same");
}

}  // namespace rollcall::bench
