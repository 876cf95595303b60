#include "redis/url.hpp"

#include <gtest/gtest.h>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rollcall::redis {
namespace {

struct Good {
    std::string_view text;
    Url url;
};

Url tcp(std::string host, int port = 6379, int database = 0) {
    Url url;
    url.host = std::move(host);
    url.port = port;
    url.database = database;
    return url;
}

Url with_login(Url url, std::string user, std::string password) {
    url.user = std::move(user);
    url.password = std::move(password);
    return url;
}

Url socket(std::string path, int database = 0) {
    Url url;
    url.unix_socket = std::move(path);
    url.database = database;
    return url;
}

TEST(Url, ParsesEachForm) {
    Good const table[] = {
        {"redis://localhost", tcp("localhost")},
        {"redis://localhost/", tcp("localhost")},
        {"redis://svc_a.internal:1", tcp("svc_a.internal", 1)},
        {"redis://10.0.0.5:65535/15", tcp("10.0.0.5", 65535, 15)},
        {"redis://[::1]", tcp("::1")},
        {"redis://[2001:db8::1]:7000/3", tcp("2001:db8::1", 7000, 3)},
        {"redis://[fe80::1%lo]:7000", tcp("fe80::1%lo", 7000)},
        {"redis://[fe80::1%25lo]:7000", tcp("fe80::1%lo", 7000)},
        {"redis://:secret@h", with_login(tcp("h"), "", "secret")},
        {"redis://u:@h", with_login(tcp("h"), "u", "")},
        {"redis://u:a:b@h:1", with_login(tcp("h", 1), "u", "a:b")},
        {"redis://:p%40s%2Fw%23d%3A%2541%2B%20%C3%A9@127.0.0.1:6380",
         with_login(tcp("127.0.0.1", 6380), "", "p@s/w#d:%41+ é")},
        {"redis://a+b:c+d@h", with_login(tcp("h"), "a+b", "c+d")},
        {"unix:///run/redis.sock", socket("/run/redis.sock")},
        {"unix:///run/redis.sock?db=7", socket("/run/redis.sock", 7)},
        {"unix:///tmp/a%20b@c#d", socket("/tmp/a%20b@c#d")},
        {"unix://u:p%2Fw@/tmp/x@/y?db=0", with_login(socket("/tmp/x@/y"), "u", "p/w")},
    };
    for (auto const& [text, expected] : table) {
        EXPECT_EQ(Url::parse(text), expected) << text;
    }
}

TEST(Url, WithoutCredentialsItReadsBackEqual) {
    for (std::string_view const text :
         {"redis://localhost:6379", "redis://[::1]:7000/3", "unix:///run/r.sock?db=2"}) {
        EXPECT_EQ(Url::parse(text).to_string(), text);
    }
    EXPECT_EQ(Url::parse("redis://u:p@h/1").to_string(), "redis://h:6379/1");
    auto const zoned = Url::parse("redis://[fe80::1%25251]:7000");
    EXPECT_EQ(zoned.host, "fe80::1%251");
    EXPECT_EQ(Url::parse(zoned.to_string()), zoned);
    EXPECT_THROW(Url::parse("redis://[fe80::1%l\xff]"), std::invalid_argument);
    EXPECT_EQ(Url::parse("unix://:p@/s").to_string(), "unix:///s");
}

struct Bad {
    std::string text;
    std::string_view part;
    std::string_view rule;
};

TEST(Url, NamesThePartAndTheRule) {
    Bad const table[] = {
        {"", "scheme", "redis://"},
        {"localhost:6379", "scheme", "redis://"},
        {"http://h", "scheme", "redis://"},
        {"rediss://h", "scheme \"rediss\"", "not supported yet"},
        {"redis+sentinel://h/m", "scheme", "not supported yet"},
        {"redis-cluster://h", "scheme", "not supported yet"},
        {"redis://", "host", "must not be empty"},
        {"redis://:6379", "host", "must not be empty"},
        {"redis://a b", "", "white space"},
        {std::string{"redis://h\0x", 11}, "", "NUL"},
        {"redis://h\n", "", "control character"},
        {"redis://h\x7f", "", "control character"},
        {"redis://a,b", "host", "letters"},
        {"redis://" + std::string(254, 'a'), "host", "253"},
        {"redis://::1:6379", "host", "must not be empty"},
        {"redis://fe80::1", "host", "brackets"},
        {"redis://[::1", "host", "bracket"},
        {"redis://[::g]", "host \"::g\"", "IPv6"},
        {"redis://[::1]6379", "host", "bracket"},
        {"redis://h:0", "port \"0\"", "1 to 65535"},
        {"redis://h:65536", "port \"65536\"", "1 to 65535"},
        {"redis://h:99999999999999999999", "port", "1 to 65535"},
        {"redis://h:", "port", "1 to 65535"},
        {"redis://h:-1", "port", "1 to 65535"},
        {"redis://h:6379/x", "database \"x\"", "number from 0"},
        {"redis://h/-1", "database", "number from 0"},
        {"redis://h/2147483648", "database", "number from 0"},
        {"redis://h?db=1", "redis://", "'?'"},
        {"unix://run/redis.sock", "path", "absolute"},
        {"unix:///", "path", "absolute"},
        {"unix:///" + std::string(107, 'a'), "path", "107"},
        {"unix:///s?name=1", "parameter \"name=1\"", "db=N"},
        {"unix:///s?db=", "database", "number from 0"},
    };
    for (auto const& [text, part, rule] : table) {
        try {
            Url::parse(text);
            ADD_FAILURE() << "accepted: " << text;
        } catch (std::invalid_argument const& error) {
            std::string_view const message = error.what();
            EXPECT_TRUE(message.starts_with("url: " + std::string{part}))
                << text << " → " << message;
            EXPECT_NE(message.find(rule), message.npos) << text << " → " << message;
        }
    }
}

TEST(Url, ShowsNothingOfTheUserPart) {
    for (std::string_view const text :
         {"redis://:s3cret/x@h", "redis://:s3cret#x@h", "redis://:s3cret?x@h",
          "redis://:s3cret@x@h", "redis://:s3cret%zz@h", "redis://:s3cret%@h",
          "redis://:s3cret%4@h", "redis://s3cret@h", "redis://u:s3cret@h:0", "redis://u:s3cret@",
          "redis://u:s3cret", "redis://:s3cret", "redis://:s3cret#x", "unix://:s3/cret@/s",
          "unix://:s3cret@s", "unix://:s3cret%zz@/s", "s3cret@h", "s3cret://h",
          "redis://u:s3cret\n@h"}) {
        try {
            Url::parse(text);
            ADD_FAILURE() << "accepted: " << text;
        } catch (std::invalid_argument const& error) {
            EXPECT_EQ(std::string_view{error.what()}.find("s3"), std::string_view::npos)
                << text << " → " << error.what();
        }
    }
}

TEST(Url, SaysThatTheUserPartIsToBeEncoded) {
    for (std::string_view const text : {"redis://:p@s/w#d:%41+é@127.0.0.1:1", "redis://:a%zz@h"}) {
        try {
            Url::parse(text);
            ADD_FAILURE() << "accepted: " << text;
        } catch (std::invalid_argument const& error) {
            EXPECT_NE(std::string_view{error.what()}.find("must be percent-encoded"),
                      std::string_view::npos)
                << error.what();
        }
    }
}

}  // namespace
}  // namespace rollcall::redis
