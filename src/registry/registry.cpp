#include "rollcall/registry.hpp"

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <utility>

#include "core/text.hpp"
#include "registry/announce/announcer.hpp"
#include "registry/layout_port.hpp"
#include "registry/live/catalogue.hpp"
#include "registry/live/directory.hpp"
#include "registry/live/service_state.hpp"
#include "registry/outcome.hpp"

namespace rollcall {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds usual_heartbeat{10'000};
constexpr std::size_t most_snapshot_bytes = std::size_t{1} << 32;

void validate(DiskSnapshotOptions const& options) {
    auto const check = [](char const* field, milliseconds value, milliseconds least) {
        if (value >= least && value <= longest_limit) return;
        refuse(field, std::to_string(value.count()) + " ms",
               "must be from " + std::to_string(least.count()) + " ms to a hundred years");
    };
    if (options.directory.native().find('\0') != std::string::npos) {
        refuse("disk_snapshot.directory", options.directory.native(), "must hold no NUL");
    }
    check("disk_snapshot.write_every", options.write_every, milliseconds{10});
    check("disk_snapshot.max_age", options.max_age, milliseconds{1});
    if (options.max_bytes > most_snapshot_bytes) {
        refuse("disk_snapshot.max_bytes", std::to_string(options.max_bytes),
               "must be at most " + std::to_string(most_snapshot_bytes));
    }
}

void validate(RegistryOptions const& options, Layout const& layout) {
    validate(options.disk_snapshot);
    if (options.heartbeat < milliseconds::zero() || options.heartbeat >= layout.lease()) {
        refuse(
            "heartbeat", std::to_string(options.heartbeat.count()) + " ms",
            "must be shorter than the lease of " + std::to_string(layout.lease().count()) + " ms");
    }
    if (options.unused_for < milliseconds::zero() || options.unused_for > longest_limit) {
        refuse("unused_for", std::to_string(options.unused_for.count()) + " ms",
               "must be from 0 to a hundred years");
    }
}

RegistryOptions completed(RegistryOptions options, Layout const& layout) {
    validate(options, layout);
    if (options.heartbeat == milliseconds::zero()) {
        options.heartbeat = std::min(usual_heartbeat, layout.lease() / 3);
    }
    return options;
}

std::optional<disk::StoreOptions> store_options(DiskSnapshotOptions const& options,
                                                Layout const& layout,
                                                redis::ClientCore const& core) {
    if (options.directory.empty()) return std::nullopt;
    disk::StoreOptions result;
    std::error_code error;  // Nobody knows where we are: it is relative to that all the same.
    result.directory = std::filesystem::absolute(options.directory, error);
    if (error) result.directory = options.directory;
    result.origin = {core.url().to_string(), layout.name(), layout.name_space()};
    result.write_every = options.write_every;
    result.max_age = options.max_age;
    result.max_bytes = options.max_bytes;
    return result;
}

live::DirectoryOptions directory_options(RegistryOptions const& options, Layout const& layout,
                                         redis::ClientCore const& core) {
    live::DirectoryOptions result;
    result.unused_for = options.unused_for;
    result.disk = store_options(options.disk_snapshot, layout, core);
    return result;
}

std::shared_ptr<LivePort> live_part_of(std::shared_ptr<LayoutPort> const& port) {
    return {port, &port->live()};
}

class NamespaceWatch final : public live::WatchState {
public:
    NamespaceWatch(std::shared_ptr<live::Directory> directory,
                   live::NamespaceListener::Callback callback)
        : directory_(std::move(directory)),
          catalogue_(directory_->watch_all()),
          listener_(std::make_shared<live::NamespaceListener>(std::move(callback),
                                                              directory_->core().callbacks())) {
        catalogue_->add_listener(listener_);
    }
    ~NamespaceWatch() override {
        if (directory_->core().closed()) return;  // The thread is the parent's.
        listener_->stop();
        catalogue_->remove_listener(listener_);
    }

private:
    std::shared_ptr<live::Directory> const directory_;
    std::shared_ptr<live::Catalogue> const catalogue_;
    std::shared_ptr<live::NamespaceListener> const listener_;
};

}  // namespace

struct Registry::Impl {
    Impl(Client const& client, Layout const& layout, RegistryOptions const& options)
        : core(client.core()),
          port(layout.make_port()(core, options.heartbeat)),
          directory(std::make_shared<live::Directory>(core, live_part_of(port),
                                                      directory_options(options, layout, *core))),
          announcer(announce::Announcer::create(core, port, options.heartbeat)) {}

    Result<std::vector<std::string>> services() const;
    std::shared_ptr<live::Directory::Use> use(std::string service_name) const;
    [[gnu::noinline]] Result<Snapshot> first_instances(std::string_view service_name) const;

    std::shared_ptr<redis::ClientCore> const core;
    std::shared_ptr<LayoutPort> const port;
    std::shared_ptr<live::Directory> const directory;
    std::shared_ptr<announce::Announcer> const announcer;
};

Result<std::vector<std::string>> Registry::Impl::services() const {
    auto const found = core->run([this] { return port->services(core->deadline()); });
    if (found.has_error()) return found.error();
    std::vector<std::string> names;
    for (auto const& summary : *found) {
        if (summary.instances > 0) names.push_back(summary.service);
    }
    std::ranges::sort(names);
    return names;
}

std::shared_ptr<live::Directory::Use> Registry::Impl::use(std::string service_name) const {
    InstanceId named;
    named.service = std::move(service_name);
    named.id = "1";  // Any that can be stored: it is the name that is checked.
    return directory->use(port->validated(named).service);
}

Result<Snapshot> Registry::Impl::first_instances(std::string_view service_name) const {
    if (core->closed()) return redis::was_forked();
    live::ServiceState const state{use(std::string{service_name}), {}};
    auto found = state.instances();
    if (found.has_value()) directory->find_by_name(state.use->service());
    return found;
}

Registry::Registry(Client const& client, Layout const& layout, RegistryOptions options)
    : impl_(std::make_shared<Impl>(client, layout, completed(options, layout))) {}

Announcement Registry::announce(ServiceInstance const& instance, AnnounceOptions options) const {
    return impl_->announcer->announce(instance, std::move(options));
}

Renewal Registry::renew(std::string const& service_name, std::string const& instance_id,
                        std::function<void(AnnouncementEvent)> on_event) const {
    InstanceId id;
    id.service = service_name;
    id.id = instance_id;
    return impl_->announcer->renew(id, std::move(on_event));
}

Service Registry::service(std::string const& service_name, ServiceOptions options) const {
    live::validate(options);
    return Service{std::make_shared<live::ServiceState const>(impl_->use(service_name), options)};
}

Snapshot Registry::instances(std::string_view service_name) const {
    if (auto known = impl_->directory->instances(service_name)) [[likely]]
        return *std::move(known);
    return outcome(impl_->first_instances(service_name));
}

Snapshot Registry::instances(std::string_view service_name, std::error_code& error) const {
    if (auto known = impl_->directory->instances(service_name)) [[likely]] {
        error.clear();
        return *std::move(known);
    }
    return outcome(impl_->first_instances(service_name), error);
}

Watch Registry::on_change(
    std::function<void(std::string const& service, Change const&)> listener) const {
    if (!listener) throw std::invalid_argument{"on_change: a listener without a function"};
    return Watch{std::make_unique<NamespaceWatch>(impl_->directory, std::move(listener))};
}

RegistryStats Registry::stats() const {
    auto const& tally = impl_->directory->tally();
    auto const now = [](std::atomic<std::int64_t> const& count) {
        return static_cast<std::size_t>(std::max<std::int64_t>(count, 0));
    };
    RegistryStats stats;
    stats.services = impl_->directory->size();
    stats.instances = now(tally.instances);
    stats.suspects = now(tally.suspects);
    stats.messages = tally.messages;
    stats.unreadable = tally.unreadable;
    stats.changes = tally.changes;
    stats.resyncs = tally.resyncs;
    stats.failed_reads = tally.failed_reads;
    return stats;
}

std::vector<std::string> Registry::services() const { return outcome(impl_->services()); }

std::vector<std::string> Registry::services(std::error_code& error) const {
    return outcome(impl_->services(), error);
}

}  // namespace rollcall
