#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
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

    /// Whether they are the `size` ids `id_at(0)`, `id_at(1)`, …
    template <class IdAt>
    bool equals(std::size_t size, IdAt const& id_at) const noexcept {
        if (size != ends_.size()) return false;
        auto const* at = text_.data();
        auto const* const end = at + text_.size();
        for (std::size_t i = 0; i < size; ++i) {
            std::string_view const id = id_at(i);
            if (id.size() > static_cast<std::size_t>(end - at) ||
                text_.data() + ends_[i] != at + id.size() ||
                std::memcmp(at, id.data(), id.size()) != 0) {
                return false;
            }
            at += id.size();
        }
        return true;
    }

private:
    std::string text_;
    std::vector<std::size_t> ends_;
};

}  // namespace rollcall::balance
