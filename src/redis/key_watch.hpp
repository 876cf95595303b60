#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "redis/push_handler.hpp"

namespace rollcall::redis {

/// The keys whose change Redis is to tell, and which of them it tracks at the moment. Does no I/O.
///
/// Redis tells of a key once, and then no more until it is read again. So whoever is told is told
/// after that reading: a change behind it will be told, too.
class KeyWatch {
public:
    bool empty() const noexcept { return keys_.empty(); }
    std::size_t size() const noexcept { return keys_.size(); }
    bool contains(std::string_view key) const { return keys_.find(key) != keys_.end(); }

    void add(std::string const& key, PushHandler& handler);
    void remove(PushHandler const& handler);

    /// Keys to read now, at most `limit`.
    std::vector<std::string> due(std::size_t limit);
    bool any_due() const noexcept;
    /// `key`, one of those that were due, was read: Redis tracks it from a moment after `due` on.
    struct News {
        bool first = false;                             ///< It was not on this connection before.
        std::vector<PushHandler*> handlers = {};        ///< All of the key.
        std::vector<PushHandler*> to_tell_change = {};  ///< Those to tell of a change before that.
    };
    News tracked(std::string const& key);
    /// It could not be read.
    void refused(std::string const& key);
    void retry();  ///< Those that were refused are due again, and change meanwhile.

    void invalidated(std::string_view key);
    void all_invalidated();
    void reset();  ///< The connection is another one, which tracks nothing.

private:
    enum class State { due, asked, asked_again, tracked, refused };
    struct Key {
        std::vector<PushHandler*> handlers = {};
        State state = State::due;
        bool changed = false;  // Or may have been, and nobody was told yet.
        bool known = false;    // It was tracked on this connection, now or before.
    };

    std::map<std::string, Key, std::less<>> keys_;
};

}  // namespace rollcall::redis
