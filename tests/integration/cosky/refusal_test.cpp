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
        for (auto const& name : keys()) {
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

TEST_F(Refusal, LeavesNothingOfANewRegistration) {
    for (auto const* right : {"-expire", "-hset", "-sadd", "-hkeys", "-sismember"}) {
        auto const user = with({right});
        EXPECT_EQ(add(user, an_instance("order")), errc::access_denied) << right;
        EXPECT_THAT(stored(), IsEmpty()) << right;
        EXPECT_THAT(heard(), IsEmpty()) << right;
    }
    auto fixed = an_instance("order");
    fixed.ephemeral = false;
    auto const user = with({"-persist"});
    EXPECT_EQ(add(user, fixed), errc::access_denied);
    EXPECT_THAT(stored(), IsEmpty());
}

TEST_F(Refusal, LeavesNothingWhereOneOfTheKeysIsNotGranted) {
    for (auto const* granted : {":svc_idx", ":svc_itc_idx:*", ":svc_itc:*"}) {
        std::vector<std::string> rules{"resetkeys", "~" + ns};
        for (auto const* other : {":svc_idx", ":svc_itc_idx:*", ":svc_itc:*"}) {
            if (other != granted) rules.push_back("~" + ns + other);
        }
        rules.push_back("%R~" + ns + granted);
        EXPECT_EQ(add(with(rules), an_instance("order")), errc::access_denied) << granted;
        EXPECT_THAT(stored(), IsEmpty()) << granted;
        EXPECT_THAT(heard(), IsEmpty()) << granted;
    }
}

TEST_F(Refusal, MakesNoInstanceImmortal) {
    auto ephemeral = an_instance("order");
    auto fixed = ephemeral;
    fixed.ephemeral = false;

    ASSERT_FALSE(add(client, fixed));
    EXPECT_EQ(add(with({"-expire"}), ephemeral), errc::access_denied);
    EXPECT_EQ(field(id, "ephemeral"), "false");
    EXPECT_EQ(ttl(id), -1);

    ASSERT_FALSE(add(client, ephemeral));
    EXPECT_EQ(add(with({"-persist"}), fixed), errc::access_denied);
    EXPECT_EQ(field(id, "ephemeral"), "true");
    EXPECT_GT(ttl(id), 0);
}

TEST_F(Refusal, LeavesARegistrationThatIsThereAsItWas) {
    auto instance = an_instance("order");
    instance.metadata = {{"a", "1"}, {"b", "2"}};
    ASSERT_FALSE(add(client, instance));
    auto const before = stored();
    heard();
    instance.metadata = {{"c", "3"}};
    for (auto const* right : {"-hset", "-hkeys"}) {
        EXPECT_EQ(add(with({right}), instance), errc::access_denied) << right;
        EXPECT_EQ(stored(), before) << right;
    }
    EXPECT_THAT(heard(), IsEmpty());
}

TEST_F(Refusal, AKeyOfAnotherTypeEndsARegistrationWithNothingWritten) {
    for (auto const& name : {DiscoveryKeyGenerator::service_idx_key(ns),
                             DiscoveryKeyGenerator::instance_idx_key(ns, "order"), key(id)}) {
        admin.must({"FLUSHALL"});
        admin.must({"SET", name, "text"});
        EXPECT_EQ(add(client, an_instance("order")), errc::unexpected_reply) << name;
        EXPECT_THAT(stored(), SizeIs(1)) << name;
        EXPECT_THAT(heard(), IsEmpty()) << name;
    }
}

TEST_F(Refusal, OfTheCountStopsNothing) {
    std::vector<std::string> const others{"resetkeys", "~" + ns, "~" + ns + ":svc_idx",
                                          "~" + ns + ":svc_itc_idx:*", "~" + ns + ":svc_itc:*"};
    EXPECT_FALSE(add(with(others), an_instance("order")));
    EXPECT_THAT(heard(), ElementsAre("svc_idx ← set", "svc_itc:" + id + " ← register"));

    admin.must({"SET", DiscoveryKeyGenerator::service_stat_key(ns), "text"});
    EXPECT_FALSE(add(client, an_instance("web", 81)));
    RedisServiceRegistry registry{client};
    EXPECT_TRUE(registry.deregister(ns, "web", id_of("web", 81)));
    EXPECT_TRUE(registry.remove_service(ns, "web"));
    EXPECT_TRUE(registry.set_service(ns, "web"));
}

TEST_F(Refusal, LeavesWhatCannotBeDeregisteredListed) {
    ASSERT_FALSE(add(client, an_instance("order")));
    auto const before = stored();
    heard();
    for (auto const* right : {"-del", "-srem"}) {
        std::error_code error;
        RedisServiceRegistry{with({right})}.deregister(ns, "order", id, error);
        EXPECT_EQ(error, errc::access_denied) << right;
        EXPECT_EQ(stored(), before) << right;
    }
    EXPECT_THAT(heard(), IsEmpty());
}

TEST_F(Refusal, LosesNoMetadata) {
    auto instance = an_instance("order");
    instance.metadata = {{"a", "1"}};
    ASSERT_FALSE(add(client, instance));
    std::error_code error;
    RedisServiceRegistry{with({"-hset"})}.set_metadata(ns, "order", id, "b", "2", error);
    EXPECT_EQ(error, errc::access_denied);
    EXPECT_EQ(field(id, "_a"), "1");
}

TEST_F(Refusal, OfHeartbeatsIsToldWithItsReason) {
    ASSERT_FALSE(add(client, an_instance("order")));
    for (auto const* right : {"-expire", "-hmget", "-time"}) {
        auto const beats = heartbeat(with({right}), {{"order", id}});
        ASSERT_TRUE(beats.has_error()) << right;
        EXPECT_EQ(beats.error().code(), errc::access_denied) << right;
    }
    admin.must({"CONFIG", "SET", "min-replicas-to-write", "1"});
    auto const beats = heartbeat(client, {{"order", id}, {"order", id_of("order", 81)}});
    ASSERT_TRUE(beats.has_value()) << "that the second is gone is known";
    EXPECT_THAT(*beats, ElementsAre(Liveness::failed, Liveness::gone));
    EXPECT_TRUE(log.has("NOREPLICAS"));
    auto const alone = heartbeat(client, {{"order", id}});
    ASSERT_TRUE(alone.has_error());
    EXPECT_EQ(alone.error().code(), errc::unavailable);
    EXPECT_THAT(std::string{alone.error().detail()}, HasSubstr("NOREPLICAS"));
}

TEST_F(Refusal, OfOneHeartbeatTouchesNoOther) {
    ASSERT_FALSE(add(client, an_instance("order")));
    ASSERT_FALSE(add(client, an_instance("web", 81)));
    auto const user = with({"resetkeys", "~" + ns, "~" + ns + ":svc_idx",
                            "~" + ns + ":svc_itc_idx:*", "~" + ns + ":svc_itc:order@*"});
    auto const beats = heartbeat(user, {{"web", id_of("web", 81)}, {"order", id}});
    ASSERT_TRUE(beats.has_value());
    EXPECT_THAT(*beats, ElementsAre(Liveness::refused, Liveness::alive));
    EXPECT_TRUE(log.has("renew in " + ns));
}

TEST_F(Refusal, OfRenewalsIsLoggedWithItsReason) {
    RedisServiceRegistry registry{client};
    registry.register_instance(ns, an_instance("order"));
    admin.must({"CONFIG", "SET", "min-replicas-to-write", "1"});
    auto const renewed = registry.renew_registered(10s);
    ASSERT_THAT(renewed, SizeIs(1));
    EXPECT_EQ(renewed[0].renewal, Renewal::failed);
    EXPECT_TRUE(log.has("a renewal failed: renew in " + ns + ": NOREPLICAS"));
    EXPECT_FALSE(log.has("has another type"));
}

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

TEST_F(Refusal, CountingLeavesListedWhatItMayNotAnnounce) {
    ASSERT_FALSE(add(client, an_instance("order")));
    ASSERT_FALSE(add(client, an_instance("order", 81)));
    admin.must({"DEL", key(id)});
    auto user = with({"resetchannels"});
    heard();
    EXPECT_EQ(RedisServiceStatistic{user}.instance_count(ns), 1);
    EXPECT_THAT(heard(), IsEmpty());
    EXPECT_EQ(RedisServiceStatistic{client}.instance_count(ns), 1);
    EXPECT_THAT(heard(), ElementsAre("svc_itc:" + id + " ← expired"));
}

TEST_F(Refusal, WhetherItWasThereNeedsNoFurtherRight) {
    auto const user = with({"-hexists"});
    auto const port = make_cosky_port(user.core(), {});
    auto const instance = an_instance("order");
    auto const register_again = [&] {
        return user.core()
            ->run([&] { return port->register_instance(instance, after(5s)); })
            .value();
    };
    EXPECT_FALSE(register_again().existed);
    EXPECT_TRUE(register_again().existed);
    admin.must({"HDEL", key(id), "serviceId"});
    EXPECT_FALSE(register_again().existed) << "nothing was described there";
}

}  // namespace
}  // namespace rollcall::cosky::test
