#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "redis/client_core.hpp"
#include "registry/live/live_context.hpp"
#include "registry/live/name_index.hpp"
#include "registry/live/watched_service.hpp"

namespace rollcall::live {

class Catalogue;

struct DirectoryOptions {
    FeedOptions feed = {};
    /// How long a service that nobody holds any more is still watched. 0: not at all.
    std::chrono::milliseconds unused_for{300'000};
    std::optional<disk::StoreOptions> disk = {};  ///< None: nothing is saved.
};

/// The services of one layout and namespace that this process watches, each once.
///
/// Thread safety: all members; destruction by one thread, also the I/O thread.
/// Lifetime: its end saves what is to be saved and stops the watching; what was taken from it stays
/// valid, and as it was.
class Directory : public std::enable_shared_from_this<Directory> {
public:
    Directory(std::shared_ptr<redis::ClientCore> core, std::shared_ptr<LivePort> port,
              DirectoryOptions options);
    ~Directory();

    /// A share in the watching of one service; while anybody has one, it goes on.
    class Use {
    public:
        Use(std::shared_ptr<Directory> directory, std::shared_ptr<WatchedService> service)
            : directory_(std::move(directory)), service_(std::move(service)) {}
        ~Use() { directory_->put_back(service_->name()); }
        Use(Use const&) = delete;
        Use& operator=(Use const&) = delete;

        WatchedService& service() const noexcept { return *service_; }
        Directory& directory() const noexcept { return *directory_; }

    private:
        std::shared_ptr<Directory> directory_;
        std::shared_ptr<WatchedService> service_;
    };

    /// Begins to watch it, unless that is done already. Errors: as of `require_open`.
    std::shared_ptr<Use> use(std::string const& name);

    /// Watches all services of the namespace from now on, with one subscription for those that
    /// nobody watched before. Returns what knows them. Errors: as of `require_open`.
    std::shared_ptr<Catalogue> watch_all();

    /// Has `name` watched, held or not, until `let_go`: then for as long as after its last use.
    /// Whether it was not kept before.
    bool keep(std::string const& name);
    void let_go(std::string const& name);
    /// Null unless it is watched.
    std::shared_ptr<WatchedService> find(std::string_view name) const;

    /// Of a service that is found by name; none of others. Keeps it watched, as a use does that
    /// ends at once.
    std::optional<Snapshot> instances(std::string_view name) const {
        return index_->instances(name);
    }
    /// The same for those who keep no directory alive.
    std::shared_ptr<NameIndex const> by_name() const noexcept { return index_; }
    /// From now on `service` is found by its name, for as long as it is watched. It is loaded: what
    /// is found must not be empty for want of an answer.
    void find_by_name(WatchedService const& service);

    redis::ClientCore& core() const noexcept { return *core_; }
    void require_open() const;  ///< Errors: `errc::closed` in a forked child.
    std::size_t size() const;   ///< Services that are watched.
    Tally const& tally() const noexcept { return context_->tally; }

private:
    struct Entry {
        std::shared_ptr<WatchedService> service;
        redis::Background work;
        std::size_t uses = 0;
        bool kept = false;
        std::chrono::steady_clock::time_point unused_since = {};
    };

    using Entries = std::map<std::string, Entry, std::less<>>;

    Entry watch(std::string const& name);
    Entry& entry_of(std::string const& name);
    void put_back(std::string const& name) noexcept;
    void begin_housekeeping();
    static Task<void> keep_house(Directory& directory, std::chrono::milliseconds unused_for);
    void drop_all_unused();
    void drop_if_unused(Entries::iterator at, std::chrono::steady_clock::time_point now,
                        Entries& ending);

    LiveContextPtr const context_;
    std::shared_ptr<redis::ClientCore> const& core_ = context_->core;
    DirectoryOptions const options_;
    std::shared_ptr<NameIndex> const index_ = std::make_shared<NameIndex>();
    mutable std::mutex mutex_;  // Guards the entries. Nothing waits while it is held.
    Entries entries_;
    bool keeps_house_ = false;
    redis::Background housekeeping_;
    std::shared_ptr<Catalogue> catalogue_;  // Null until all services are watched.
    redis::Background cataloguing_;
};

}  // namespace rollcall::live
