#include "rollcall/streaming/consistent_hash_load_balancer.hpp"

#include <boost/json/serialize.hpp>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "balance/ring_hash.hpp"
#include "unit/streaming/balanced.hpp"
#include "unit/streaming/vectors.hpp"

namespace rollcall::streaming {
namespace {

using test::candidate;
using test::choose;
using test::Instances;
using test::weighted;

/// As the specification words it, on hashes that are tested elsewhere.
class Book {
public:
    explicit Book(Instances const& candidates) {
        for (auto const& one : candidates) {
            auto const id = one.service_name + ':' + one.instance_id + '#';
            for (int i = 0; i < 128; ++i) {
                ring_[balance::ring_hash(id + std::to_string(i))] = one.instance_id;
            }
        }
    }

    std::string find(std::string const& key) const {
        auto const found = ring_.lower_bound(balance::ring_hash(key));
        return found == ring_.end() ? ring_.begin()->second : found->second;
    }

private:
    std::map<std::uint64_t, std::string> ring_;
};

std::string by_the_book(Instances const& candidates, std::string const& key) {
    return Book{candidates}.find(key);
}

TEST(ConsistentHash, HashesAreTheDocumentedOnes) {
    for (auto const& row : test::rows("choices", "hashes")) {
        TRACE_ROW(row);
        EXPECT_EQ(balance::ring_hash(test::text(row.at("text"))),
                  row.at("expect").to_number<std::uint64_t>());
    }
}

TEST(ConsistentHash, ChoosesWhatJavaChooses) {
    auto const candidates = weighted({1, 1, 1});
    for (auto const& row : test::rows("choices", "consistent")) {
        TRACE_ROW(row);
        ConsistentHashLoadBalancer balancer{static_cast<int>(row.at("nodes").as_int64())};
        auto const& keys = row.at("keys").as_array();
        for (std::size_t i = 0; i < keys.size(); ++i) {
            ChooseOptions options;
            std::string const key = test::text(keys[i].is_null() ? test::json::value{""} : keys[i]);
            if (!keys[i].is_null()) options.key = key;
            EXPECT_EQ(choose(balancer, candidates, options),
                      test::text(row.at("expect").as_array().at(i)))
                << key;
        }
    }
}

TEST(ConsistentHash, EqualsTheBookForAThousandIdsAndKeys) {
    Instances candidates;
    for (std::size_t i = 0; i < 1000; ++i) {
        candidates.push_back(
            candidate("id-" + std::to_string(balance::ring_hash(std::to_string(i)))));
    }
    ConsistentHashLoadBalancer balancer;
    Book const book{candidates};
    for (int i = 0; i < 1000; ++i) {
        auto const key = "key/" + std::to_string(i * 7919);
        ASSERT_EQ(choose(balancer, candidates, {.key = key}), book.find(key));
    }
}

TEST(ConsistentHash, MovesOnlyKeysOfWhoComesOrGoes) {
    ConsistentHashLoadBalancer balancer;
    auto const all = weighted(std::vector<int>(50, 1));
    auto some = all;
    some.erase(some.begin() + 17);
    std::string_view const gone = "i18";
    std::size_t moved = 0;
    for (int i = 0; i < 5000; ++i) {
        auto const key = std::to_string(i);
        auto const before = choose(balancer, all, {.key = key});
        auto const after = choose(balancer, some, {.key = key});
        EXPECT_EQ(choose(balancer, all, {.key = key, .exclude = {&gone, 1}}), after);
        if (before == after) continue;
        ++moved;
        ASSERT_EQ(before, gone);
    }
    EXPECT_GT(moved, 0U);
}

TEST(ConsistentHash, Defect51TheRingIsMadeOnce) {
    // Had each choice made the ring, these would take minutes.
    ConsistentHashLoadBalancer balancer;
    auto const many = weighted(std::vector<int>(1000, 1));
    for (int i = 0; i < 20'000; ++i) {
        auto const key = std::to_string(i);
        ASSERT_NE(balancer.choose("svc", many, {.key = key}), nullptr);
    }
}

TEST(ConsistentHash, TakesTheServiceOfTheInstances) {
    // Who asks may have another name for it than what is stored.
    ConsistentHashLoadBalancer balancer;
    auto candidates = weighted({1, 1, 1, 1, 1});
    Instances nameless = candidates;
    for (auto& one : candidates) one.service_name = "a-b";
    for (auto& one : nameless) one.service_name.clear();
    auto const* const chosen = balancer.choose("a b", candidates, {.key = "user-7"});
    ASSERT_NE(chosen, nullptr);
    EXPECT_EQ(chosen->instance_id, by_the_book(candidates, "user-7"));
    EXPECT_EQ(balancer.choose("a-b", nameless, {.key = "user-7"})->instance_id,
              chosen->instance_id);
}

TEST(ConsistentHash, TakesAKeyOfAMegabyteAndBytes) {
    ConsistentHashLoadBalancer balancer;
    auto const candidates = weighted({1, 1, 1});
    std::string const key(1 << 20, '\xfe');
    EXPECT_EQ(choose(balancer, candidates, {.key = key}), by_the_book(candidates, key));
    std::string const bytes{"\0\xff\n", 3};
    EXPECT_EQ(choose(balancer, candidates, {.key = bytes}), by_the_book(candidates, bytes));
}

TEST(ConsistentHash, RefusesAnAbsurdNumberOfNodes) {
    EXPECT_THROW(ConsistentHashLoadBalancer{65'537}, std::invalid_argument);
    EXPECT_NO_THROW(ConsistentHashLoadBalancer{-5});
}

}  // namespace
}  // namespace rollcall::streaming
