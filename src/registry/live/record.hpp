#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <memory>
#include <utility>

#include "registry/live/vitals.hpp"

#include "rollcall/instance.hpp"

namespace rollcall::live {

/// One version of an instance: its description, which never changes and which others may share, and
/// its vitals, which all its versions share. Neither is null.
struct Record : boost::intrusive_ref_counter<Record> {
    using Description = std::shared_ptr<ServiceInstance const>;

    Record(Description described, std::shared_ptr<Vitals> alive)
        : instance(std::move(described)), vitals(std::move(alive)) {}

    Description const instance;
    std::shared_ptr<Vitals> const vitals;
};

using RecordPtr = boost::intrusive_ptr<Record const>;

inline RecordPtr make_record(Record::Description instance, std::shared_ptr<Vitals> vitals) {
    return RecordPtr{new Record{std::move(instance), std::move(vitals)}};
}
inline RecordPtr make_record(ServiceInstance instance, std::shared_ptr<Vitals> vitals) {
    return make_record(std::make_shared<ServiceInstance const>(std::move(instance)),
                       std::move(vitals));
}

/// The first version of an instance.
inline RecordPtr make_record(ServiceInstance instance, InstanceState const& state = {}) {
    return make_record(std::move(instance), std::make_shared<Vitals>(state));
}

}  // namespace rollcall::live
