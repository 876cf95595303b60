#pragma once

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "registry/live/record.hpp"
#include "registry/live/table_draft.hpp"

namespace rollcall::live::test {

/// `orders-000042`: ids in the order of their numbers.
inline std::string id_of(std::size_t number) {
    char text[32];
    std::snprintf(text, sizeof text, "orders-%06zu", number);
    return text;
}

inline ServiceInstance instance(std::size_t number, int weight = 1) {
    ServiceInstance made;
    made.service_name = "orders";
    made.instance_id = id_of(number);
    made.host = "10.0.0.1";
    made.port = 8080;
    made.weight = weight;
    return made;
}

inline RecordPtr record(std::size_t number, int weight = 1) {
    return make_record(instance(number, weight));
}

/// Of the numbers below `size`.
inline InstanceTablePtr table_of(std::size_t size) {
    TableDraft draft{*InstanceTable::empty_table()};
    for (std::size_t number = 0; number < size; ++number) draft.put(record(number));
    return std::move(draft).finish();
}

inline std::vector<Chunk const*> chunks(InstanceTable const& table) {
    std::vector<Chunk const*> found;
    for (auto const& group : table.groups().children()) {
        for (auto const& chunk : group->children()) found.push_back(chunk.get());
    }
    return found;
}

inline std::vector<ServiceInstance const*> all(InstanceTable const& table) {
    std::vector<ServiceInstance const*> found;
    for (auto const* chunk : chunks(table)) {
        found.insert(found.end(), chunk->instances().begin(), chunk->instances().end());
    }
    return found;
}

}  // namespace rollcall::live::test
