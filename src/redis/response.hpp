#pragma once

#include <boost/redis/adapter/result.hpp>  // flat_tree.hpp alone breaks what includes this later.
#include <boost/redis/resp3/flat_tree.hpp>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

namespace rollcall::redis {

/// One value of a reply: a cursor into the response that holds it. Any reply can be asked anything:
/// what it does not have is empty. A default one is null.
class Value {
public:
    class iterator;
    using const_iterator = iterator;

    Value() = default;

    bool is_error() const noexcept {  ///< Redis refused; `text()` is its message.
        return node_ &&
               (node_->data_type == Type::simple_error || node_->data_type == Type::blob_error);
    }
    bool is_null() const noexcept { return !node_ || node_->data_type == Type::null; }
    bool is_aggregate() const noexcept {  ///< Array, set, map or push.
        return node_ && boost::redis::resp3::is_aggregate(node_->data_type);
    }

    std::string_view text() const noexcept {  ///< Bytes of a string, number or error; else empty.
        if (!node_) return {};
        if (node_->data_type == Type::blob_string) return node_->value;
        return other_text();
    }
    /// The number of an integer reply or of decimal text; `otherwise` for anything else.
    std::int64_t integer(std::int64_t otherwise = 0) const noexcept;

    /// Direct elements; a map counts its keys and its values.
    std::size_t size() const noexcept;
    bool empty() const noexcept { return size() == 0; }
    iterator begin() const noexcept;
    iterator end() const noexcept;
    /// The element at `index`, null behind the end. Cost: walks over those before it.
    Value operator[](std::size_t index) const noexcept;

private:
    friend class Response;
    using Node = boost::redis::resp3::node_view;
    using Type = boost::redis::resp3::type;
    Value(Node const* node, Node const* end) : node_(node), end_(end) {}

    std::string_view other_text() const noexcept;

    Node const* node_ = nullptr;
    Node const* end_ = nullptr;  // Of all nodes of the response.
};

class Value::iterator {
public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Value;
    using difference_type = std::ptrdiff_t;
    using pointer = void;
    using reference = Value;

    iterator() = default;

    Value operator*() const noexcept { return {node_, end_}; }
    iterator& operator++() noexcept {
        auto const depth = node_->depth;
        do {
            ++node_;
        } while (node_ != end_ && node_->depth > depth);
        --left_;
        return *this;
    }
    iterator operator++(int) noexcept {
        auto before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(iterator a, iterator b) noexcept { return a.left_ == b.left_; }

private:
    friend class Value;
    iterator(Node const* node, Node const* end, std::size_t left)
        : node_(node), end_(end), left_(left) {}

    Node const* node_ = nullptr;
    Node const* end_ = nullptr;
    std::size_t left_ = 0;  // Elements from here on.
};

/// Whether Redis refused because the key holds another type.
inline bool is_wrong_type(Value reply) noexcept {
    return reply.is_error() && reply.text().starts_with("WRONGTYPE");
}

/// The replies to a request, in order. Values are valid while it lives and is not reused.
class Response {
public:
    Response() = default;
    Response(Response&&) noexcept = default;
    Response& operator=(Response&&) noexcept = default;
    Response(Response const&) = delete;
    Response& operator=(Response const&) = delete;

    std::size_t size() const noexcept { return replies_.size(); }
    /// The reply to the command at `index`; null behind the last.
    Value operator[](std::size_t index) const noexcept;
    void clear() noexcept;
    /// Whether the request was sent again because a connection broke before its answer: the first
    /// time it may have been carried out, too, and what is told here be about the second.
    bool repeated() const noexcept { return repeated_; }
    /// By which of its session's connections all of it came, counted from 1; 0 when by more than
    /// one, or none.
    std::uint64_t connection() const noexcept { return connection_; }
    /// Memory for so much is set aside when the first reply comes, and not grown step by step.
    void expect(std::size_t nodes, std::size_t bytes) { expected_ = {nodes, bytes}; }

    // For the session: how a reply is put in, node by node, and how some are exchanged.
    void begin_reply();
    void add(boost::redis::resp3::node_view const& node);
    void end_reply();
    void note_repetition() noexcept { repeated_ = true; }
    void note_connection(std::uint64_t number) noexcept { connection_ = number; }
    /// Puts the replies of `again` in place of those at `positions`.
    void replace(std::vector<std::size_t> const& positions, Response&& again);

private:
    struct Reply {
        std::size_t node;
        bool replaced;
    };
    struct Expected {
        std::size_t nodes = 0;
        std::size_t bytes = 0;
    };

    boost::redis::resp3::flat_tree tree_;
    boost::redis::resp3::flat_tree replaced_;
    std::vector<Reply> replies_;
    Expected expected_;
    std::uint64_t connection_ = 0;
    bool repeated_ = false;
};

}  // namespace rollcall::redis
