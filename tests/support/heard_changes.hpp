#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rollcall/streaming/service_change_listener.hpp"

namespace rollcall::test {

/// One call of a listener.
struct HeardChange {
    std::string service;
    streaming::ServiceChangeAction action = streaming::ServiceChangeAction::current;
    std::optional<ServiceInstance> instance;
    std::vector<std::string> all;

    /// As `added o-1 of [o-1, o-2]`, or `removed null of []`.
    std::string text() const;
};

/// A listener that keeps what it is told.
class HeardChanges {
public:
    HeardChanges();

    /// `then` is called in each call, after it was kept.
    explicit HeardChanges(std::function<void(HeardChange const&)> then);

    std::shared_ptr<streaming::ServiceChangeListener> const& listener() const { return listener_; }
    std::vector<HeardChange> all() const;
    std::vector<HeardChange> take();  ///< All that was not taken before.
    std::vector<std::string> texts() const;
    std::size_t size() const { return all().size(); }

private:
    struct State;
    std::shared_ptr<State> state_;
    std::shared_ptr<streaming::ServiceChangeListener> listener_;
};

}  // namespace rollcall::test
