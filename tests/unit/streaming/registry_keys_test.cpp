#include "rollcall/streaming/registry_keys.hpp"

#include <boost/json/serialize.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <optional>
#include <stdexcept>
#include <string>

#include "unit/streaming/vectors.hpp"

namespace rollcall::streaming {
namespace {

using test::rows;
using test::text;
using ::testing::AllOf;
using ::testing::HasSubstr;

/// What `call` refuses its argument with; empty when it does not.
template <class Call>
std::string refusal(Call call) {
    try {
        call();
        return {};
    } catch (std::invalid_argument const& error) {
        return error.what();
    }
}

std::optional<std::string> optional_text(boost::json::object const& row, std::string_view name) {
    if (row.at(name).is_null()) return std::nullopt;
    return text(row, name);
}

TEST(RegistryKeys, BuildsEveryKey) {
    for (auto const& value : rows("keys", "build")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        RegistryKeys const keys{text(row, "prefix")};
        auto const service = text(row, "service");
        EXPECT_EQ(keys.services_index(), text(row, "services"));
        EXPECT_EQ(keys.heartbeats(service), text(row, "heartbeats"));
        EXPECT_EQ(keys.instance(service, text(row, "instance")), text(row, "hash"));
        EXPECT_EQ(keys.changes(service), text(row, "changes"));
    }
}

TEST(RegistryKeys, WithoutPrefixIsTheDesignsOwn) { EXPECT_EQ(RegistryKeys{}.prefix(), "registry"); }

TEST(RegistryKeys, RefusesToBuildFromRawNames) {
    for (auto const& value : rows("keys", "build_refused")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        EXPECT_THROW(RegistryKeys{}.instance(text(row, "service"), text(row, "instance")),
                     std::invalid_argument);
    }
    EXPECT_THROW(RegistryKeys{}.heartbeats("a:b"), std::invalid_argument);
    EXPECT_THROW(RegistryKeys{}.changes(""), std::invalid_argument);
}

TEST(RegistryKeys, Sanitises) {
    for (auto const& value : rows("keys", "sanitize")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        EXPECT_EQ(RegistryKeys::sanitize_service_name(text(row, "given")), text(row, "result"));
        EXPECT_EQ(RegistryKeys::sanitize_instance_id(text(row, "given")), text(row, "result"));
    }
}

TEST(RegistryKeys, ValidatesAndSanitises) {
    for (auto const& value : rows("keys", "validate")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        auto const given = text(row, "given");
        EXPECT_EQ(RegistryKeys::validate_and_sanitize_service_name(given), text(row, "result"));
        EXPECT_EQ(RegistryKeys::validate_and_sanitize_instance_id(given), text(row, "result"));
    }
}

TEST(RegistryKeys, RefusesNamesWithFieldAndRule) {
    for (auto const& value : rows("keys", "validate_refused")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        auto const given = text(row, "given");
        EXPECT_THAT(refusal([&] { RegistryKeys::validate_and_sanitize_service_name(given); }),
                    AllOf(::testing::StartsWith("service name \""), HasSubstr(text(row, "rule"))));
        EXPECT_THAT(refusal([&] { RegistryKeys::validate_and_sanitize_instance_id(given); }),
                    AllOf(::testing::StartsWith("instance id \""), HasSubstr(text(row, "rule"))));
    }
}

TEST(RegistryKeys, RefusesNamesThatAreNotUtf8) {
    EXPECT_EQ(refusal([] { RegistryKeys::validate_and_sanitize_service_name("a\xff"); }),
              R"(service name "a\xff": must be UTF-8)");
}

TEST(RegistryKeys, TellsSafeNames) {
    for (auto const& value : rows("keys", "safe")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        bool const safe = row.at("safe").as_bool();
        EXPECT_EQ(RegistryKeys::is_service_name_safe(text(row, "given")), safe);
        EXPECT_EQ(RegistryKeys::is_instance_id_safe(text(row, "given")), safe);
    }
}

TEST(RegistryKeys, ValidatesPrefixes) {
    for (auto const& value : rows("keys", "prefix")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        auto const given = text(row, "given");
        auto const why = refusal([&] { RegistryKeys::validated_prefix(given); });
        if (row.at("accepted").as_bool()) {
            EXPECT_EQ(why, "");
            EXPECT_EQ(RegistryKeys::validated_prefix(given), given);
        } else {
            EXPECT_THAT(
                why, AllOf(::testing::StartsWith("key prefix \""), HasSubstr(text(row, "rule"))));
        }
    }
    EXPECT_THAT(refusal([] { RegistryKeys::validated_prefix("a\xc0"); }), HasSubstr("UTF-8"));
}

TEST(RegistryKeys, TakesKeysApart) {
    for (auto const& value : rows("keys", "extract")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        RegistryKeys const keys{text(row, "prefix")};
        auto const key = text(row, "key");
        EXPECT_EQ(keys.service_of_instance_key(key), optional_text(row, "instance_service"));
        EXPECT_EQ(keys.instance_id_of_instance_key(key), optional_text(row, "instance_id"));
        EXPECT_EQ(keys.service_of_heartbeats_key(key), optional_text(row, "heartbeats_service"));
    }
}

TEST(RegistryKeys, Defect54_APrefixWithColonsIsTakenOffAsAWhole) {
    RegistryKeys const keys{"team:one"};
    auto const key = keys.instance("orders", "box_80");
    EXPECT_EQ(keys.service_of_instance_key(key), "orders");
    EXPECT_EQ(keys.instance_id_of_instance_key(key), "box_80");
    EXPECT_EQ(keys.service_of_heartbeats_key(keys.heartbeats("orders")), "orders");
}

TEST(RegistryKeys, KnowsItsOwn) {
    for (auto const& value : rows("keys", "registry_key")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        EXPECT_EQ(RegistryKeys{text(row, "prefix")}.is_registry_key(text(row, "key")),
                  row.at("result").as_bool());
    }
}

TEST(RegistryKeys, HasTheDesignsTemplates) {
    EXPECT_THAT(RegistryKeys::all_key_templates(),
                ::testing::ElementsAre("%s:services", "%s:services:%s:heartbeats",
                                       "%s:services:%s:instance:%s", "%s:services:%s:changes"));
}

TEST(RegistryKeys, Defect7_TheSanitisedNameIsTheOneThatKeysAreMadeFrom) {
    auto const id = RegistryKeys::validate_and_sanitize_instance_id("box:80");
    EXPECT_EQ(id, "box_80");
    EXPECT_NO_THROW(RegistryKeys{}.instance("orders", id));
    EXPECT_EQ(RegistryKeys::validate_and_sanitize_instance_id(id), id);
}

}  // namespace
}  // namespace rollcall::streaming
