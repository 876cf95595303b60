#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "core/deadline.hpp"
#include "core/result.hpp"
#include "redis/session.hpp"
#include "redis/task.hpp"

namespace rollcall {

/// `text` as a pattern of Redis that matches it alone.
std::string escaped_for_match(std::string_view text);

struct KeyScan {
    bool complete = true;      ///< False: time ran out before all keys were seen.
    std::string refused = {};  ///< Why Redis does not let this user search; empty: it did.
};

/// Calls `on_key` with each key that matches `pattern`, some perhaps twice. Spends at most half of
/// the time until `deadline`: whoever asks has something to do with what it finds.
Task<Result<KeyScan>> scan_keys(redis::Session& session, std::string const& pattern,
                                std::function<void(std::string_view key)> const& on_key,
                                Deadline deadline);

}  // namespace rollcall
