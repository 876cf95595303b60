#include "rollcall/error.hpp"

#include "core/errc_table.hpp"

namespace rollcall {

std::span<ErrcRow const> errc_table() noexcept {
    static constexpr ErrcRow rows[] = {
        {errc::timeout, "timeout", "no answer within the deadline", true, 504, 5},
        {errc::not_connected, "not_connected", "Redis cannot be reached", true, 503, 4},
        {errc::unavailable, "unavailable", "Redis cannot serve now", true, 503, 4},
        {errc::overloaded, "overloaded", "too many requests, or Redis is out of memory", true, 503,
         1},
        {errc::cancelled, "cancelled", "cancelled by the caller", false, 499, 1},
        {errc::access_denied, "access_denied", "wrong credentials or a missing right", false, 500,
         1},
        {errc::unexpected_reply, "unexpected_reply",
         "Redis refused, or answered something unexpected", false, 502, 1},
        {errc::not_supported, "not_supported", "this layout cannot do that", false, 501, 1},
        {errc::crosses_slots, "crosses_slots", "the name needs a hash tag on Redis Cluster", false,
         400, 1},
        {errc::closed, "closed", "the client is closed, or used in a forked child", false, 503, 1},
        {errc::no_instance, "no_instance", "no instance of the service is available", true, 503, 3},
        {errc::circuit_open, "circuit_open", "the circuit breaker is open", true, 503, 1},
    };
    return rows;
}

ErrcRow const* find_row(std::error_code code) noexcept {
    if (code.category() != error_category()) return nullptr;
    for (auto const& row : errc_table()) {
        if (static_cast<int>(row.code) == code.value()) return &row;
    }
    return nullptr;
}

namespace {

class Category final : public std::error_category {
public:
    char const* name() const noexcept override { return "rollcall"; }
    std::string message(int value) const override {
        auto const* row = find_row({value, *this});
        return row ? std::string{row->meaning} : "unknown error";
    }
};

}  // namespace

std::error_category const& error_category() noexcept {
    static Category const category;
    return category;
}

std::error_code make_error_code(errc code) noexcept {
    return {static_cast<int>(code), error_category()};
}

bool is_transient(std::error_code code) noexcept {
    auto const* row = find_row(code);
    return row && row->transient;
}

}  // namespace rollcall
