#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/log.hpp"
#include "registry/disk/saved_service.hpp"

namespace rollcall::disk {

struct StoreOptions {
    std::filesystem::path directory = {};
    Origin origin = {};
    std::chrono::milliseconds write_every{5'000};
    std::chrono::milliseconds max_age{86'400'000};
    std::size_t max_bytes = std::size_t{256} << 20;  ///< Of all files that it writes.
};

/// What is saved, and asked for from time to time. Thread safety: all members.
class Source {
public:
    virtual ~Source() = default;

    /// Of two equal revisions the content is the same.
    struct Mark {
        std::uint64_t revision = 0;
        std::chrono::steady_clock::time_point confirmed_at = {};  ///< By Redis.
    };
    virtual std::string const& name() const noexcept = 0;
    /// None while Redis has not said anything about it.
    virtual std::optional<Mark> mark() const = 0;
    /// At least as new as the last mark.
    virtual SavedService capture() const = 0;
};

/// Keeps services on disk, and gives them back. It looks for itself what changed, on a thread of
/// its own: nobody waits for the disk, and nobody tells it anything.
///
/// What fails is one warning, and tried again later; what is wrong with a file is one warning, and
/// as if there were none.
///
/// Thread safety: all members. In a forked child they do nothing.
class SnapshotStore {
public:
    SnapshotStore(StoreOptions options, Log log);
    ~SnapshotStore();
    SnapshotStore(SnapshotStore const&) = delete;
    SnapshotStore& operator=(SnapshotStore const&) = delete;

    /// Saves it from now on, while it lives, when it changed and now and then.
    void add(std::weak_ptr<Source const> source);

    using Found = std::function<void(SavedService)>;
    /// Calls `found` with what is on disk of `service`, on this store's thread; never, if that is
    /// nothing, not to be used or empty. A time that lies ahead becomes that of the call.
    void read(std::string service, Found found);

    /// Saves what changed, as far as the time suffices, and ends the thread; where `waits`, no
    /// later than 0.7 s from now. What it saves it keeps alive until then. Idempotent.
    void close(bool waits) noexcept;

private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace rollcall::disk
