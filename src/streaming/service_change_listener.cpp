#include "rollcall/streaming/service_change_listener.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "registry/live/snapshot_cell.hpp"
#include "registry/live/table_draft.hpp"

namespace rollcall::streaming {
namespace {

class CallingListener final : public ServiceChangeListener {
public:
    explicit CallingListener(ServiceChangeCall call) : call_(std::move(call)) {}

    void on_service_change(std::string_view service_name, ServiceChangeAction action,
                           ServiceInstance const* instance,
                           InstanceList const& instances) override {
        call_(service_name, action, instance, instances);
    }

private:
    ServiceChangeCall const call_;
};

}  // namespace

InstanceList::InstanceList(std::vector<ServiceInstance> const& instances) {
    auto const none = live::InstanceTable::empty_table();
    live::TableDraft draft{*none};
    for (auto const& instance : instances) draft.put(live::make_record(instance));
    live::SnapshotCell cell{{}};
    cell.publish(std::move(draft).finish());
    shown_ = cell.snapshot();
}

ServiceInstance const* InstanceList::find(std::string_view instance_id) const noexcept {
    auto const* const found = shown_.find(instance_id);
    return found && lists(*found) ? found : nullptr;
}

std::shared_ptr<ServiceChangeListener> make_service_change_listener(ServiceChangeCall call) {
    if (!call) throw std::invalid_argument{"make_service_change_listener: no call"};
    return std::make_shared<CallingListener>(std::move(call));
}

std::shared_ptr<ServiceChangeListener> make_service_change_listener(
    ServiceChangeCall call, std::vector<ServiceChangeAction> actions) {
    if (!call) throw std::invalid_argument{"make_service_change_listener: no call"};
    if (actions.empty()) throw std::invalid_argument{"make_service_change_listener: no actions"};
    return make_service_change_listener([call = std::move(call), wanted = std::move(actions)](
                                            std::string_view service, ServiceChangeAction action,
                                            ServiceInstance const* instance,
                                            InstanceList const& instances) {
        if (std::ranges::find(wanted, action) == wanted.end()) return;
        call(service, action, instance, instances);
    });
}

}  // namespace rollcall::streaming
