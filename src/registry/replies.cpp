#include "registry/replies.hpp"

namespace rollcall {

void read_fields(redis::Value hash, std::vector<HashField>& fields) {
    fields.clear();
    for (auto at = hash.begin(); at != hash.end(); ++at) {
        auto const name = (*at).text();
        if (++at == hash.end()) break;
        fields.emplace_back(name, (*at).text());
    }
}

std::chrono::milliseconds time_of(redis::Value reply) {
    return std::chrono::milliseconds{reply[0].integer() * 1'000 + reply[1].integer() / 1'000};
}

}  // namespace rollcall
