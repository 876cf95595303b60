#include "registry/live/heard_messages.hpp"

#include <string_view>
#include <unordered_set>
#include <utility>

namespace rollcall::live {

void HeardMessages::add(HeardMessage message, std::size_t bytes) {
    if (waiting_.size() >= most || bytes > most_bytes - bytes_) return;
    bytes_ += bytes;
    waiting_.push_back({std::move(message), bytes});
}

/// What comes later may tell of what the read is too early to see.
void HeardMessages::ask(FeedRead const& read) {
    if (waiting_.empty() || !read.descriptions) return;
    std::unordered_set<std::string_view> const ids{read.ids.begin(), read.ids.end()};
    for (auto& waiting : waiting_) {
        waiting.asked = read.everything || ids.contains(waiting.message.id);
    }
}

std::vector<HeardMessage> HeardMessages::end(bool complete) {
    std::vector<HeardMessage> answered;
    std::vector<Waiting> rest;
    for (auto& waiting : waiting_) {
        if (waiting.asked && complete) {
            bytes_ -= waiting.bytes;
            answered.push_back(std::move(waiting.message));
        } else {
            waiting.asked = false;
            rest.push_back(std::move(waiting));
        }
    }
    waiting_ = std::move(rest);
    return answered;
}

}  // namespace rollcall::live
