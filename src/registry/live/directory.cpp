#include "registry/live/directory.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <random>
#include <utility>
#include <vector>

#include "registry/live/catalogue.hpp"

namespace rollcall::live {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;

DirectoryOptions completed(DirectoryOptions options, LivePort const& port) {
    options.feed.lease = port.lease();
    return options;
}

std::shared_ptr<disk::SnapshotStore> store_for(DirectoryOptions const& options, Log const& log) {
    if (!options.disk) return nullptr;
    return std::make_shared<disk::SnapshotStore>(*options.disk, log);
}

}  // namespace

Directory::Directory(std::shared_ptr<redis::ClientCore> core, std::shared_ptr<LivePort> port,
                     DirectoryOptions options)
    : context_(
          std::make_shared<LiveContext>(core, std::move(port), store_for(options, core->log()))),
      options_(completed(options, *context_->port)) {}

Directory::~Directory() {
    if (core_->closed()) return;  // Another thread may have held the mutex at the fork.
    if (catalogue_ && core_->on_io_thread()) catalogue_->leave_directory();
    cataloguing_.stop();
    housekeeping_.stop();
    if (context_->disk) context_->disk->close(!core_->on_io_thread());
    Entries ending;  // Their work is stopped without the mutex: a read that ends may call back.
    std::lock_guard const lock{mutex_};
    ending.swap(entries_);
}

void Directory::require_open() const {
    if (core_->closed()) throw_exception_from_error(redis::was_forked(), {});
}

std::shared_ptr<Directory::Use> Directory::use(std::string const& name) {
    require_open();
    std::lock_guard const lock{mutex_};
    auto& entry = entry_of(name);
    auto use = std::make_shared<Use>(shared_from_this(), entry.service);
    ++entry.uses;
    return use;
}

std::shared_ptr<Catalogue> Directory::watch_all() {
    require_open();
    std::lock_guard const lock{mutex_};
    if (!catalogue_) {
        catalogue_ = std::make_shared<Catalogue>(context_, *this);
        cataloguing_ = core_->spawn([self = catalogue_] { return Catalogue::run(self); });
    }
    return catalogue_;
}

bool Directory::keep(std::string const& name) {
    std::lock_guard const lock{mutex_};
    return !std::exchange(entry_of(name).kept, true);
}

void Directory::let_go(std::string const& name) {
    Entries ending;  // Their work is stopped without the mutex.
    std::lock_guard const lock{mutex_};
    auto const found = entries_.find(name);
    if (found == entries_.end()) return;
    found->second.kept = false;
    if (options_.unused_for.count() == 0) {
        drop_if_unused(found, std::chrono::steady_clock::now(), ending);
    }
}

std::shared_ptr<WatchedService> Directory::find(std::string_view name) const {
    std::lock_guard const lock{mutex_};
    auto const found = entries_.find(name);
    return found == entries_.end() ? nullptr : found->second.service;
}

void Directory::find_by_name(WatchedService const& service) {
    std::lock_guard const lock{mutex_};
    auto const found = entries_.find(service.name());
    if (found == entries_.end() || found->second.service.get() != &service) return;
    index_->add(service.cell());
}

Directory::Entry& Directory::entry_of(std::string const& name) {
    auto found = entries_.find(name);
    if (found == entries_.end()) {
        found = entries_.emplace(name, watch(name)).first;
        begin_housekeeping();
    }
    return found->second;
}

Directory::Entry Directory::watch(std::string const& name) {
    auto feed = options_.feed;
    feed.seed = std::random_device{}();
    Entry entry;
    entry.service = std::make_shared<WatchedService>(name, context_, catalogue_, feed);
    entry.unused_since = std::chrono::steady_clock::now();
    if (context_->disk) context_->disk->add(entry.service);
    entry.work = core_->spawn([watched = entry.service] { return WatchedService::run(watched); });
    return entry;
}

void Directory::put_back(std::string const& name) noexcept {
    if (core_->closed()) return;
    Entries ending;  // Their work is stopped without the mutex.
    std::lock_guard const lock{mutex_};
    auto const found = entries_.find(name);
    if (found == entries_.end() || --found->second.uses > 0) return;
    auto const now = std::chrono::steady_clock::now();
    found->second.unused_since = now;
    try {
        if (options_.unused_for.count() == 0) drop_if_unused(found, now, ending);
    } catch (...) {
        return;  // No memory: it goes when it is unused again, or with us.
    }
}

void Directory::begin_housekeeping() {
    if (options_.unused_for.count() == 0 || std::exchange(keeps_house_, true)) return;
    housekeeping_ =
        core_->spawn([this, time = options_.unused_for] { return keep_house(*this, time); });
}

/// Shares nothing: the directory's end waits for it, and what ends it ends the pause.
Task<void> Directory::keep_house(Directory& directory, std::chrono::milliseconds unused_for) {
    auto const step = std::clamp<milliseconds>(unused_for / 4, milliseconds{10}, minutes{1});
    for (;;) {
        bool const goes_on = co_await pause(step);
        if (!goes_on) co_return;
        directory.drop_all_unused();
    }
}

void Directory::drop_all_unused() {
    auto const now = std::chrono::steady_clock::now();
    Entries ending;  // Their work is stopped without the mutex.
    std::lock_guard const lock{mutex_};
    for (auto at = entries_.begin(); at != entries_.end();) {
        auto const next = std::next(at);
        drop_if_unused(at, now, ending);
        at = next;
    }
}

void Directory::drop_if_unused(Entries::iterator at, std::chrono::steady_clock::time_point now,
                               Entries& ending) {
    auto& entry = at->second;
    if (entry.service->cell()->was_read()) entry.unused_since = now;
    if (entry.uses > 0 || entry.kept || now - entry.unused_since < options_.unused_for) return;
    index_->remove(*entry.service->cell());
    ending.insert(entries_.extract(at));
}

std::size_t Directory::size() const {
    std::lock_guard const lock{mutex_};
    return entries_.size();
}

}  // namespace rollcall::live
