#pragma once

#include <chrono>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "integration/redis/fixture.hpp"
#include "registry/layout_port.hpp"
#include "support/log_book.hpp"
#include "support/redis_server.hpp"

#include "rollcall/registry.hpp"

namespace rollcall::live::test {

using namespace std::chrono_literals;
using rollcall::test::eventually;
using rollcall::test::LogBook;
using rollcall::test::RedisClient;
using rollcall::test::RedisServer;
using rollcall::test::time_of;
using std::chrono::milliseconds;

inline std::vector<std::string> ids_of(Snapshot const& snapshot) {
    std::vector<std::string> ids;
    for (auto const& instance : snapshot) ids.push_back(instance.instance_id);
    return ids;
}

/// What a listener was told, as `added web-1` or `removed web-1 (expired)`.
class Heard {
public:
    std::function<void(Change const&)> listener() {
        return [state = state_](Change const& change) { state->add(change); };
    }
    std::vector<std::string> all() const;
    std::size_t size() const { return all().size(); }
    bool has(std::string_view line) const;

private:
    struct State {
        mutable std::mutex mutex;
        std::vector<std::string> lines;
        void add(Change const& change);
    };
    std::shared_ptr<State> state_ = std::make_shared<State>();
};

/// Another process that registers and renews; its data has an epoch.
class Owners {
public:
    Owners(std::string const& url, Layout const& layout);

    void add(ServiceInstance const& instance);
    void remove(std::string const& id, std::string const& service = "web");
    void renew(std::string const& id, std::string const& service = "web");
    void set_metadata(std::string const& id, Metadata const& metadata);
    /// As every session that writes does.
    void write_epoch();
    std::string epoch_key() const { return port_->live().epoch_key(); }
    std::string channel(std::string const& id, std::string const& service = "web") const;
    LayoutPort& port() { return *port_; }

private:
    Client client_;
    std::string const layout_;
    std::shared_ptr<LayoutPort> port_;
};

/// One layout, with a server of this test alone, a reader and the owners of what it reads.
class LiveTest : public testing::TestWithParam<std::string_view> {
protected:
    Layout layout(milliseconds lease = 60s) const {
        return GetParam() == "streaming" ? streaming_layout("registry", lease)
                                         : cosky_layout("{ns}", lease);
    }
    /// Ids as this layout writes them; they sort by number, up to 9.
    std::string id(int number, std::string const& service = "web") const {
        return GetParam() == "streaming"
                   ? service + "-" + std::to_string(number)
                   : service + "@http#10.0.0.5#" + std::to_string(8080 + number);
    }
    ServiceInstance instance(int number, std::string const& service = "web") const {
        ServiceInstance result;
        result.service_name = service;
        result.instance_id = id(number, service);
        result.host = "10.0.0.5";
        result.port = 8080 + number;
        return result;
    }
    ClientOptions options() {
        ClientOptions result;
        result.url = server.url();
        result.log = log.callback();
        return result;
    }
    Registry reader(milliseconds lease = 60s, RegistryOptions given = {}) {
        return Registry{client, layout(lease), given};
    }
    /// Once it is loaded and live.
    Service watched(Registry const& registry, std::string const& name = "web",
                    ServiceOptions given = {}) {
        auto service = registry.service(name, given);
        (void)service.instances();
        EXPECT_TRUE(eventually([&] { return !service.stale(); }));
        return service;
    }

    RedisServer server;
    LogBook log;
    Client client{options()};
    RedisClient admin{server};
};

/// Whether the ids of `service` become these within `limit`.
bool shows(Service const& service, std::vector<std::string> const& ids, milliseconds limit = 5s);

bool is_suspect(Service const& service, std::string_view id);

}  // namespace rollcall::live::test
