#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <memory>
#include <utility>

#include "registry/live/vitals.hpp"

#include "rollcall/instance.hpp"

namespace rollcall::live {

/// One version of an instance: its description, which never changes, and its vitals, which all its
/// versions share.
struct Record : boost::intrusive_ref_counter<Record> {
    Record(ServiceInstance described, std::shared_ptr<Vitals> alive)
        : instance(std::move(described)), vitals(std::move(alive)) {}

    ServiceInstance const instance;
    std::shared_ptr<Vitals> const vitals;  ///< Never null.
};

using RecordPtr = boost::intrusive_ptr<Record const>;

inline RecordPtr make_record(ServiceInstance instance, std::shared_ptr<Vitals> vitals) {
    return RecordPtr{new Record{std::move(instance), std::move(vitals)}};
}

/// The first version of an instance.
inline RecordPtr make_record(ServiceInstance instance, InstanceState const& state = {}) {
    return make_record(std::move(instance), std::make_shared<Vitals>(state));
}

}  // namespace rollcall::live
