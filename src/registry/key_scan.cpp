#include "registry/key_scan.hpp"

#include <array>
#include <chrono>

#include "redis/request.hpp"
#include "redis/response.hpp"

namespace rollcall {

std::string escaped_for_match(std::string_view text) {
    std::string pattern;
    for (char const c : text) {
        if (std::string_view{"*?[]^\\"}.find(c) != std::string_view::npos) pattern += '\\';
        pattern += c;
    }
    return pattern;
}

Task<Result<KeyScan>> scan_keys(redis::Session& session, std::string const& pattern,
                                std::function<void(std::string_view key)> const& on_key,
                                Deadline deadline) {
    auto const start = std::chrono::steady_clock::now();
    auto const last = start + (deadline - start) / 2;
    KeyScan result;
    std::string cursor = "0";
    do {
        redis::Request request;
        redis::Response response;
        std::array<std::string_view, 5> const arguments{cursor, "MATCH", pattern, "COUNT", "1000"};
        request.push("SCAN", arguments);
        auto const outcome = co_await session.exec(request, response, deadline);
        if (outcome.has_error()) co_return outcome.error();
        auto const reply = response[0];
        if (reply.is_error()) {
            result.refused = reply.text();
            co_return result;
        }
        for (auto const key : reply[1]) on_key(key.text());
        cursor = reply[0].text();
        if (std::chrono::steady_clock::now() > last) {
            result.complete = cursor == "0";
            break;
        }
    } while (cursor != "0");
    co_return result;
}

}  // namespace rollcall
