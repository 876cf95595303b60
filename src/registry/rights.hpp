#pragma once

#include <string>
#include <vector>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "redis/session.hpp"
#include "redis/task.hpp"
#include "registry/layout_port.hpp"

namespace rollcall {

/// What whoever registers, announces and keeps house in a prefix must be allowed to do.
struct NeededRights {
    struct Channel {
        std::string name = {};  ///< One to publish on.
        std::string rule = {};  ///< What the ACL calls all like it, behind `&`.
    };
    struct Command {
        std::vector<std::string> words = {};
        std::string key = {};  ///< The one that it works on, for people; empty: none.
    };

    std::string sweep = {};  ///< Our own key, of the sweeping lease.
    std::vector<Channel> channels = {};
    std::vector<Command> commands = {};

    /// Adds `words` for `key`, which stands behind the name of the command.
    void add(std::string name, std::string const& key, std::vector<std::string> further = {});
    /// Adds those of the sweeping lease, and those that every script needs.
    void add_usual();
};

/// What keeps this user from doing so: missing rights, or a Redis that takes no writes. Nothing
/// when all of it works. Leaves nothing behind.
///
/// Cost: one script call.
Task<Result<std::vector<Finding>>> examine_rights(redis::Session& session,
                                                  NeededRights const& needed, Deadline deadline);

}  // namespace rollcall
