#pragma once

#include <string_view>

#include "rollcall/instance.hpp"
#include "rollcall/snapshot.hpp"

#pragma GCC visibility push(default)

namespace rollcall {

/// What happened to an instance of a watched service.
enum class ChangeKind {
    current,  ///< It was there when the watching began.
    added,
    updated,  ///< Its description changed; a renewed lease is no change.
    removed,
    suspect,  ///< Redis may have lost it; kept until its owner had time to come back.
    resync,   ///< No instance: the listener fell behind and must look at what is there now.
};

/// Why an instance left.
enum class RemovalReason {
    none,
    deregistered,         ///< By its owner or by an operator.
    expired,              ///< Its lease ran out, by Redis' clock.
    absent_after_resync,  ///< It left while nobody could tell us: Redis has proof, or we had it
                          ///< from disk only.
    lost,                 ///< Redis lost it, and its owner did not come back in time.
};

/// The names above, as `rollcall watch` prints them; empty for anything else.
std::string_view to_string(ChangeKind kind) noexcept;
std::string_view to_string(RemovalReason reason) noexcept;

/// One change of a service, in the order in which it took effect.
///
/// Lifetime: pointers and references are valid during the call that hands it over.
struct Change {
    ChangeKind kind;
    RemovalReason reason;
    ServiceInstance const* instance;  ///< Null only for `resync`.
    ServiceInstance const* previous;  ///< What an `updated` one was before; else null.
    Snapshot const& now;              ///< With this change, and maybe later ones.
};

}  // namespace rollcall

#pragma GCC visibility pop
