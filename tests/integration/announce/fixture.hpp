#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "integration/redis/fixture.hpp"
#include "registry/announce/announcer.hpp"
#include "registry/announce/drain_mark.hpp"
#include "support/log_book.hpp"
#include "support/redis_server.hpp"

#include "rollcall/announcement.hpp"
#include "rollcall/layout.hpp"

namespace rollcall::test {

using announce::Announcer;
using Strings = std::vector<std::string>;

/// What an announcement tells its hook.
class Events {
public:
    void note(AnnouncementEvent event) {
        static constexpr char const* names[] = {"registered", "lost",     "removed_by_other",
                                                "refused",    "conflict", "drained",
                                                "restored",   "released", "persistent"};
        std::lock_guard const lock{mutex_};
        list_.emplace_back(names[static_cast<int>(event)]);
    }
    Strings list() const {
        std::lock_guard const lock{mutex_};
        return list_;
    }
    /// The same, once there are so many: the hook comes behind what it tells of.
    Strings list(std::size_t size) const {
        eventually([&] { return list().size() >= size; });
        return list();
    }
    std::size_t count(std::string const& name) const {
        auto const all = list();
        return static_cast<std::size_t>(std::count(all.begin(), all.end(), name));
    }
    bool has(std::string const& name, std::size_t times = 1) const {
        return eventually([&] { return count(name) >= times; });
    }

private:
    mutable std::mutex mutex_;
    Strings list_;
};

/// A process that announces.
struct Owner {
    Owner(std::string url, Layout const& layout, std::chrono::milliseconds heartbeat,
          LogCallback callback)
        : core(connect_to(std::move(url), std::move(callback))),
          port(layout.make_port()(core, heartbeat)),
          announcer(Announcer::create(core, port, heartbeat)) {}

    Core core;
    std::shared_ptr<LayoutPort> port;
    std::shared_ptr<Announcer> announcer;
};

/// What a layout calls things.
struct LayoutNames {
    std::string name = {};
    std::function<Layout(std::chrono::milliseconds)> layout = {};
    std::function<ServiceInstance(int port)> instance = {};
    std::function<std::string(ServiceInstance const&)> hash_key = {};
    std::string epoch_key = {};
    std::string users = {};  ///< The page of `docs` that says which rights who needs.
    bool disables = false;   ///< What is drained is disabled; else deregistered.

    friend std::ostream& operator<<(std::ostream& out, LayoutNames const& names) {
        return out << names.name;
    }
};

/// A server of its own, and owners in one layout.
class AnnouncerTest : public testing::TestWithParam<LayoutNames> {
protected:
    /// Rounds come only when something calls for them.
    static constexpr std::chrono::milliseconds seldom{60'000};
    static constexpr std::chrono::milliseconds lease{90'000};

    std::unique_ptr<Owner> owner(std::chrono::milliseconds heartbeat, std::string url = {}) {
        if (url.empty()) url = server.url();
        return std::make_unique<Owner>(std::move(url), GetParam().layout(lease), heartbeat,
                                       log.callback());
    }

    Announcement announce(Owner& by, ServiceInstance const& instance, bool stay_out = false) {
        AnnounceOptions options;
        options.stay_out = stay_out;
        options.on_event = [told = events](AnnouncementEvent event) { told->note(event); };
        return by.announcer->announce(instance, std::move(options));
    }
    Announcement announced(Owner& by, ServiceInstance const& instance, bool stay_out = false) {
        auto result = announce(by, instance, stay_out);
        EXPECT_TRUE(eventually([&] { return result.registered(); })) << "not registered";
        return result;
    }

    static ServiceInstance instance(int port = 8080) { return GetParam().instance(port); }
    RedisClient admin() { return RedisClient{server}; }
    bool stored(Announcement const& announcement) { return stored(announcement.instance()); }
    bool stored(ServiceInstance const& instance) {
        return admin().must({"EXISTS", GetParam().hash_key(instance)}).integer == 1;
    }
    bool stored_soon(ServiceInstance const& instance) {
        return eventually([&] { return stored(instance); });
    }
    std::string field(ServiceInstance const& instance, std::string const& name) {
        return admin().must({"HGET", GetParam().hash_key(instance), name}).text;
    }
    /// Waits for a renewal.
    bool renewed(ServiceInstance const& instance,
                 std::chrono::milliseconds limit = std::chrono::seconds{5}) {
        auto const key = GetParam().hash_key(instance);
        admin().must({"PEXPIRE", key, std::to_string(lease.count() / 2)});
        return eventually(
            [&] { return admin().must({"PTTL", key}).integer > lease.count() * 3 / 4; }, limit);
    }
    static InstanceId id_of(ServiceInstance const& instance) {
        InstanceId id;
        id.service = instance.service_name;
        id.id = instance.instance_id;
        return id;
    }
    /// As readers find it.
    ServiceInstance found(Owner& by, ServiceInstance const& instance) {
        auto const id = id_of(instance);
        auto const read =
            by.core->run([&] { return by.port->instance(id, by.core->deadline()); }).value();
        return read ? read->instance : ServiceInstance{};
    }
    /// Deregisters it as an administrator would.
    void remove(Owner& by, ServiceInstance const& instance) {
        auto const id = id_of(instance);
        by.core->run([&] { return by.port->deregister_instance(id, by.core->deadline()); }).value();
    }
    void mark(Owner& by, ServiceInstance const& instance, bool on) {
        announce::DrainMarks marks{*by.core, by.port->live()};
        auto const id = id_of(instance);
        if (on) {
            by.core->run([&] { return marks.set(id, 1min, by.core->deadline()); }).value();
        } else {
            by.core->run([&] { return marks.clear(id, by.core->deadline()); }).value();
        }
    }
    /// How long after the next connection `condition` came true.
    template <class Condition>
    std::chrono::milliseconds after_connection(std::size_t connections_before,
                                               Condition condition) {
        EXPECT_TRUE(eventually([&] { return connections() > connections_before; }));
        return time_of([&] { EXPECT_TRUE(eventually(condition)); });
    }
    std::size_t connections() const { return log.count("connected to"); }

    RedisServer server{{"enable-debug-command yes"}};
    LogBook log;
    std::shared_ptr<Events> events = std::make_shared<Events>();
};

}  // namespace rollcall::test
