#include "redis/response.hpp"

#include <boost/redis/adapter/adapt.hpp>
#include <charconv>

namespace rollcall::redis {

namespace resp3 = boost::redis::resp3;

std::string_view Value::other_text() const noexcept {
    if (is_null() || is_aggregate()) return {};
    auto text = node_->value;
    // A verbatim string begins with its format, as in "txt:".
    if (node_->data_type == Type::verbatim_string && text.size() >= 4) text.remove_prefix(4);
    return text;
}

std::int64_t Value::integer(std::int64_t otherwise) const noexcept {
    if (is_null() || is_error() || is_aggregate()) return otherwise;
    if (node_->data_type == resp3::type::boolean) return node_->value == "t" ? 1 : 0;
    auto const digits = text();
    std::int64_t number = 0;
    auto const [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return error == std::errc{} && end == digits.data() + digits.size() ? number : otherwise;
}

std::size_t Value::size() const noexcept {
    if (!is_aggregate()) return 0;
    return node_->aggregate_size * resp3::element_multiplicity(node_->data_type);
}

Value::iterator Value::begin() const noexcept {
    return size() == 0 ? iterator{} : iterator{node_ + 1, end_, size()};
}

Value::iterator Value::end() const noexcept { return {}; }

Value Value::operator[](std::size_t index) const noexcept {
    if (index >= size()) return {};
    auto at = begin();
    for (; index > 0; --index) ++at;
    return *at;
}

Value Response::operator[](std::size_t index) const noexcept {
    if (index >= replies_.size()) return {};
    auto const& reply = replies_[index];
    auto const& tree = reply.replaced ? replaced_ : tree_;
    return {tree.begin() + reply.node, tree.end()};
}

void Response::clear() noexcept {
    tree_.clear();
    replaced_.clear();
    replies_.clear();
    connection_ = 0;
    repeated_ = false;
}

void Response::begin_reply() {
    if (expected_.nodes > 0 && replies_.empty()) tree_.reserve(expected_.bytes, expected_.nodes);
    boost::redis::adapter::adapt2(tree_).on_init();
}

void Response::add(boost::redis::resp3::node_view const& node) {
    boost::system::error_code none;
    boost::redis::adapter::adapt2(tree_).on_node(node, none);
}

void Response::end_reply() {
    replies_.push_back({tree_.size(), false});
    boost::redis::adapter::adapt2(tree_).on_done();
}

void Response::replace(std::vector<std::size_t> const& positions, Response&& again) {
    replaced_ = std::move(again.tree_);
    repeated_ = repeated_ || again.repeated_;
    if (connection_ != again.connection_) connection_ = 0;
    for (std::size_t i = 0; i < positions.size(); ++i) {
        replies_[positions[i]] = {again.replies_[i].node, true};
    }
}

}  // namespace rollcall::redis
