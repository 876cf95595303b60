// What clients that come and go leave behind: nothing, and not much time.

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <future>
#include <iostream>
#include <optional>

#include "fixture.hpp"
#include "support/holdings.hpp"

namespace rollcall::live::test {
namespace {

using rollcall::test::Holdings;
using rollcall::test::resident_bytes;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int clients = 100;
constexpr bool sanitized = true;
#else
constexpr int clients = 1'000;
constexpr bool sanitized = false;
#endif
constexpr int parts = 10;
constexpr int first_ones = clients / 5;  // Until memory is laid out as it stays.

class ComingAndGoing : public LiveTest {
protected:
    /// The client of the fixture is there already.
    void SetUp() override { client.wait_until_ready(5s); }

    /// Whether no more is held than `before`, once threads that have ended are gone.
    static bool nothing_is_left(Holdings const& before) {
        return eventually([&] {
            Holdings const now;
            return now.threads <= before.threads && now.descriptors <= before.descriptors;
        });
    }

    /// Has them come and go, and gives what each took.
    template <class Life>
    void let_live(char const* what, Life life) {
        for (int i = 0; i < first_ones; ++i) life(i);
        Holdings const before;
        auto const resident = resident_bytes();
        std::vector<double> each;  // On average, in a part of them, in milliseconds.
        for (int part = 0; part < parts; ++part) {
            auto const took = time_of([&] {
                for (int i = 0; i < clients / parts; ++i) life(part * (clients / parts) + i);
            });
            each.push_back(static_cast<double>(took.count()) * parts / clients);
        }
        // Half of the parts: others may need the machine for a while.
        std::ranges::sort(each);
        auto const usual = each[parts / 2];
        auto const more = static_cast<double>(resident_bytes()) - static_cast<double>(resident);
        std::cout << what << ": " << usual << " ms each, resident memory " << more / 1024
                  << " KiB more after " << clients << '\n';
        EXPECT_TRUE(nothing_is_left(before))
            << Holdings{}.threads - before.threads << " threads, "
            << Holdings{}.descriptors - before.descriptors << " descriptors";
        if (sanitized) return;
        EXPECT_LE(usual, 20);
        EXPECT_LE(more, 1024 * clients) << "less than a KiB for each";
    }
};

TEST_P(ComingAndGoing, AThousandClientsLeaveNothing) {
    let_live("with Redis", [&](int i) {
        Client const own{options()};
        Registry const registry{own, layout()};
        auto const me = registry.announce(instance(i));
        auto const web = registry.service("web");
        std::error_code late;  // On a machine that is busy otherwise.
        (void)web.instances(late);
        auto const watch = web.on_change([](Change const&) {});
    });
    EXPECT_TRUE(admin.must({"KEYS", "*web[-@]*"}).elements.empty());
}

TEST_P(ComingAndGoing, AThousandClientsLeaveNothingWithRedisDown) {
    server.kill();
    let_live("without Redis", [&](int i) {
        Client const own{options()};
        Registry const registry{own, layout()};
        auto const me = registry.announce(instance(i));
        auto const web = registry.service("web");
        auto const watch = web.on_change([](Change const&) {});
    });
}

TEST_P(ComingAndGoing, HandlesOfOneClientLeaveNothing) {
    auto const registry = reader();
    // The callback thread of a client comes with the first call, and stays.
    auto const web = watched(registry);
    Heard heard;
    auto const watch = web.on_change(heard.listener());
    auto const first = registry.announce(instance(clients));
    ASSERT_TRUE(eventually([&] { return heard.size() > 0; }));
    let_live("handles of one client", [&](int i) {
        auto const me = registry.announce(instance(i));
        auto const service = registry.service("web");
        auto const listens = service.on_change([](Change const&) {});
    });
}

TEST_P(ComingAndGoing, WithWorkPendingTheEndTakesASecond) {
    Holdings const before;
    auto own = std::make_unique<Client>(options());
    auto registry = std::make_unique<Registry>(*own, layout());
    std::vector<Announcement> announced;
    for (int i = 0; i < 20; ++i) announced.push_back(registry->announce(instance(i)));
    std::optional<Service> web{registry->service("web")};
    ASSERT_TRUE(eventually([&] { return web->instances().size() == 20; }));
    std::promise<void> running;
    std::promise<void> finish;
    auto const finished = finish.get_future().share();
    std::optional<Watch> watch{web->on_change([&, finished](Change const&) {
        running.set_value();
        finished.wait();
    })};
    announced.push_back(registry->announce(instance(20)));
    running.get_future().wait();
    server.signal(SIGSTOP);
    auto pending = std::async(std::launch::async, [copy = *registry] {
        std::error_code error;
        (void)copy.services(error);
        return error;
    });
    announced.front().update_metadata({{"late", "change"}});
    auto const at_most = 1s + rollcall::test::tolerated_overshoot;
    while (!announced.empty()) EXPECT_LE(time_of([&] { announced.pop_back(); }), at_most);
    EXPECT_LE(time_of([&] { web.reset(); }), at_most);
    EXPECT_LE(time_of([&] { registry.reset(); }), at_most);
    EXPECT_LE(time_of([&] { own.reset(); }), at_most);
    // Ending what is listened to waits for the call that runs: it is the user's.
    finish.set_value();
    EXPECT_LE(time_of([&] { watch.reset(); }), at_most);
    EXPECT_TRUE(pending.get()) << "who waits for an answer has his own deadline";
    server.signal(SIGCONT);
    EXPECT_TRUE(nothing_is_left(before));
}

TEST_P(ComingAndGoing, WhatCanBeFlushedIs) {
    {
        Client const own{options()};
        Registry const registry{own, layout()};
        std::vector<Announcement> announced;
        for (int i = 0; i < 100; ++i) announced.push_back(registry.announce(instance(i)));
        ASSERT_TRUE(eventually([&] { return announced.back().registered(); }));
    }
    EXPECT_TRUE(admin.must({"KEYS", "*web[-@]*"}).elements.empty());
}

INSTANTIATE_TEST_SUITE_P(Layouts, ComingAndGoing, testing::Values("streaming", "cosky"),
                         [](auto const& given) { return std::string{given.param}; });

}  // namespace
}  // namespace rollcall::live::test
