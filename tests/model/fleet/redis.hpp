#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "model/fleet/contents.hpp"
#include "model/fleet/timeline.hpp"
#include "registry/announce/drain.hpp"

namespace rollcall::test::fleet {

/// Which life of the data it is, as Redis tells: see `Generation`.
struct Lifetime {
    std::uint32_t run = 0;      ///< Of the process.
    std::uint32_t history = 0;  ///< Of the replication.
    std::uint32_t epoch = 0;    ///< Ours; 0: there is none.

    friend bool operator==(Lifetime const&, Lifetime const&) = default;
};

/// What is pushed to who listens.
struct Push {
    enum class Kind : std::uint8_t { message, garbage, invalidation } kind = Kind::message;
    std::string service = {};
    std::string id = {};
    News news = News::changed;
};

/// One server: its data, its clock, and who listens to it. Whatever is done to the data is done by
/// `act`, in one step.
class Redis {
public:
    /// A connection as the server knows it.
    class Listener {
    public:
        virtual bool listens_to(std::string const& service) const = 0;
        virtual bool tracks() const = 0;
        virtual void stop_tracking() = 0;
        virtual void push(Push const& push) = 0;

    protected:
        ~Listener() = default;
    };

    Redis(Timeline const& timeline, Layout layout);

    bool up() const noexcept { return up_; }
    Contents::Clock clock() const;
    /// As it is now.
    Contents& contents() {
        contents_->pass_to(clock());
        return *contents_;
    }
    /// Changes the data, then tells those who listen.
    template <class Change>
    auto act(Change change) {
        if constexpr (std::is_void_v<decltype(change(contents()))>) {
            change(contents());
            tell();
        } else {
            auto result = change(contents());
            tell();
            return result;
        }
    }
    Lifetime lifetime() const noexcept { return lifetime_; }
    void set_epoch_if_none();
    void garbage(std::string const& service);

    Drain drain(std::size_t member) const;
    void mark(std::size_t member, milliseconds time) {
        marks_.at(member) = {clock() + time.count(), ++drains_};
    }
    void set_members(std::size_t count) { marks_.assign(count, {}); }

    void attach(Listener& listener) { listeners_.push_back(&listener); }
    void detach(Listener& listener) { std::erase(listeners_, &listener); }

    // Faults. Whoever stops it has cut all connections.
    void flush();
    void stop() { up_ = false; }
    void start_again();
    void start_empty();
    struct Mark {  // Of an operator.
        Contents::Clock until = 0;
        std::uint64_t number = 0;  // 0: there is none.
    };
    struct Copy {
        std::shared_ptr<Contents const> contents;
        std::uint32_t epoch = 0;
        std::vector<Mark> marks;
    };
    Copy copy() const { return {contents_->copy(), lifetime_.epoch, marks_}; }
    void fail_over(Copy const& copy);

private:
    void tell();
    void invalidate();

    Timeline const& timeline_;
    Layout const layout_;
    std::unique_ptr<Contents> contents_;
    std::vector<Mark> marks_;  // By member.
    std::uint64_t drains_ = 0;
    std::vector<Listener*> listeners_;
    Lifetime lifetime_{1, 1, 0};
    std::uint32_t epochs_ = 0;
    bool up_ = true;
};

}  // namespace rollcall::test::fleet
