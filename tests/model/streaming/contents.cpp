#include <algorithm>

#include "model/streaming/subject.hpp"
#include "streaming/service_keys.hpp"
#include "support/golden_json.hpp"

namespace rollcall::test {

namespace {

using redis::Value;
using streaming::ServiceKeys;

/// Where the answers to the questions about one key begin.
struct Question {
    std::string key;
    std::string service;
    std::string id;
};

// A sequence takes far less: a TTL is told from the next shorter one.
constexpr long long ttl_slack = 250'000;

/// The TTL that was set last, from what is left of it in milliseconds.
long long ttl_set(long long left, std::string const& key, std::vector<std::string>& odd) {
    if (left < 0) return 0;
    for (auto const ttl : {short_ttl, model_leases[0], model_leases[1]}) {
        if (left <= ttl * 1'000 && left > ttl * 1'000 - ttl_slack) return ttl;
    }
    odd.push_back(key + " has a TTL of " + std::to_string(left) + " ms");
    return 0;
}

void read_hash(Value content, Value left, Question const& question, Subject::Contents& out) {
    if (content.is_error() || content.empty()) {
        if (content.is_error())
            out.odd.push_back(question.key + ": " + std::string{content.text()});
        return;
    }
    auto& hash = out.state.hashes[{question.service, question.id}];
    hash.ttl = ttl_set(left.integer(), question.key, out.odd);
    for (auto at = content.begin(); at != content.end();) {
        std::string field{(*at++).text()};
        hash.fields[std::move(field)] = (*at++).text();
    }
}

void read_heartbeats(Value content, Value left, Question const& question, Subject::Contents& out) {
    if (content.is_error()) out.odd.push_back(question.key + ": " + std::string{content.text()});
    if (left.integer() >= 0) out.odd.push_back(question.key + " has a TTL");
    if (content.is_error()) return;
    auto const add = [&](Value member, Value score) {
        out.state.heartbeats[question.service][std::string{member.text()}] =
            streaming::score_of(score.text());
    };
    for (auto at = content.begin(); at != content.end(); ++at) {
        auto const first = *at;
        if (first.is_aggregate()) {
            add(first[0], first[1]);
        } else {
            add(first, *++at);
        }
    }
}

void read_index(Value content, Value left, std::string const& key, Subject::Contents& out) {
    if (content.is_error()) out.odd.push_back(key + ": " + std::string{content.text()});
    if (left.integer() >= 0) out.odd.push_back(key + " has a TTL");
    if (content.is_error()) return;
    for (auto const member : content) out.state.index.emplace(member.text());
}

std::string text(std::string const& value) { return golden::in_quotes(value); }
std::string text(double value) { return std::to_string(value); }

bool same(std::string const& field, std::string const& a, std::string const& b) {
    return field == "metadata" ? golden::same_but_for_order(a, b) : a == b;
}
bool same(std::string const&, double a, double b) { return a == b; }

/// Compares two maps entry by entry.
template <class Map>
void compare(std::string const& where, Map const& expected, Map const& actual,
             std::vector<std::string>& out) {
    for (auto const& [key, value] : expected) {
        auto const found = actual.find(key);
        if (found == actual.end()) {
            out.push_back(where + ' ' + key + " is missing, should be " + text(value));
        } else if (!same(key, value, found->second)) {
            out.push_back(where + ' ' + key + " should be " + text(value) + ", is " +
                          text(found->second));
        }
    }
    for (auto const& [key, value] : actual) {
        if (!expected.contains(key)) {
            out.push_back(where + ' ' + key + " should not be there, is " + text(value));
        }
    }
}

}  // namespace

Task<Subject::Contents> Subject::contents() const {
    auto const index = prefix_ + ":services";
    std::vector<Question> questions;
    redis::Request request;
    request.push("SMEMBERS", {index});
    request.push("PTTL", {index});
    for (auto const service : model_services) {
        ServiceKeys const keys{prefix_, service};
        auto const heartbeats = keys.heartbeats();
        request.push("ZRANGE", {heartbeats, "0", "-1", "WITHSCORES"});
        request.push("PTTL", {heartbeats});
        questions.push_back({heartbeats, std::string{service}, {}});
        for (auto const id : model_ids) {
            auto const hash = keys.instance(id);
            request.push("HGETALL", {hash});
            request.push("PTTL", {hash});
            questions.push_back({hash, std::string{service}, std::string{id}});
        }
    }
    Contents out;
    redis::Response response;
    auto const outcome = co_await core_->session().exec(request, response, deadline());
    if (outcome.has_error()) {
        out.odd.push_back("cannot read: " + outcome.error().detail());
        co_return out;
    }
    read_index(response[0], response[1], index, out);
    for (std::size_t i = 0; i < questions.size(); ++i) {
        auto const content = response[2 + 2 * i];
        auto const left = response[3 + 2 * i];
        if (questions[i].id.empty()) {
            read_heartbeats(content, left, questions[i], out);
        } else {
            read_hash(content, left, questions[i], out);
        }
    }
    co_return out;
}

std::vector<std::string> differences(RegistryState const& expected,
                                     Subject::Contents const& actual) {
    auto out = actual.odd;
    std::map<std::string, std::string> expected_index;
    std::map<std::string, std::string> actual_index;
    for (auto const& service : expected.index) expected_index[service] = "a service";
    for (auto const& service : actual.state.index) actual_index[service] = "a service";
    compare("index:", expected_index, actual_index, out);
    for (auto const service : model_services) {
        std::string const name{service};
        auto const scores = [&](RegistryState const& state) {
            auto const found = state.heartbeats.find(name);
            return found == state.heartbeats.end() ? std::map<std::string, double>{}
                                                   : found->second;
        };
        compare("heartbeats of " + name + ':', scores(expected), scores(actual.state), out);
        for (auto const id : model_ids) {
            auto const hash = [&](RegistryState const& state) {
                auto const found = state.hashes.find({name, std::string{id}});
                return found == state.hashes.end() ? RegistryState::Hash{} : found->second;
            };
            auto const where = "hash " + name + '/' + std::string{id};
            auto const wanted = hash(expected);
            auto const found = hash(actual.state);
            compare(where + ':', wanted.fields, found.fields, out);
            if (wanted.ttl != found.ttl) {
                out.push_back(where + ": TTL should be " + std::to_string(wanted.ttl) + ", is " +
                              std::to_string(found.ttl));
            }
        }
    }
    return out;
}

}  // namespace rollcall::test
