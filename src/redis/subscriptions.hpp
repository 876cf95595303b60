#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "redis/push_handler.hpp"

namespace rollcall::redis {

/// Which topics are wanted, by whom, which of them Redis has confirmed, and which command is to be
/// sent next. Does no I/O.
///
/// One command is out at a time, and the next comes when it is answered: Redis answers a SUBSCRIBE
/// with one push for each name, or with one error for all, which looks like the answer to whatever
/// was asked next. A command of many names that is refused is therefore tried again in halves,
/// until it is known which name is to blame.
class Subscriptions {
public:
    enum class State { absent, asked, there };

    struct Slot {
        PushHandler* handler = nullptr;  // Null when it does not want the topic any more.
        bool greeted = false;            // Was told of the confirmation.
    };

    struct Entry {
        Topic topic;
        std::vector<Slot> slots = {};
        std::size_t wanted_by = 0;  // Slots with a handler.
        State state = State::absent;
        bool listed = false;  // In a queue, a half, or among those for later.

        /// Calls `tell(handler)` for each that was told of the confirmation. `tell` may add and
        /// remove handlers.
        template <class Tell>
        void for_each_greeted(Tell tell) {
            for (std::size_t i = 0; auto* const slot = slot_at(i); ++i) {
                if (slot->handler && slot->greeted) tell(*slot->handler);
            }
        }
        /// The same for each that was not; it is now.
        template <class Tell>
        void greet(Tell tell) {
            for (std::size_t i = 0; auto* const slot = slot_at(i); ++i) {
                if (slot->handler && !std::exchange(slot->greeted, true)) tell(*slot->handler);
            }
        }

    private:
        Slot* slot_at(std::size_t index) noexcept {
            return index < slots.size() ? &slots[index] : nullptr;
        }
    };

    struct Command {
        bool subscribe = true;
        bool pattern = false;
        std::vector<std::string_view> names = {};

        std::string_view verb() const noexcept;
    };

    struct Limits {
        std::size_t topics = 100'000;
        std::size_t names_in_command = 500;
        std::size_t bytes_in_command = 64 * 1024;  // At least one name is sent.
    };

    explicit Subscriptions(Limits limits) : limits_(limits) {}

    bool has_room() const noexcept { return size() < limits_.topics; }
    std::size_t size() const noexcept { return entries_[0].size() + entries_[1].size(); }

    void add(Topic const& topic, PushHandler& handler);
    void remove(Topic const& topic, PushHandler const& handler);
    void remove(PushHandler const& handler);  ///< From all topics.

    /// The command to send now; null when there is none, or one is not answered yet. Valid until
    /// the next call.
    Command const* next();
    bool awaits_answer() const noexcept { return !asked_.empty(); }

    /// Redis says that it sends what `name` gets; null when nobody knows of it.
    Entry* confirm(std::string_view name, bool pattern);
    void withdraw(std::string_view name, bool pattern);  ///< Redis says that it sends it no more.
    /// Redis refused the command that is out. Returns the one topic that is to blame, if that is
    /// known. Of a `transient` refusal nobody is to blame.
    Entry* refuse(bool transient);
    bool has_refused() const noexcept { return !later_.empty(); }
    void retry();  ///< Those that were refused are due again.
    void reset();  ///< The connection is another one, which has no subscriptions.

    Entry* find(std::string_view name, bool pattern);
    /// Topics that Redis had confirmed already when a handler was added; each once.
    std::vector<Topic> take_late_comers() { return std::exchange(late_comers_, {}); }

private:
    struct Hash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const noexcept {
            return std::hash<std::string_view>{}(text);
        }
    };
    using Entries = std::unordered_map<std::string, Entry, Hash, std::equal_to<>>;
    using List = std::vector<Entry*>;

    static bool needs(Entry const& entry, bool subscribe) noexcept;
    /// Puts `entry` where it belongs after something about it changed; forgets it if nobody cares.
    void settle(Entry& entry);
    void enlist(Entry& entry, bool subscribe);
    /// Adds `entry` to the command that is being made, if it needs that.
    void ask(Entry& entry);
    void answered(Entry& entry);
    void drop_handler(Entry& entry, PushHandler const& handler);

    Limits limits_;
    std::array<Entries, 2> entries_;                           // Channels, patterns.
    std::array<std::array<std::deque<Entry*>, 2>, 2> queues_;  // By verb, then by kind.
    std::deque<std::pair<Command, List>> halves_;              // Of refused commands, still to try.
    List later_;                                               // Refused.
    std::vector<Topic> late_comers_;

    Command command_;           // Being made, or out.
    std::deque<Entry*> asked_;  // By that command, and not answered.
};

}  // namespace rollcall::redis
