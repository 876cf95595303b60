#include "balance/hash_ring.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <gtest/gtest.h>
#include <map>
#include <openssl/evp.h>
#include <string>
#include <string_view>
#include <vector>

#include "balance/random.hpp"
#include "balance/ring_hash.hpp"

namespace rollcall::balance {
namespace {

using Ids = std::vector<std::string>;

/// By OpenSSL, byte for byte.
std::uint64_t reference_hash(std::string_view text) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    if (EVP_Digest(text.data(), text.size(), digest, &size, EVP_md5(), nullptr) != 1) std::abort();
    std::uint64_t hash = 0;
    for (int i = 0; i < 8; ++i) hash = hash << 8 | digest[i];
    return hash & 0x7fff'ffff'ffff'ffff;
}

/// As the specification words it.
class ReferenceRing {
public:
    ReferenceRing(std::string const& service, Ids const& ids, int places) {
        for (std::size_t i = 0; i < ids.size(); ++i) {
            for (int place = 0; place < places; ++place) {
                places_[reference_hash(service + ':' + ids[i] + '#' + std::to_string(place))] = i;
            }
        }
    }
    std::size_t find(std::uint64_t hash) const {
        auto const found = places_.lower_bound(hash);
        return found == places_.end() ? places_.begin()->second : found->second;
    }

private:
    std::map<std::uint64_t, std::size_t> places_;
};

IdList list_of(std::string const& service, Ids const& ids) {
    IdList list;
    for (auto const& id : ids) list.add(service + ':' + id);
    return list;
}

Ids some_ids(std::size_t count, Random& random) {
    Ids ids;
    for (std::size_t i = 0; i < count; ++i) {
        auto id = "id-" + std::to_string(random() % 1'000'000'000'000);
        ids.push_back(id.substr(0, 3 + random() % 20) + std::to_string(i));
    }
    return ids;
}

Ids numbered_ids(std::size_t count) {
    Ids ids;
    for (std::size_t i = 0; i < count; ++i) ids.push_back("orders-" + std::to_string(1000 + i));
    return ids;
}

std::string key(std::size_t number) { return "user-" + std::to_string(number); }

TEST(RingHash, IsTheDocumentedOne) {
    for (std::size_t size = 0; size <= 200; ++size) {
        std::array<std::string, 8> texts;
        std::array<std::string_view, 8> views;
        for (std::size_t i = 0; i < 8; ++i) {
            texts[i].assign((size + 29 * i) % 201, static_cast<char>('a' + i));
            views[i] = texts[i];
        }
        auto const hashes = ring_hashes(views);
        for (std::size_t i = 0; i < 8; ++i) {
            EXPECT_EQ(hashes[i], reference_hash(texts[i])) << texts[i].size();
            EXPECT_EQ(ring_hash(texts[i]), reference_hash(texts[i])) << texts[i].size();
        }
    }
    std::string const megabyte(1 << 20, '\xff');
    EXPECT_EQ(ring_hash(megabyte), reference_hash(megabyte));
}

TEST(RingHash, IsTheDocumentedOneOfNumberedTexts) {
    for (std::size_t size = 0; size <= 200; ++size) {
        std::string const beginning(size, 'x');
        for (std::size_t const count : {1U, 7U, 9U, 128U, 1203U}) {
            std::vector<std::uint64_t> hashes(count);
            ring_hashes(beginning, hashes);
            for (auto const i : {std::size_t{0}, count / 2, count - 1}) {
                ASSERT_EQ(hashes[i], reference_hash(beginning + std::to_string(i)))
                    << size << ' ' << i;
            }
        }
    }
}

TEST(HashRing, EqualsOneThatIsComputedAnotherWay) {
    Random random{1};
    auto const ids = some_ids(1000, random);
    HashRing const ours{list_of("payments", ids), 128};
    ReferenceRing const reference{"payments", ids, 128};
    for (std::size_t i = 0; i < 20'000; ++i) {
        auto const text = std::to_string(random());
        ASSERT_EQ(ours.find(ring_hash(text)), reference.find(reference_hash(text))) << text;
    }
    constexpr auto last = (std::uint64_t{1} << 63) - 1;
    EXPECT_EQ(ours.find(0), reference.find(0));
    EXPECT_EQ(ours.find(last), reference.find(last));
}

TEST(HashRing, EqualsOneThatIsComputedAnotherWayForFewPlaces) {
    Random random{2};
    for (std::size_t const size : {1U, 2U, 3U, 5U, 17U}) {
        for (std::uint32_t const places : {1U, 2U, 3U, 7U, 8U, 9U, 200U}) {
            auto const ids = some_ids(size, random);
            HashRing const ours{list_of("s", ids), places};
            ReferenceRing const reference{"s", ids, static_cast<int>(places)};
            EXPECT_EQ(ours.size(), size * places);
            for (int i = 0; i < 500; ++i) {
                auto const hash = random() >> 1;
                ASSERT_EQ(ours.find(hash), reference.find(hash)) << size << " x " << places;
            }
        }
    }
    EXPECT_EQ((HashRing{list_of("s", {"a"}), 0}.size()), 1U);
}

TEST(HashRing, GivesASharedPlaceToTheLaterCandidate) {
    Ids const twice{"a", "b", "a"};
    HashRing const ours{list_of("s", twice), 16};
    ReferenceRing const reference{"s", twice, 16};
    Random random{3};
    for (int i = 0; i < 1000; ++i) {
        auto const hash = random() >> 1;
        ASSERT_EQ(ours.find(hash), reference.find(hash));
        ASSERT_NE(ours.find(hash), 0U);
        // Unless that one is not wanted.
        ASSERT_NE(ours.find(hash, [](std::size_t at) { return at < 2; }), 2U);
    }
}

void expect_same(HashRing const& changed, Ids const& ids, std::uint32_t places, Random& random) {
    ASSERT_TRUE(changed.ids() == list_of("payments", ids));
    HashRing const afresh{list_of("payments", ids), places};
    ASSERT_EQ(changed.size(), afresh.size());
    for (int i = 0; i < 2000; ++i) {
        auto const hash = random() >> 1;
        ASSERT_EQ(changed.find(hash), afresh.find(hash));
    }
}

TEST(HashRing, IsTheSameAfterChangesAsMadeAfresh) {
    Random random{4};
    for (std::uint32_t const places : {1U, 3U, 128U}) {
        Ids ids = numbered_ids(60);
        HashRing ring{list_of("payments", ids), places};
        std::size_t fresh = 0;
        for (int round = 0; round < 200; ++round) {
            for (auto left = 1 + random() % 3; left > 0; --left) {
                auto const at = static_cast<std::ptrdiff_t>(random() % (ids.size() + 1));
                auto const what = random() % 8;
                if (what < 3 || ids.size() < 3) {
                    ids.insert(ids.begin() + at, "new-" + std::to_string(++fresh));
                } else if (what < 6) {
                    ids.erase(ids.begin() + at % static_cast<std::ptrdiff_t>(ids.size()));
                } else if (what == 6) {
                    std::rotate(ids.begin(), ids.begin() + at / 2, ids.begin() + at);
                } else {
                    ids.insert(ids.begin() + at, ids[random() % ids.size()]);
                }
            }
            ring = ring.changed(list_of("payments", ids));
            ASSERT_NO_FATAL_FAILURE(expect_same(ring, ids, places, random)) << round;
        }
    }
}

TEST(HashRing, IsTheSameAfterGreatChangesAsMadeAfresh) {
    Random random{5};
    HashRing ring{{}, 128};
    for (std::size_t const size : {1U, 2U, 100U, 1000U, 999U, 3U, 300U, 1U}) {
        auto const ids = numbered_ids(size);
        ring = ring.changed(list_of("payments", ids));
        ASSERT_NO_FATAL_FAILURE(expect_same(ring, ids, 128, random)) << size;
    }
}

TEST(HashRing, MovesOnlyKeysOfWhoComesOrGoes) {
    auto const ids = numbered_ids(100);
    HashRing const all{list_of("payments", ids), 128};
    for (std::size_t const gone : {0U, 37U, 99U}) {
        auto rest = ids;
        rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(gone));
        auto const without = all.changed(list_of("payments", rest));
        std::size_t moved = 0;
        for (std::size_t i = 0; i < 50'000; ++i) {
            auto const hash = ring_hash(key(i));
            auto const& before = ids[all.find(hash)];
            auto const& after = rest[without.find(hash)];
            if (before == after) continue;
            ++moved;
            ASSERT_EQ(before, ids[gone]);
        }
        EXPECT_GT(moved, 0U);
        // Who is not allowed is as one who is not there.
        for (std::size_t i = 0; i < 5'000; ++i) {
            auto const hash = ring_hash(key(i));
            ASSERT_EQ(ids[all.find(hash, [&](std::size_t at) { return at != gone; })],
                      rest[without.find(hash)]);
        }
    }
}

TEST(HashRing, GivesEveryInstanceItsShare) {
    for (std::size_t const size : {2U, 3U, 10U, 30U, 100U}) {
        auto const ids = numbered_ids(size);
        HashRing const ring{list_of("payments", ids), 128};
        std::vector<std::uint64_t> counted(size);
        constexpr std::uint64_t keys = 1'000'000;
        for (std::uint64_t i = 0; i < keys; ++i) ++counted[ring.find(ring_hash(key(i)))];
        auto const fair = 1.0 / static_cast<double>(size);
        auto const bound = 4 * std::sqrt(fair * (1 - fair) / (128.0 * static_cast<double>(size)));
        for (std::size_t i = 0; i < size; ++i) {
            EXPECT_NEAR(static_cast<double>(counted[i]) / keys, fair, bound)
                << ids[i] << " of " << size;
        }
    }
}

}  // namespace
}  // namespace rollcall::balance
