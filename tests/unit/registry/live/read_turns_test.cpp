#include "registry/live/read_turns.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

namespace rollcall::live {
namespace {

class ReadTurnsTest : public testing::Test {
protected:
    struct Read {
        explicit Read(asio::io_context& io) : over(io, asio::steady_timer::time_point::max()) {}
        asio::steady_timer over;
        bool begun = false;
        bool ended = false;
    };

    static Task<void> read(ReadTurns& turns, std::size_t size, Read& state) {
        co_await asio::this_coro::throw_if_cancelled(false);
        auto const turn = co_await turns.take(size);
        state.begun = turn.has_value();
        if (turn) co_await state.over.async_wait(asio::as_tuple(use_task));
        state.ended = true;
    }
    void start(std::size_t size, asio::cancellation_slot slot = {}) {
        reads.push_back(std::make_unique<Read>(io));
        asio::co_spawn(io, read(turns, size, *reads.back()),
                       asio::bind_cancellation_slot(slot, asio::detached));
        run();
    }
    void end(std::size_t number) {
        reads.at(number)->over.cancel();
        run();
    }
    void run() {
        io.restart();
        io.poll();
    }
    /// One letter a read: `w`aiting, `b`egun, `e`nded without a turn, `.` over.
    std::string states() const {
        std::string all;
        for (auto const& each : reads) {
            all += each->ended ? (each->begun ? '.' : 'e') : (each->begun ? 'b' : 'w');
        }
        return all;
    }

    asio::io_context io;
    ReadTurns turns{1'000};
    std::vector<std::unique_ptr<Read>> reads;
};

TEST_F(ReadTurnsTest, BeginInTheOrderOfComingAsFarAsTheyFit) {
    for (auto const size : {600, 300, 500, 0}) start(static_cast<std::size_t>(size));
    EXPECT_EQ(states(), "bbww") << "the last would fit, and does not overtake";
    end(0);
    EXPECT_EQ(states(), ".bbw") << "300 and 500, and 256 for the smallest";
    end(1);
    EXPECT_EQ(states(), "..bb");
    end(2);
    end(3);
    start(1'000);
    EXPECT_EQ(states(), "....b") << "nothing is left of those before";
}

TEST_F(ReadTurnsTest, TheLargestReadsAlone) {
    start(50'000);
    start(0);
    EXPECT_EQ(states(), "bw");
    end(0);
    start(50'000);
    EXPECT_EQ(states(), ".bw");
    end(1);
    EXPECT_EQ(states(), "..b");
}

TEST_F(ReadTurnsTest, WhoIsEndedWhileItWaitsMakesRoomForTheNext) {
    asio::cancellation_signal signal;
    start(700);
    start(1'000, signal.slot());
    start(300);
    EXPECT_EQ(states(), "bww");
    signal.emit(asio::cancellation_type::terminal);
    run();
    EXPECT_EQ(states(), "beb");
}

}  // namespace
}  // namespace rollcall::live
