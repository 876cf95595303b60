#include "support/heard_changes.hpp"

#include <mutex>
#include <string_view>
#include <utility>

namespace rollcall::test {

struct HeardChanges::State {
    mutable std::mutex mutex;
    std::vector<HeardChange> changes;
    std::function<void(HeardChange const&)> then;
};

std::string HeardChange::text() const {
    std::string ids;
    for (auto const& id : all) ids += (ids.empty() ? "" : ", ") + id;
    return std::string{value(action)} + ' ' + (instance ? instance->instance_id : "null") +
           " of [" + ids + ']';
}

HeardChanges::HeardChanges() : HeardChanges{{}} {}

HeardChanges::HeardChanges(std::function<void(HeardChange const&)> then)
    : state_(std::make_shared<State>()) {
    state_->then = std::move(then);
    listener_ = streaming::make_service_change_listener(
        [state = state_](std::string_view service, streaming::ServiceChangeAction action,
                         ServiceInstance const* instance, streaming::InstanceList const& list) {
            HeardChange change;
            change.service = service;
            change.action = action;
            if (instance) change.instance = *instance;
            for (auto const& one : list) change.all.push_back(one.instance_id);
            {
                std::lock_guard const lock{state->mutex};
                state->changes.push_back(change);
            }
            if (state->then) state->then(change);
        });
}

std::vector<HeardChange> HeardChanges::all() const {
    std::lock_guard const lock{state_->mutex};
    return state_->changes;
}

std::vector<HeardChange> HeardChanges::take() {
    std::lock_guard const lock{state_->mutex};
    return std::exchange(state_->changes, {});
}

std::vector<std::string> HeardChanges::texts() const {
    std::vector<std::string> texts;
    for (auto const& change : all()) texts.push_back(change.text());
    return texts;
}

}  // namespace rollcall::test
