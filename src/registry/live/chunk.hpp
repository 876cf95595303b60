#pragma once

#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "balance/alias_table.hpp"
#include "balance/random.hpp"
#include "registry/live/record.hpp"
#include "registry/live/shares.hpp"

namespace rollcall::live {

/// Some neighbours in the order of their ids, with what a weighted choice among them needs.
///
/// Built by one thread; once sealed it never changes, and tables share it.
class Chunk : public boost::intrusive_ref_counter<Chunk> {
public:
    static constexpr std::size_t most = 32;  ///< See `Branch`.

    struct Entry {
        RecordPtr record;
        std::uint32_t weight = 0;  ///< 0 for whom gets no traffic.
        bool suspect = false;

        explicit Entry(RecordPtr of) : record(std::move(of)) { weigh(); }
        void weigh() noexcept;
    };

    Chunk() = default;
    /// Not sealed, with room for one more.
    Chunk(Chunk const& other);
    Chunk& operator=(Chunk const&) = delete;

    std::size_t width() const noexcept { return entries_.size(); }
    std::size_t size() const noexcept { return entries_.size(); }
    std::span<ServiceInstance const* const> instances() const noexcept { return instances_; }
    std::vector<Entry> const& entries() const noexcept { return entries_; }
    std::string_view first_id() const noexcept { return instances_.front()->instance_id; }
    std::string_view last_id() const noexcept { return instances_.back()->instance_id; }
    Record const* find(std::string_view id) const noexcept;

    bool sealed() const noexcept { return sealed_; }
    Shares const& shares() const noexcept { return shares_; }
    /// In proportion to the weights of those who are trusted; of the suspects if nobody is. Not
    /// where there are no shares.
    ServiceInstance const& choose(balance::Random& random) const noexcept {
        return *instances_[choice_.pick(random())];
    }

    // While it is not sealed:

    /// Whether it was not there before. May leave one more than `most`.
    bool put(RecordPtr record);
    /// It is there.
    void erase(std::string_view id);
    /// Looks again whether it is suspect. It is there.
    void reconsider(std::string_view id);
    void reconsider_all();
    /// Takes everything from `at` on out, into a chunk of its own.
    boost::intrusive_ptr<Chunk> split(std::size_t at);
    void append(Chunk const& behind);
    void seal();

private:
    /// Where `id` is, or would be.
    std::size_t position(std::string_view id) const noexcept;
    bool holds(std::size_t at, std::string_view id) const noexcept {
        return at < size() && instances_[at]->instance_id == id;
    }

    std::vector<Entry> entries_;
    // The same, as readers want them: iterators need to know nothing but pointers.
    std::vector<ServiceInstance const*> instances_;
    Shares shares_;
    balance::AliasTable choice_;
    bool sealed_ = false;
};

}  // namespace rollcall::live
