#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

#include "registry/announce/announcer_machine.hpp"

namespace rollcall::test {

using testing::ElementsAre;
using testing::IsEmpty;
using Machine = AnnouncerMachine;
using Kind = Machine::Call::Kind;
using Beat = Machine::Beat;
using Key = Machine::Key;

class AnnouncerMachineTest : public testing::Test {
protected:
    static ServiceInstance instance(int weight = 1) {
        ServiceInstance result;
        result.service_name = "orders";
        result.weight = weight;
        return result;
    }

    static std::vector<std::string> told(Machine::Notices const& notices) {
        static constexpr char const* names[] = {"registered", "lost",     "removed",
                                                "refused",    "conflict", "drained",
                                                "restored",   "released", "persistent"};
        std::vector<std::string> result;
        for (auto const& notice : notices) {
            result.push_back(std::to_string(notice.key) + ' ' +
                             names[static_cast<int>(notice.event)]);
        }
        return result;
    }

    std::vector<std::string> calls() {
        static constexpr char const* names[] = {"beat", "register", "update", "deregister"};
        std::vector<std::string> result;
        for (auto const& call : machine.next_calls(now)) {
            std::string text = names[static_cast<int>(call.kind)];
            for (auto const key : call.keys) text += ' ' + std::to_string(key);
            result.push_back(text);
            last[call.kind] = call.number;
        }
        return result;
    }

    std::vector<std::string> answer(Kind kind, Machine::Result result) {
        return told(machine.answer_call(last.at(kind), result, now));
    }
    std::vector<std::string> answer(std::vector<Beat> const& beats) {
        return told(machine.answer_round(last.at(Kind::heartbeat), beats, now));
    }

    Key announced(bool stay_out = false) {
        auto const key = machine.add(instance(), stay_out);
        calls();
        answer(Kind::register_instance, Machine::Result::done);
        return key;
    }

    /// Goes to the next round and makes its call.
    void round() {
        now = machine.wake_at();
        ASSERT_THAT(calls(), testing::Contains(testing::StartsWith("beat")));
    }

    /// The only one that is announced.
    void renew_for(std::chrono::milliseconds time) {
        for (auto const end = now + time; now < end;) {
            round();
            answer({Beat::alive});
        }
    }

    AnnouncerTimes const times;
    Machine::Time now{std::chrono::seconds{1'000'000}};
    Machine machine{times, now};
    std::map<Kind, std::uint64_t> last;
};

}  // namespace rollcall::test
