// Users who lack a right, keys of another type, and a Redis that takes no writes: what was asked
// for is done as a whole or not at all, and whoever asked hears why.

#include <algorithm>
#include <gmock/gmock.h>

#include "cosky/cosky_port.hpp"
#include "integration/cosky/fixture.hpp"
#include "redis/client_core.hpp"

namespace rollcall::cosky::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

class Refusal : public CoskyTest {
protected:
    void TearDown() override {
        admin.command({"ACL", "DELUSER", "few"});
        admin.must({"CONFIG", "SET", "min-replicas-to-write", "0"});
    }

    std::string key(std::string const& of) { return DiscoveryKeyGenerator::instance_key(ns, of); }

    /// A client of a user with all rights, changed by `rules`.
    Client with(std::vector<std::string> const& rules) {
        std::vector<std::string> command{"ACL", "SETUSER", "few", "reset", "on",
                                         ">pw", "~*",      "&*",  "+@all"};
        command.insert(command.end(), rules.begin(), rules.end());
        admin.must(command);
        auto user = options();
        user.url = "unix://few:pw@" + server().socket();
        return Client{user};
    }

    std::error_code add(Client const& by, ServiceInstance const& instance) {
        std::error_code error;
        RedisServiceRegistry{by}.register_instance(ns, instance, error);
        return error;
    }

    Result<std::vector<Liveness>> heartbeat(Client const& by, std::vector<InstanceId> const& ids) {
        auto const port = make_cosky_port(by.core(), {});
        return by.core()->run([&] { return port->heartbeat(ids, after(5s)); });
    }

    /// All that is stored, a line for each key; of TTLs whether there is one.
    std::vector<std::string> stored() {
        std::vector<std::string> lines;
        for (auto const& name : admin.must({"KEYS", "*"}).texts()) {
            auto line = name.substr(ns.size());
            auto const type = admin.must({"TYPE", name}).text;
            std::vector<std::string> parts;
            if (type == "set") parts = admin.must({"SMEMBERS", name}).texts();
            if (type == "hash") {
                for (auto const& [field, value] : admin.must({"HGETALL", name}).pairs()) {
                    parts.push_back(field + "=" + value);
                }
            }
            std::ranges::sort(parts);
            for (auto const& part : parts) line += " " + part;
            if (admin.must({"TTL", name}).integer >= 0) line += " leased";
            lines.push_back(std::move(line));
        }
        std::ranges::sort(lines);
        return lines;
    }

    std::string const id = id_of("order");
};

TEST_F(Refusal, AReaderLeavesListedWhatItMayNotAnnounce) {
    ASSERT_FALSE(add(client, an_instance("order")));
    admin.must({"DEL", key(id)});
    heard();
    auto const user = with({"resetchannels"});
    auto const index = DiscoveryKeyGenerator::instance_idx_key(ns, "order");
    EXPECT_THAT(RedisServiceDiscovery{user}.instances(ns, "order"), IsEmpty());
    EXPECT_FALSE(RedisServiceDiscovery{user}.instance(ns, "order", id));
    EXPECT_THAT(admin.must({"SMEMBERS", index}).texts(), ElementsAre(id));
    EXPECT_FALSE(log.has("done, but not announced"));

    EXPECT_THAT(RedisServiceDiscovery{client}.instances(ns, "order"), IsEmpty());
    EXPECT_THAT(heard(), ElementsAre("svc_itc:" + id + " ← expired"));
}

TEST_F(Refusal, WhoKeepsHouseSaysWhatWasNotAnnounced) {
    ASSERT_FALSE(add(client, an_instance("order")));
    admin.must({"DEL", key(id)});
    auto const user = with({"resetchannels"});
    auto const port = make_cosky_port(user.core(), {});
    auto const report = user.core()->run([&] { return port->sweep(after(5s)); }).value();
    ASSERT_THAT(report.services, SizeIs(1));
    EXPECT_THAT(report.services[0].removed, ElementsAre(id));
    EXPECT_TRUE(log.has("done, but not announced on channel"));
}

TEST_F(Refusal, CountingSaysWhatWasNotAnnounced) {
    ASSERT_FALSE(add(client, an_instance("order")));
    ASSERT_FALSE(add(client, an_instance("order", 81)));
    admin.must({"DEL", key(id)});
    auto user = with({"resetchannels"});
    EXPECT_EQ(RedisServiceStatistic{user}.instance_count(ns), 1);
    EXPECT_TRUE(log.has("done, but not announced on channel"));
    EXPECT_EQ(RedisServiceStatistic{user}.instance_count(ns), 1) << "nothing left to announce";
}

}  // namespace
}  // namespace rollcall::cosky::test
