#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rollcall::balance {

/// Ids in an order, in one piece of memory: they are compared with those of every choice.
class IdList {
public:
    void reserve(std::size_t ids, std::size_t bytes) {
        ends_.reserve(ids);
        text_.reserve(bytes);
    }
    void add(std::string_view id) {
        text_ += id;
        ends_.push_back(text_.size());
    }

    std::size_t size() const noexcept { return ends_.size(); }
    std::string_view operator[](std::size_t i) const noexcept {
        auto const begin = i == 0 ? 0 : ends_[i - 1];
        return {text_.data() + begin, ends_[i] - begin};
    }

    std::size_t bytes() const noexcept { return text_.size() + ends_.size() * sizeof ends_[0]; }

    friend bool operator==(IdList const&, IdList const&) = default;

private:
    std::string text_;
    std::vector<std::size_t> ends_;
};

}  // namespace rollcall::balance
