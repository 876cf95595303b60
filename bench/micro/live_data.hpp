#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "registry/live/record.hpp"
#include "registry/live/table_draft.hpp"

namespace rollcall::bench {

/// Number `number` of a service: ids have the length of real ones, in the order of their numbers.
inline ServiceInstance numbered_instance(std::size_t number) {
    auto digits = std::to_string(number);
    digits.insert(0, 6 - digits.size(), '0');
    ServiceInstance instance;
    instance.service_name = "payments";
    instance.instance_id = "payments-" + digits + "_8080";
    instance.host = "10.0.12.34";
    instance.port = 8080;
    instance.weight = static_cast<int>(1 + number % 10);
    return instance;
}

/// The numbers below `size`, shuffled: instances do not lie in memory as they are sorted.
inline std::vector<std::size_t> shuffled_numbers(std::size_t size) {
    std::vector<std::size_t> numbers(size);
    std::iota(numbers.begin(), numbers.end(), 0U);
    std::shuffle(numbers.begin(), numbers.end(), std::mt19937{7});
    return numbers;
}

/// As a full read makes it.
inline live::InstanceTablePtr table_of(std::size_t size) {
    std::vector<live::RecordPtr> records(size);
    for (auto const number : shuffled_numbers(size)) {
        records[number] = live::make_record(numbered_instance(number));
    }
    live::TableDraft draft{*live::InstanceTable::empty_table()};
    for (auto& record : records) draft.put(std::move(record));
    return std::move(draft).finish();
}

}  // namespace rollcall::bench
