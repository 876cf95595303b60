#include "redis/client_core.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <boost/system/system_error.hpp>
#include <exception>
#include <pthread.h>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <unistd.h>

#include "redis/event.hpp"
#include "redis/late_threads.hpp"
#include "redis/server_watch.hpp"
#include "redis/signal_block.hpp"

namespace rollcall::redis {
namespace {

using std::chrono::milliseconds;

constexpr std::chrono::hours longest_timeout{24};
constexpr std::size_t most_in_flight = 100'000;
constexpr milliseconds before_next_start{20};

bool is_cancellation(std::exception_ptr const& error) {
    try {
        std::rethrow_exception(error);
    } catch (boost::system::system_error const& e) {
        return e.code() == asio::error::operation_aborted;
    } catch (...) {
        return false;
    }
}

/// No type of Boost leaves the library: a program may use another version of it.
[[noreturn]] void rethrow_as_standard(std::exception_ptr const& error) {
    try {
        std::rethrow_exception(error);
    } catch (boost::system::system_error const& e) {
        throw std::system_error{std::error_code{e.code()}, "the event loop of a client"};
    }
}

std::string text_of(std::exception_ptr const& error) {
    try {
        std::rethrow_exception(error);
    } catch (std::exception const& e) {
        return e.what();
    } catch (...) {
        return "an exception of unknown type";
    }
}

}  // namespace

/// What the thread uses; it lives as long as the thread, which may outlive the core by the time of
/// a name resolution that nothing can interrupt.
struct ClientCore::Loop {
    Loop(SessionOptions options, Log const& logger)
        : log(logger),
          session_options(watched(std::move(options))),
          session(io, session_options, logger) {
        session.attach(outage);
    }

    static SessionOptions watched(SessionOptions options) {
        options.servers = std::make_shared<ServerWatch>();
        return options;
    }

    void run() noexcept {
        ::pthread_setname_np(::pthread_self(), "rollcall-io");
        while (!done()) continue;
        ended.set();
    }

    /// Whether all is done. Without memory for the beginning, it is begun again after a pause.
    bool done() noexcept {
        try {
            if (!started && !stopping) session.start();
            started = true;
            io.run();
            return true;
        } catch (...) {
            tell(std::current_exception());
        }
        if (started) return false;
        std::this_thread::sleep_for(before_next_start);
        try {
            io.poll();
        } catch (...) {
            tell(std::current_exception());
        }
        return false;
    }

    void tell(std::exception_ptr const& error) const noexcept {
        try {
            log.write(LogLevel::error, "io thread",
                      "an exception reached the I/O thread: " + text_of(error));
        } catch (...) {
            return;  // There is no memory for the words either.
        }
    }

    void stop() {
        asio::post(io, [this] {
            stopping = true;
            session.stop();
            if (subscriber) subscriber->stop();
            work.reset();
        });
    }

    Subscriber& get_subscriber() {
        if (!subscriber) {
            subscriber =
                std::make_unique<Subscriber>(io, session_options, SubscriberOptions{}, log);
            if (stopping) subscriber->stop();
        }
        if (!stopping) subscriber->start();
        return *subscriber;
    }

    Log log;
    SessionOptions session_options;
    asio::io_context io{1};
    asio::executor_work_guard<asio::io_context::executor_type> work{io.get_executor()};
    Session session;
    Outage outage{session, session_options.url};
    std::unique_ptr<Subscriber> subscriber;  // On the I/O thread only, as is the next.
    bool stopping = false;
    bool started = false;
    Event ended;
};

struct ClientCore::Running {
    std::shared_ptr<Loop> loop;  // Shared with the thread.
    std::thread thread;
};

struct Background::State {
    void cancel() {
        cancelled = true;
        signal.emit(asio::cancellation_type::terminal);
    }

    asio::cancellation_signal signal;  // On the I/O thread only, as is the next.
    bool cancelled = false;
    Event ended;
};

std::shared_ptr<ClientCore> ClientCore::create(ClientOptions options) {
    return create(std::move(options), SessionOptions{});
}

std::shared_ptr<ClientCore> ClientCore::create(ClientOptions options, SessionOptions session) {
    if (options.request_timeout <= milliseconds::zero() ||
        options.request_timeout > longest_timeout) {
        throw std::invalid_argument("request_timeout " +
                                    std::to_string(options.request_timeout.count()) +
                                    "ms: must be above zero and at most 24 hours");
    }
    if (options.max_in_flight < 1 || options.max_in_flight > most_in_flight) {
        throw std::invalid_argument("max_in_flight " + std::to_string(options.max_in_flight) +
                                    ": must be 1 to " + std::to_string(most_in_flight));
    }
    session.url = options.url.empty() ? default_url() : Url::parse(options.url);
    session.max_in_flight = options.max_in_flight;
    try {
        return std::shared_ptr<ClientCore>{new ClientCore{std::move(options), std::move(session)}};
    } catch (boost::system::system_error const&) {
        rethrow_as_standard(std::current_exception());
    }
}

ClientCore::ClientCore(ClientOptions options, SessionOptions session)
    : log_(std::move(options.log)),
      callbacks_(std::make_shared<CallbackThread>(log_)),
      url_(session.url),
      request_timeout_(options.request_timeout),
      owner_(::getpid()),
      running_(std::make_unique<Running>()) {
    running_->loop = std::make_shared<Loop>(std::move(session), log_);
    expect_late_threads();
    SignalBlock const block;
    running_->thread = std::thread{[loop = running_->loop] { loop->run(); }};
    callbacks_->never_wait_in(running_->thread.get_id());
}

ClientCore::~ClientCore() {
    if (closed()) {
        // The thread is the parent's, and so are the sockets and what epoll watches: even closing
        // them properly would speak on the parent's connection.
        static_cast<void>(running_.release());
        return;
    }
    auto& [loop, thread] = *running_;
    loop->stop();
    bool const waits = !on_io_thread();
    if (waits && loop->ended.wait_for(patience_at_end_)) {
        thread.join();
    } else {
        auto const further = waits ? milliseconds::zero() : patience_at_end_;
        leave_behind(std::move(thread), {loop, &loop->ended}, further);
    }
    // What it still holds may share it, so that it would be its own last owner.
    if (waits) callbacks_->end();
}

Session& ClientCore::session() noexcept { return running_->loop->session; }

Subscriber& ClientCore::subscriber() { return running_->loop->get_subscriber(); }

std::shared_ptr<ServerWatch> const& ClientCore::servers() const {
    return running_->loop->session_options.servers;
}

std::optional<Outage::State> ClientCore::outage() const { return running_->loop->outage.now(); }

asio::io_context& ClientCore::io() noexcept { return running_->loop->io; }

bool ClientCore::on_io_thread() const noexcept {
    return std::this_thread::get_id() == running_->thread.get_id();
}

bool ClientCore::closed() const noexcept { return ::getpid() != owner_; }

std::optional<Failure> ClientCore::run_to_end(std::function<Task<void>()> const& make) {
    if (closed()) return was_forked();
    if (on_io_thread()) return Failure{errc::closed, "called on the client's own I/O thread"};
    auto const self = shared_from_this();
    Event ended;
    std::exception_ptr error;
    asio::post(io(), [&] {
        try {
            asio::co_spawn(io().get_executor(), make(), [&](std::exception_ptr thrown) {
                error = std::move(thrown);
                ended.set();
            });
        } catch (...) {
            error = std::current_exception();
            ended.set();
        }
    });
    ended.wait();
    if (error) rethrow_as_standard(error);
    return std::nullopt;
}

Background ClientCore::spawn(std::function<Task<void>()> make) {
    if (closed()) return {};
    auto state = std::make_shared<Background::State>();
    asio::post(io(), [loop = running_->loop.get(), state, make = std::move(make)] {
        auto on_end = [loop, state](std::exception_ptr thrown) {
            if (thrown && !is_cancellation(thrown)) {
                loop->log.write(LogLevel::error, "background",
                                "background work ended: " + text_of(thrown));
            }
            state->ended.set();
        };
        if (state->cancelled) return on_end(nullptr);
        try {
            asio::co_spawn(loop->io.get_executor(), make(),
                           asio::bind_cancellation_slot(state->signal.slot(), on_end));
        } catch (...) {
            on_end(std::current_exception());
        }
    });
    return Background{shared_from_this(), std::move(state)};
}

Background& Background::operator=(Background&& other) noexcept {
    if (this != &other) {
        stop();
        core_ = std::move(other.core_);
        state_ = std::move(other.state_);
    }
    return *this;
}

void Background::stop() noexcept {
    auto const core = std::move(core_);
    auto const state = std::move(state_);
    if (!state || core->closed()) return;
    if (core->on_io_thread()) {
        state->cancel();
        return;
    }
    asio::post(core->io(), [state] { state->cancel(); });
    state->ended.wait();
}

}  // namespace rollcall::redis
