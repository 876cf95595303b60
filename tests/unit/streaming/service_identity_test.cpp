#include "rollcall/streaming/service_identity.hpp"

#include <boost/json/serialize.hpp>
#include <gtest/gtest.h>

#include "unit/streaming/vectors.hpp"

#include "rollcall/streaming/registry_keys.hpp"

namespace rollcall::streaming {
namespace {

using test::rows;
using test::text;

std::optional<std::string> optional_text(boost::json::object const& row, std::string_view name) {
    if (row.at(name).is_null()) return std::nullopt;
    return text(row, name);
}

TEST(ServiceIdentity, JoinsRawNames) {
    for (auto const& value : rows("keys", "unique_id")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        ServiceIdentity const identity{optional_text(row, "service"),
                                       optional_text(row, "instance")};
        EXPECT_EQ(identity.unique_id(), optional_text(row, "result"));
        EXPECT_EQ(identity.is_valid_identity(), row.at("valid").as_bool());
    }
}

TEST(ServiceIdentity, GeneratesIds) {
    for (auto const& value : rows("keys", "generated_id")) {
        auto const& row = value.as_object();
        TRACE_ROW(row);
        auto const id = generate_instance_id(text(row, "service"), text(row, "host"),
                                             static_cast<int>(row.at("port").as_int64()));
        EXPECT_EQ(id, text(row, "result"));
        EXPECT_EQ(RegistryKeys::sanitize_instance_id(id), text(row, "stored"));
    }
}

}  // namespace
}  // namespace rollcall::streaming
