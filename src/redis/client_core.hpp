#pragma once

#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include "core/deadline.hpp"
#include "core/log.hpp"
#include "core/result.hpp"
#include "redis/session.hpp"
#include "redis/task.hpp"

#include "rollcall/client.hpp"

namespace rollcall::redis {

/// One I/O thread with its session: what a `Client` owns and layouts keep alive.
///
/// Thread safety: `run`, `spawn`, `closed` and the accessors from any thread; the session on the
/// I/O thread only. In a forked child every `run` fails with `errc::closed`.
class ClientCore : public std::enable_shared_from_this<ClientCore> {
public:
    static std::shared_ptr<ClientCore> create(ClientOptions options);
    ~ClientCore();

    Session& session() noexcept;
    asio::io_context& io() noexcept;
    Log const& log() const noexcept;
    Url const& url() const noexcept;
    std::chrono::milliseconds request_timeout() const noexcept;
    Deadline deadline() const { return after(request_timeout()); }

    /// Runs `make()`, a `Task<Result<T>>`, on the I/O thread and waits for it. `make` is called on
    /// the I/O thread, so that the coroutine's parameters live in this frame until it ends.
    /// Called on the I/O thread itself it fails with `errc::closed`.
    template <class Make>
    auto run(Make&& make) -> typename std::invoke_result_t<Make&>::value_type;
};

}  // namespace rollcall::redis
