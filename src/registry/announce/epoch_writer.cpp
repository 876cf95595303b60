#include "registry/announce/epoch_writer.hpp"

#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/this_coro.hpp>
#include <chrono>
#include <utility>

#include "registry/announce/epoch_keeper.hpp"
#include "registry/announce/wake.hpp"

namespace rollcall::announce {
namespace {

// After a failure, and for users who may not be told of changes.
constexpr std::chrono::seconds before_next_try{1};
constexpr std::chrono::seconds between_looks{60};

Task<void> keep_epoch(std::shared_ptr<redis::ClientCore> core, std::string key) {
    Wake wake{core->io()};
    EpochKeeper keeper{*core, std::move(key), [&wake] { wake.notify(); }};
    struct Guard {
        EpochKeeper& keeper;
        ~Guard() { keeper.stop(); }
    } const guard{keeper};
    keeper.start();
    for (;;) {
        auto const found = co_await keeper.assert_epoch(core->deadline());
        co_await wake.wait_until(after(found ? between_looks : before_next_try));
        auto const state = co_await asio::this_coro::cancellation_state;
        if (state.cancelled() != asio::cancellation_type::none) co_return;
    }
}

}  // namespace

EpochWriter::EpochWriter(std::shared_ptr<redis::ClientCore> const& core, std::string key)
    : work_(core->spawn([core, key = std::move(key)] { return keep_epoch(core, key); })) {}

}  // namespace rollcall::announce
