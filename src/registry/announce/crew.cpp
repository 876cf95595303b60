#include "registry/announce/crew.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <exception>
#include <string>
#include <utility>

namespace rollcall::announce {
namespace {

/// Empty for what ends a coroutine that was cancelled.
std::string text_of(std::exception_ptr const& error) {
    try {
        std::rethrow_exception(error);
    } catch (boost::system::system_error const& e) {
        return e.code() == asio::error::operation_aborted ? std::string{} : e.what();
    } catch (std::exception const& e) {
        return e.what();
    } catch (...) {
        return "an exception of unknown type";
    }
}

}  // namespace

void Crew::start(Task<void> task) {
    if (dismissed_) return;
    auto const at = members_.insert(members_.end(), std::make_shared<asio::cancellation_signal>());
    // The signal must outlive the handler that is bound to it.
    auto on_end = [this, at, member = *at](std::exception_ptr thrown) {
        members_.erase(at);
        if (members_.empty()) empty_.notify();
        if (!thrown) return;
        if (auto const text = text_of(thrown); !text.empty()) {
            log_.write(LogLevel::error, "announcing", "a part of the announcing ended: " + text);
        }
    };
    asio::co_spawn(io_.get_executor(), std::move(task),
                   asio::bind_cancellation_slot((*at)->slot(), std::move(on_end)));
}

Task<void> Crew::dismiss() {
    dismissed_ = true;
    for (auto const& member : std::list{members_}) member->emit(asio::cancellation_type::terminal);
    while (!members_.empty()) co_await empty_.wait_until(Deadline::max());
}

}  // namespace rollcall::announce
