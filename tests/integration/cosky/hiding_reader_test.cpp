// A reader as CoSky's cache is one (spec 8.2) watches instances that we renew, in real time: it
// keeps the `ttl_at` that it last heard of and hides what has passed it by its own clock, in whole
// seconds. What all leases, phases and missed rounds do is simulated in tests/unit/cosky.

#include <atomic>
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <thread>

#include "integration/cosky/fixture.hpp"

namespace rollcall::cosky::test {
namespace {

/// How long it watches; `ROLLCALL_READER_SECONDS` sets another time.
std::chrono::seconds watching_time() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    constexpr std::chrono::seconds usual{15};
#else
    constexpr std::chrono::seconds usual{120};
#endif
    auto const* const given = std::getenv("ROLLCALL_READER_SECONDS");
    return given ? std::chrono::seconds{std::atoi(given)} : usual;
}

std::int64_t local_seconds() {
    return std::chrono::duration_cast<std::chrono::seconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

/// The cache of one service.
class Reader {
public:
    Reader(RedisServer const& server, std::string const& service)
        : subscriber_(server), asker_(server), prefix_(ns + ":svc_itc:") {
        subscriber_.must({"PSUBSCRIBE", prefix_ + service + "@*"});
        auto const ids = asker_.must({"SMEMBERS", ns + ":svc_itc_idx:" + service}).texts();
        for (auto const& id : ids) load(id);
    }

    /// Applies what has been heard within `time`.
    void listen(std::chrono::milliseconds time) {
        auto const message = subscriber_.receive(time);
        if (message.elements.size() != 4) return;
        auto const id = message.elements[2].text.substr(prefix_.size());
        auto const& event = message.elements[3].text;
        if (event == "register" || event == "renew" || event == "set_metadata") load(id);
        if (event == "deregister" || event == "expired") cached_.erase(id);
    }

    std::size_t visible() const {
        auto const now = local_seconds();
        std::size_t count = 0;
        for (auto const& [id, ttl_at] : cached_) count += ttl_at >= now ? 1 : 0;
        return count;
    }

private:
    void load(std::string const& id) {
        auto const ttl = asker_.must({"TTL", prefix_ + id}).integer;
        auto const now = std::stoll(asker_.must({"TIME"}).texts().at(0));
        if (ttl > 0) cached_[id] = now + ttl;
    }

    RedisClient subscriber_;
    RedisClient asker_;
    std::string prefix_;
    std::map<std::string, std::int64_t> cached_;
};

struct Timetable {
    std::chrono::milliseconds ttl;
    std::chrono::milliseconds period;
};

class HidingReader : public CoskyTest, public testing::WithParamInterface<Timetable> {};

TEST_P(HidingReader, SeesTheInstanceAtEverySample) {
    auto const& [ttl, period] = GetParam();
    RedisServiceRegistry registry{client, {ttl}};
    registry.register_instance(ns, an_instance("order"));
    std::atomic<bool> done = false;
    std::thread renewing{[&, renewed = &registry, pause = period] {
        auto next = std::chrono::steady_clock::now();
        for (int round = 1; !done; ++round) {
            next += pause;
            while (!done && std::chrono::steady_clock::now() < next) {
                std::this_thread::sleep_for(5ms);
            }
            if (round % 4 != 0) renewed->renew_registered(pause);  // One of four is missed.
        }
    }};
    Reader reader{server(), "order"};
    auto const end = std::chrono::steady_clock::now() + watching_time();
    int hidden = 0;
    int samples = 0;
    while (std::chrono::steady_clock::now() < end) {
        reader.listen(20ms);
        ++samples;
        hidden += reader.visible() == 1 ? 0 : 1;
    }
    done = true;
    renewing.join();
    EXPECT_EQ(hidden, 0) << "of " << samples << " samples";
    EXPECT_GT(samples, 100);
}

INSTANTIATE_TEST_SUITE_P(Cosky, HidingReader,
                         testing::Values(Timetable{10s, 3s}, Timetable{6s, 1s}),
                         [](auto const& timetable) {
                             return "Ttl" + std::to_string(timetable.param.ttl.count()) + "Period" +
                                    std::to_string(timetable.param.period.count());
                         });

}  // namespace
}  // namespace rollcall::cosky::test
