#include "redis/subscriptions.hpp"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "silent_handler.hpp"

namespace rollcall::redis {
namespace {

using State = Subscriptions::State;

class SubscriptionsTest : public testing::Test {
protected:
    /// The next command as text, "-" when there is none.
    std::string next() {
        auto const* const command = subscriptions.next();
        if (!command) return "-";
        std::string text{command->verb()};
        for (auto const name : command->names) text += " " + std::string{name};
        return text;
    }

    void subscribe(std::string const& name) {
        subscriptions.add({name}, a);
        EXPECT_EQ(next(), "SUBSCRIBE " + name);
        EXPECT_NE(subscriptions.confirm(name, false), nullptr);
    }

    std::size_t told(std::string const& name) {
        std::size_t count = 0;
        subscriptions.find(name, false)->greet([&](PushHandler&) { ++count; });
        return count;
    }

    test::SilentHandler a;
    test::SilentHandler b;
    Subscriptions subscriptions{{100, 4, 20}};
};

TEST_F(SubscriptionsTest, ManyInOneCommandAndOneCommandAtATime) {
    for (auto const* name : {"a", "b", "c", "d", "e"}) subscriptions.add({name}, a);
    subscriptions.add({"p*", true}, a);
    EXPECT_EQ(next(), "PSUBSCRIBE p*");
    EXPECT_EQ(next(), "-");
    subscriptions.confirm("p*", true);
    EXPECT_EQ(next(), "SUBSCRIBE a b c d");
    for (auto const* name : {"a", "b", "c"}) {
        subscriptions.confirm(name, false);
        EXPECT_EQ(next(), "-") << name;
    }
    subscriptions.confirm("d", false);
    EXPECT_EQ(next(), "SUBSCRIBE e");
    subscriptions.confirm("e", false);
    EXPECT_EQ(next(), "-");
    EXPECT_FALSE(subscriptions.awaits_answer());
}

TEST_F(SubscriptionsTest, CommandsAreBoundedInBytes) {
    std::string const long_name(18, 'x');
    subscriptions.add({"a"}, a);
    subscriptions.add({long_name}, a);
    subscriptions.add({std::string(50, 'y')}, a);
    EXPECT_EQ(next(), "SUBSCRIBE a " + long_name);
    subscriptions.reset();
    subscriptions.remove({"a"}, a);
    subscriptions.remove({long_name}, a);
    EXPECT_EQ(next(), "SUBSCRIBE " + std::string(50, 'y')) << "one goes at least";
}

TEST_F(SubscriptionsTest, EachHandlerIsToldOfAConfirmation) {
    subscribe("c");
    EXPECT_EQ(told("c"), 1u);
    EXPECT_EQ(told("c"), 0u);
    subscriptions.add({"c"}, a);
    EXPECT_TRUE(subscriptions.take_late_comers().empty()) << "wants it already";
    subscriptions.add({"c"}, b);
    EXPECT_EQ(next(), "-");
    EXPECT_EQ(subscriptions.take_late_comers().size(), 1u);
    EXPECT_EQ(told("c"), 1u);
    subscriptions.remove({"c"}, a);
    EXPECT_EQ(next(), "-") << "the other wants it";
    subscriptions.remove({"c"}, b);
    EXPECT_EQ(next(), "UNSUBSCRIBE c");
    subscriptions.withdraw("c", false);
    EXPECT_EQ(subscriptions.size(), 0u);
}

TEST_F(SubscriptionsTest, HandlersMayBeAddedAndRemovedWhileTheyAreTold) {
    subscribe("c");
    std::vector<test::SilentHandler> more(50);
    std::size_t count = 0;
    auto* const entry = subscriptions.find("c", false);
    entry->greet([&](PushHandler&) {
        if (count++ > 0) return;
        for (auto& handler : more) subscriptions.add({"c"}, handler);
        subscriptions.remove({"c"}, a);
    });
    EXPECT_EQ(count, 51u);
    count = 0;
    entry->for_each_greeted([&](PushHandler&) { ++count; });
    EXPECT_EQ(count, 50u);
}

TEST_F(SubscriptionsTest, ChangesOfMindBetweenCommandAndAnswer) {
    subscriptions.add({"c"}, a);
    EXPECT_EQ(next(), "SUBSCRIBE c");
    subscriptions.remove({"c"}, a);
    subscriptions.confirm("c", false);
    EXPECT_EQ(next(), "UNSUBSCRIBE c");
    subscriptions.add({"c"}, b);
    subscriptions.withdraw("c", false);
    EXPECT_EQ(next(), "SUBSCRIBE c");
    subscriptions.confirm("c", false);
    EXPECT_EQ(told("c"), 1u);
    subscriptions.remove({"c"}, b);
    subscriptions.add({"c"}, b);
    EXPECT_EQ(next(), "-") << "it is there still";
    EXPECT_EQ(subscriptions.take_late_comers().size(), 1u);
}

TEST_F(SubscriptionsTest, TheNameThatIsRefusedIsFoundAndTriedLater) {
    for (auto const* name : {"a", "b", "c", "d"}) subscriptions.add({name}, a);
    EXPECT_EQ(next(), "SUBSCRIBE a b c d");
    EXPECT_EQ(subscriptions.refuse(false), nullptr);
    EXPECT_EQ(next(), "SUBSCRIBE a b");
    subscriptions.confirm("a", false);
    subscriptions.confirm("b", false);
    EXPECT_EQ(next(), "SUBSCRIBE c d");
    EXPECT_EQ(subscriptions.refuse(false), nullptr);
    EXPECT_EQ(next(), "SUBSCRIBE c");
    auto const* const refused = subscriptions.refuse(false);
    ASSERT_NE(refused, nullptr);
    EXPECT_EQ(refused->topic.name, "c");
    EXPECT_EQ(next(), "SUBSCRIBE d");
    subscriptions.confirm("d", false);
    EXPECT_EQ(next(), "-");
    EXPECT_TRUE(subscriptions.has_refused());
    subscriptions.retry();
    EXPECT_FALSE(subscriptions.has_refused());
    EXPECT_EQ(next(), "SUBSCRIBE c");
}

TEST_F(SubscriptionsTest, NobodyIsToBlameForWhatPasses) {
    for (auto const* name : {"a", "b"}) subscriptions.add({name}, a);
    EXPECT_EQ(next(), "SUBSCRIBE a b");
    EXPECT_EQ(subscriptions.refuse(true), nullptr);
    EXPECT_EQ(next(), "-");
    subscriptions.remove({"a"}, a);
    subscriptions.retry();
    EXPECT_EQ(next(), "SUBSCRIBE b");
    EXPECT_EQ(subscriptions.size(), 1u);
}

TEST_F(SubscriptionsTest, ANewConnectionHasNone) {
    subscribe("a");
    subscribe("gone");
    subscriptions.add({"b"}, a);
    EXPECT_EQ(next(), "SUBSCRIBE b");
    subscriptions.remove({"gone"}, a);
    subscriptions.reset();
    EXPECT_FALSE(subscriptions.awaits_answer());
    auto const command = next();
    EXPECT_TRUE(command == "SUBSCRIBE a b" || command == "SUBSCRIBE b a") << command;
    EXPECT_EQ(subscriptions.size(), 2u);
}

TEST_F(SubscriptionsTest, AnswersToNothingAreHarmless) {
    EXPECT_EQ(subscriptions.confirm("c", false), nullptr);
    subscriptions.withdraw("c", false);
    EXPECT_EQ(subscriptions.refuse(false), nullptr);
    subscribe("c");
    subscriptions.withdraw("c", false);
    EXPECT_EQ(next(), "SUBSCRIBE c") << "taken away unasked";
    subscriptions.withdraw("c", false);
    EXPECT_TRUE(subscriptions.awaits_answer());
    EXPECT_EQ(subscriptions.find("c", true), nullptr);
}

/// Redis as these commands see it: what is subscribed, and what is forbidden.
struct Model {
    std::set<Topic, decltype([](Topic const& l, Topic const& r) {
                 return std::tie(l.is_pattern, l.name) < std::tie(r.is_pattern, r.name);
             })>
        there;
    std::set<std::string> forbidden;
};

void answer(Subscriptions& subscriptions, Model& model, Subscriptions::Command const& command,
            std::minstd_rand& random) {
    std::vector<std::string> const names{command.names.begin(), command.names.end()};
    bool refused = random() % 20 == 0;
    bool const transient = refused;
    for (auto const& name : names) {
        refused = refused || (command.subscribe && model.forbidden.contains(name));
    }
    if (refused) {
        subscriptions.refuse(transient);
        return;
    }
    for (auto const& name : names) {
        Topic const topic{name, command.pattern};
        if (command.subscribe) {
            model.there.insert(topic);
            subscriptions.confirm(name, command.pattern);
        } else {
            model.there.erase(topic);
            subscriptions.withdraw(name, command.pattern);
        }
    }
}

TEST(Subscriptions, RandomWishesComeTrue) {
    for (unsigned seed = 0; seed < 300; ++seed) {
        std::minstd_rand random{seed + 1};
        std::array<test::SilentHandler, 2> handlers;
        Subscriptions subscriptions{{100, 3, 1'000}};
        Model model;
        std::map<std::string, std::set<std::size_t>> wanted;
        for (int i = 0; i < 400; ++i) {
            auto const name = std::to_string(random() % 12);
            Topic const topic{name, name.size() > 1};
            auto const who = random() % 2;
            switch (random() % 8) {
                case 0:
                case 1:
                    subscriptions.add(topic, handlers[who]);
                    wanted[name].insert(who);
                    break;
                case 2:
                    subscriptions.remove(topic, handlers[who]);
                    wanted[name].erase(who);
                    break;
                case 3:
                    if (random() % 10 == 0) {
                        subscriptions.reset();
                        model.there.clear();
                    }
                    break;
                case 4:
                    if (random() % 4 == 0) {
                        model.forbidden.contains(name) ? model.forbidden.erase(name)
                                                       : model.forbidden.insert(name).second;
                    }
                    break;
                case 5:
                    subscriptions.retry();
                    break;
                default:
                    if (auto const* const command = subscriptions.next()) {
                        answer(subscriptions, model, *command, random);
                    }
            }
        }
        model.forbidden.clear();
        for (int i = 0; i < 20; ++i) {
            subscriptions.retry();
            while (auto const* const command = subscriptions.next()) {
                answer(subscriptions, model, *command, random);
            }
        }
        std::set<std::string> expected;
        std::set<std::string> found;
        for (auto const& [name, by] : wanted) {
            if (!by.empty()) expected.insert(name);
        }
        for (auto const& topic : model.there) found.insert(topic.name);
        ASSERT_EQ(found, expected) << "seed " << seed;
        ASSERT_EQ(subscriptions.size(), expected.size()) << "seed " << seed;
    }
}

}  // namespace
}  // namespace rollcall::redis
