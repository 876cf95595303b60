#pragma once

#include <algorithm>
#include <boost/container/small_vector.hpp>
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
#include "registry/live/chunk.hpp"
#include "registry/live/record.hpp"
#include "registry/live/shares.hpp"

namespace rollcall::live {

/// Chunks, or branches of them, in the order of the ids in them, with what a weighted choice among
/// them needs. None of them is empty.
///
/// Built by one thread; once sealed it never changes, and tables share it. A change copies a list
/// on each level, and counts a reference to each thing in it, which is what it costs. So lists are
/// short, and levels three: at 10,000 instances half the cost of two levels with lists of 100.
template <class Child>
class Branch : public boost::intrusive_ref_counter<Branch<Child>> {
public:
    using ChildPtr = boost::intrusive_ptr<Child>;

    static constexpr std::size_t most = 32;  ///< The uppermost branch may be wider.

    Branch() = default;
    /// Not sealed, with room for one more.
    Branch(Branch const& other) : boost::intrusive_ref_counter<Branch>(other) {
        // As in a chunk.
        for (auto const& child : other.children_) __builtin_prefetch(child.get(), 1);
        children_.reserve(other.width() + 1);
        children_ = other.children_;
    }
    Branch(Branch&&) noexcept = default;
    Branch& operator=(Branch const&) = delete;

    std::size_t width() const noexcept { return children_.size(); }
    std::vector<ChildPtr> const& children() const noexcept { return children_; }
    std::string_view first_id() const noexcept { return children_.front()->first_id(); }
    std::string_view last_id() const noexcept { return children_.back()->last_id(); }
    Record const* find(std::string_view id) const noexcept {
        return children_.empty() ? nullptr : children_[child_for(id)]->find(id);
    }

    bool sealed() const noexcept { return sealed_; }
    Shares const& shares() const noexcept { return shares_; }
    /// As of a chunk.
    ServiceInstance const& choose(balance::Random& random) const noexcept {
        auto const child = width() == 1 ? 0 : choice_.pick(random());
        return children_[child]->choose(random);
    }

    // While it is not sealed, as of a chunk:

    bool put(RecordPtr record) {
        if (children_.empty()) children_.emplace_back(new Child);
        std::string_view const id = record->instance->instance_id;
        auto const at = child_for(id);
        auto& child = own(at);
        bool const added = child.put(std::move(record));
        if (child.width() > Child::most) {
            // Ids that come in order, as after a full read, leave full ones behind.
            bool const in_order = at + 1 == width() && child.last_id() == id;
            auto rest = child.split(in_order ? Child::most : Child::most / 2);
            children_.insert(children_.begin() + offset(at + 1), std::move(rest));
        }
        return added;
    }

    void erase(std::string_view id) {
        auto const at = child_for(id);
        auto& child = own(at);
        child.erase(id);
        if (child.width() == 0) {
            children_.erase(children_.begin() + offset(at));
        } else if (child.width() <= Child::most / 8 && width() > 1) {
            // Far below the half that a split leaves, so that few changes touch a second one.
            join(at > 0 ? at - 1 : 0);
        }
    }

    void reconsider(std::string_view id) { own(child_for(id)).reconsider(id); }

    void reconsider_all() {
        for (std::size_t at = 0; at < width(); ++at) own(at).reconsider_all();
    }

    boost::intrusive_ptr<Branch> split(std::size_t at) {
        boost::intrusive_ptr<Branch> rest{new Branch};
        rest->children_.assign(std::make_move_iterator(children_.begin() + offset(at)),
                               std::make_move_iterator(children_.end()));
        children_.resize(at);
        return rest;
    }

    void append(Branch const& behind) {
        children_.insert(children_.end(), behind.children_.begin(), behind.children_.end());
    }

    void seal() {
        shares_ = {};
        for (auto const& child : children_) {
            if (!child->sealed()) child->seal();
            shares_.add(child->shares());
        }
        choice_ = {};
        if (shares_.any() && width() > 1) {
            boost::container::small_vector<std::uint64_t, 64> weights(width());
            std::transform(
                children_.begin(), children_.end(), weights.begin(),
                [&](ChildPtr const& child) { return child->shares().of(shares_.only_suspects()); });
            choice_ = balance::AliasTable{std::span{weights.data(), weights.size()}};
        }
        sealed_ = true;
    }

private:
    static std::ptrdiff_t offset(std::size_t at) { return static_cast<std::ptrdiff_t>(at); }

    /// Where `id` is if it is anywhere. Not for none.
    std::size_t child_for(std::string_view id) const noexcept {
        // The last that does not begin behind it, or else the first.
        auto const behind = std::upper_bound(children_.begin() + 1, children_.end(), id,
                                             [](std::string_view sought, ChildPtr const& child) {
                                                 return sought < child->first_id();
                                             });
        return static_cast<std::size_t>(behind - children_.begin()) - 1;
    }

    Child& own(std::size_t at) {
        auto& child = children_[at];
        if (child->sealed()) child = ChildPtr{new Child(*child)};
        return *child;
    }

    void join(std::size_t left) {
        auto const right = left + 1;
        if (children_[left]->width() + children_[right]->width() > Child::most / 2) return;
        own(left).append(*children_[right]);
        children_.erase(children_.begin() + offset(right));
    }

    std::vector<ChildPtr> children_;
    Shares shares_;
    balance::AliasTable choice_;
    bool sealed_ = false;
};

}  // namespace rollcall::live
