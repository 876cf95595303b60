#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "redis/client_core.hpp"
#include "registry/disk/snapshot_store.hpp"
#include "registry/live/evidence_source.hpp"
#include "registry/live/live_port.hpp"
#include "registry/live/read_turns.hpp"

namespace rollcall::live {

/// What happened in a directory so far. Thread safety: all members.
struct Tally {
    std::atomic<std::uint64_t> messages = 0;
    std::atomic<std::uint64_t> unreadable = 0;  ///< Messages.
    std::atomic<std::uint64_t> changes = 0;
    std::atomic<std::uint64_t> resyncs = 0;  ///< Reads of everything, the first ones included.
    std::atomic<std::uint64_t> failed_reads = 0;
    // As of now.
    std::atomic<std::int64_t> instances = 0;
    std::atomic<std::int64_t> suspects = 0;
};

/// What all that watches in one directory uses.
struct LiveContext {
    LiveContext(std::shared_ptr<redis::ClientCore> client, std::shared_ptr<LivePort> layout,
                std::shared_ptr<disk::SnapshotStore> store)
        : core(std::move(client)),
          port(std::move(layout)),
          disk(std::move(store)),
          evidence(*core, port->epoch_key()) {}

    std::shared_ptr<redis::ClientCore> const core;
    std::shared_ptr<LivePort> const port;
    std::shared_ptr<disk::SnapshotStore> const disk;  ///< Null: nothing is saved.
    EvidenceSource evidence;                          ///< On the I/O thread only.
    ReadTurns turns{4'096};                           ///< On the I/O thread only.
    Tally tally;
};

using LiveContextPtr = std::shared_ptr<LiveContext>;

}  // namespace rollcall::live
