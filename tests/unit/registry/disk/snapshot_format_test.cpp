#include "registry/disk/snapshot_format.hpp"

#include <gtest/gtest.h>

#include "unit/registry/disk/saved.hpp"

namespace rollcall::disk {
namespace {

using test::origin;
using test::saved_service;

constexpr std::size_t digest_at = 20;
constexpr std::size_t body_at = digest_at + 32;

void expect_same(SavedService const& read, SavedService const& written) {
    EXPECT_EQ(read.service, written.service);
    EXPECT_EQ(read.confirmed_at, written.confirmed_at);
    ASSERT_EQ(read.instances.size(), written.instances.size());
    for (std::size_t i = 0; i < read.instances.size(); ++i) {
        auto const& [instance, registered, heartbeat, lease] = read.instances[i];
        EXPECT_EQ(*instance, *written.instances[i].instance);
        EXPECT_EQ(registered, written.instances[i].registered_at);
        EXPECT_EQ(heartbeat, written.instances[i].last_heartbeat_at);
        EXPECT_EQ(lease, written.instances[i].lease_until);
    }
}

/// So that what is wrong with it is not that it is damaged.
std::string signed_anew(std::string bytes) {
    auto const digest = sha256(bytes.substr(body_at));
    return bytes.replace(digest_at, digest.size(), digest);
}

std::string why(std::string_view bytes) { return decode(bytes, origin(), "web").why; }

TEST(SnapshotFormat, WhatWasWrittenIsRead) {
    for (std::size_t const size : {std::size_t{0}, std::size_t{1}, std::size_t{7}}) {
        auto const saved = saved_service(size);
        auto const bytes = encode(origin(), saved);
        auto const read = decode(bytes, origin(), "web");
        ASSERT_TRUE(read.saved) << read.why;
        expect_same(*read.saved, saved);
        EXPECT_EQ(time_of(bytes), saved.confirmed_at);
    }
}

TEST(SnapshotFormat, NothingIsReadOfATruncatedOne) {
    auto const bytes = encode(origin(), saved_service());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
        EXPECT_FALSE(decode(bytes.substr(0, size), origin(), "web").saved) << size;
    }
    EXPECT_FALSE(decode(bytes + '\0', origin(), "web").saved);
}

TEST(SnapshotFormat, NoFlippedBitGoesUnnoticed) {
    auto bytes = encode(origin(), saved_service());
    for (std::size_t at = 0; at < 8 * bytes.size(); ++at) {
        auto const flip = static_cast<char>(1 << (at % 8));
        bytes[at / 8] = static_cast<char>(bytes[at / 8] ^ flip);
        EXPECT_FALSE(decode(bytes, origin(), "web").saved) << at;
        bytes[at / 8] = static_cast<char>(bytes[at / 8] ^ flip);
    }
    EXPECT_TRUE(decode(bytes, origin(), "web").saved);
}

TEST(SnapshotFormat, TellsWhatIsWrong) {
    auto const bytes = encode(origin(), saved_service());
    EXPECT_EQ(why(""), "is no snapshot");
    EXPECT_EQ(why("REDIS0011"), "is no snapshot");
    auto other = bytes;
    other[digest_at - 2] = '2';
    EXPECT_EQ(why(other), "is of another version");
    other = bytes;
    other.back() = static_cast<char>(other.back() ^ 1);
    EXPECT_EQ(why(other), "is damaged");
    EXPECT_EQ(decode(bytes, origin(), "db").why, "is of another service");
}

TEST(SnapshotFormat, BelongsToOneOrigin) {
    auto const bytes = encode(origin(), saved_service());
    for (auto const part : {&Origin::server, &Origin::layout, &Origin::name_space}) {
        auto other = origin();
        other.*part += "2";
        EXPECT_EQ(decode(bytes, other, "web").why, "is of another server, layout or namespace");
    }
}

TEST(SnapshotFormat, MakesNoSenseOfWhatIsSignedAndWrong) {
    auto const good = encode(origin(), saved_service());
    for (std::size_t size = body_at; size < good.size(); ++size) {
        EXPECT_FALSE(decode(signed_anew(good.substr(0, size)), origin(), "web").saved) << size;
    }
    EXPECT_EQ(why(signed_anew(good + "x")), "makes no sense");
    auto twice = saved_service(1);
    twice.instances.push_back(twice.instances[0]);
    EXPECT_EQ(why(encode(origin(), twice)), "makes no sense");
    auto far = good;
    far[body_at + 6] = '\x7f';  // Of the time.
    EXPECT_EQ(why(signed_anew(far)), "makes no sense");
    EXPECT_FALSE(time_of(far));
    auto timeless = good;
    timeless.replace(body_at, 8, std::string{"\0\0\0\0\0\0\0\x80", 8});
    EXPECT_EQ(why(signed_anew(timeless)), "makes no sense");
}

TEST(SnapshotFormat, TimesThatNobodyCanMeanAreLeftOut) {
    auto saved = saved_service(1);
    saved.instances[0].registered_at = std::chrono::system_clock::time_point::max();
    saved.instances[0].lease_until = std::chrono::system_clock::time_point::min();
    auto const read = decode(encode(origin(), saved), origin(), "web");
    ASSERT_TRUE(read.saved) << read.why;
    EXPECT_FALSE(read.saved->instances[0].registered_at);
    EXPECT_FALSE(read.saved->instances[0].lease_until);
}

TEST(SnapshotFormat, ChecksumsAreThoseOfSha256) {
    EXPECT_EQ(sha256("abc").substr(0, 4), "\xba\x78\x16\xbf");
}

}  // namespace
}  // namespace rollcall::disk
