#pragma once

#include <map>
#include <string>

#include "integration/streaming/fixture.hpp"

namespace rollcall::streaming::test {

/// With a running provider whose heartbeats are always due.
class ProviderTest : public StreamingTest {
protected:
    void SetUp() override {
        StreamingTest::SetUp();
        provider.start();
    }

    static HeartbeatConfig every_time() {
        HeartbeatConfig result;
        result.heartbeat_interval = 0ms;
        return result;
    }

    static HeartbeatConfig describing() {
        HeartbeatConfig result;
        result.heartbeat_interval = 0ms;
        result.enable_metadata_change_detection = true;
        result.metadata_update_interval = 0s;
        return result;
    }

    std::map<std::string, std::string> hash(std::string const& service, std::string const& id) {
        return redis().must({"HGETALL", instance_key(service, id)}).pairs();
    }
    long long ttl(std::string const& service, std::string const& id) {
        return redis().must({"TTL", instance_key(service, id)}).integer;
    }
    void lose(std::string const& service, std::string const& id) {
        redis().must({"DEL", instance_key(service, id)});
    }

    RedisServiceProvider provider{client, {}, every_time()};
};

}  // namespace rollcall::streaming::test
