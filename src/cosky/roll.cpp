#include "cosky/roll.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "redis/request.hpp"
#include "registry/exchange.hpp"

#include "rollcall/cosky/discovery_key_generator.hpp"

namespace rollcall::cosky {
namespace {

/// An id on the list of the service with this number.
struct Listed {
    std::size_t service = 0;
    std::string id = {};
};

/// What is on the lists, in the order of the services. A list that cannot be read is a failure of
/// its service; without an answer, of all that lack one.
Task<std::vector<Listed>> read_lists(redis::Session& session, std::string const& ns,
                                     std::span<std::string const> services,
                                     std::vector<Roll>& rolls, Deadline deadline) {
    std::vector<std::vector<std::string>> lists(services.size());
    std::vector<bool> answered(services.size());
    Reads reads;
    reads.items = services.size();
    reads.bytes = 1'024;
    reads.push = [&](redis::Request& request, std::size_t i) {
        auto const key = DiscoveryKeyGenerator::instance_idx_key(ns, services[i]);
        std::array<std::string_view, 1> const arguments{key};
        request.push("SMEMBERS", arguments);
    };
    reads.take = [&](redis::Response const& response, std::size_t first,
                     std::size_t last) -> std::optional<Failure> {
        for (auto i = first; i < last; ++i) {
            auto const reply = response[i - first];
            answered[i] = true;
            if (reply.is_error()) {
                rolls[i].failure = redis::failure_of(reply, "read the instances of " + services[i]);
                rolls[i].no_list = redis::is_wrong_type(reply);
                continue;
            }
            for (auto const id : reply) lists[i].emplace_back(id.text());
        }
        return std::nullopt;
    };
    auto const read = co_await exec_reads(session, reads, deadline);
    std::vector<Listed> listed;
    for (std::size_t i = 0; i < services.size(); ++i) {
        if (!answered[i]) rolls[i].failure = read.error();
        std::ranges::sort(lists[i]);
        for (auto& id : lists[i]) listed.push_back({i, std::move(id)});
    }
    co_return listed;
}

}  // namespace

Task<std::vector<Roll>> call_rolls(redis::Session& session, std::string const& ns,
                                   std::span<std::string const> services, Deadline deadline) {
    std::vector<Roll> rolls(services.size());
    auto listed = co_await read_lists(session, ns, services, rolls, deadline);
    std::vector<bool> answered(listed.size());
    Reads reads;
    reads.items = listed.size();
    reads.push = [&](redis::Request& request, std::size_t i) {
        auto const key = DiscoveryKeyGenerator::instance_key(ns, listed[i].id);
        std::array<std::string_view, 1> const arguments{key};
        request.push("EXISTS", arguments);
    };
    reads.take = [&](redis::Response const& response, std::size_t first,
                     std::size_t last) -> std::optional<Failure> {
        for (auto i = first; i < last; ++i) {
            auto const reply = response[i - first];
            auto& roll = rolls[listed[i].service];
            answered[i] = true;
            if (reply.is_error()) {
                roll.failure = redis::failure_of(reply, "read " + listed[i].id);
            } else if (reply.integer() == 0) {
                roll.expired.push_back(std::move(listed[i].id));
            } else {
                ++roll.living;
            }
        }
        return std::nullopt;
    };
    auto const read = co_await exec_reads(session, reads, deadline);
    for (std::size_t i = 0; i < listed.size(); ++i) {
        if (!answered[i]) rolls[listed[i].service].failure = read.error();
    }
    co_return rolls;
}

}  // namespace rollcall::cosky
