#include "cosky/instance_event_scope.hpp"

#include <gtest/gtest.h>
#include <string>

namespace rollcall::cosky {
namespace {

InstanceEventScope scope(std::string ns, std::string service = {}) {
    InstanceEventScope result;
    result.ns = std::move(ns);
    result.service = std::move(service);
    return result;
}

std::optional<InstanceChangedEvent> read(InstanceEventScope const& of, std::string_view id,
                                         std::string_view payload = "register") {
    return of.read(of.ns + ":svc_itc:" + std::string{id}, payload).value();
}

TEST(InstanceEvents, ArePayloadsInAnyCaseAndNothingElse) {
    EXPECT_EQ(parse_instance_event("register"), InstanceEvent::registered);
    EXPECT_EQ(parse_instance_event("REGISTER"), InstanceEvent::registered);
    EXPECT_EQ(parse_instance_event("Deregister"), InstanceEvent::deregistered);
    EXPECT_EQ(parse_instance_event("expired"), InstanceEvent::expired);
    EXPECT_EQ(parse_instance_event("renew"), InstanceEvent::renewed);
    EXPECT_EQ(parse_instance_event("set_metadata"), InstanceEvent::metadata_set);
    for (auto const* other : {"set", "", "set_Metadata ", "registe", "registers"}) {
        EXPECT_EQ(parse_instance_event(other), std::nullopt) << other;
    }
}

TEST(InstanceEvents, AreWrittenAsTheyAreRead) {
    for (auto const event :
         {InstanceEvent::registered, InstanceEvent::deregistered, InstanceEvent::expired,
          InstanceEvent::renewed, InstanceEvent::metadata_set}) {
        EXPECT_EQ(parse_instance_event(to_payload(event)), event);
    }
    EXPECT_EQ(to_payload(InstanceEvent::resync), "");
}

TEST(InstanceEventScope, Defect44_ItsPatternsMatchNamesAsTheyAre) {
    EXPECT_EQ(scope("cosky-{default}").topic().name, "cosky-{default}:svc_itc:*");
    EXPECT_EQ(scope("n", "order").topic().name, "n:svc_itc:order@*");
    EXPECT_EQ(scope("n", "x[1]").topic().name, "n:svc_itc:x\\[1\\]@*");
    EXPECT_EQ(scope("n?", "*\\^").topic().name, "n\\?:svc_itc:\\*\\\\\\^@*");
    EXPECT_TRUE(scope("n").topic().is_pattern);
    EXPECT_TRUE(scope("n", "s").topic().is_pattern);
}

TEST(InstanceEventScope, ReadsWhatAMessageSays) {
    auto const event = read(scope("n", "s"), "s@http#10.0.0.1#80", "Renew");
    ASSERT_TRUE(event);
    EXPECT_EQ(event->event, InstanceEvent::renewed);
    EXPECT_EQ(event->ns, "n");
    EXPECT_EQ(event->service_name, "s");
    EXPECT_EQ(event->instance_id, "s@http#10.0.0.1#80");
    EXPECT_EQ(event->instance, (InstanceIdParts{"s", "http", "10.0.0.1", 80}));
    EXPECT_EQ(read(scope("n"), "s@http#10.0.0.1#80", "renew"), event);
}

TEST(InstanceEventScope, Defect45_ANamespaceMayHoldColons) {
    auto const event = read(scope("a:b", "c"), "c@http#h#80");
    ASSERT_TRUE(event);
    EXPECT_EQ(event->ns, "a:b");
    EXPECT_EQ(event->service_name, "c");
    EXPECT_EQ(read(scope("a:b"), "c:svc@http#h#80")->service_name, "c:svc");
    EXPECT_EQ(scope("a").read("a:b:svc_itc:c@http#h#80", "register").value(), std::nullopt);
}

TEST(InstanceEventScope, OtherServicesAreNoneOfItsConcern) {
    EXPECT_EQ(read(scope("n", "s"), "s@b@http#h#1"), std::nullopt);
    EXPECT_EQ(read(scope("n", "s"), "t@http#h#1"), std::nullopt);
    EXPECT_EQ(read(scope("n", "x[1]"), "x1@http#h#1"), std::nullopt);
    EXPECT_EQ(scope("n", "s").read("n:svc_itc_idx:s@http#h#1", "register").value(), std::nullopt);
    auto const event = read(scope("n", "s@b"), "s@b@http#h#1");
    ASSERT_TRUE(event);
    EXPECT_EQ(event->instance, (InstanceIdParts{"s@b", "http", "h", 1}));
}

TEST(InstanceEventScope, Defect46_AnIdOfAnotherFormIsNotTakenForThatOfItsParts) {
    for (auto const* id : {"@s@http#h#1", "s@http#h#080", "s@http#h#+80", "s@#http#h#1"}) {
        EXPECT_TRUE(scope("n").read("n:svc_itc:" + std::string{id}, "register").has_error()) << id;
    }
}

TEST(InstanceEventScope, Defect43_SaysWhatIsWrongWithAMessage) {
    auto const unknown = scope("n").read("n:svc_itc:s@http#h#1", "hello\n");
    EXPECT_EQ(unknown.error().detail(),
              R"(a message on "n:svc_itc:s@http#h#1": unknown payload "hello\n")");
    auto const odd = scope("n").read("n:svc_itc:s", "register");
    EXPECT_EQ(odd.error().detail(), R"(a message on "n:svc_itc:s": no instance id)");
    EXPECT_TRUE(scope("n", "s").read("n:svc_itc:s@", "register").has_error());
    EXPECT_TRUE(scope("n").read("n:svc_itc:\xff@http#h#x", "register").has_error());
}

}  // namespace
}  // namespace rollcall::cosky
