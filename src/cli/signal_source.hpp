#pragma once

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <csignal>
#include <functional>
#include <sys/signalfd.h>

namespace rollcall::cli {

/// Signals as events of a loop. Made before any thread is, so that all threads block them.
class SignalSource {
public:
    using Handler = std::function<void(signalfd_siginfo const&)>;

    /// Blocks `signals`, and ignores SIGPIPE: a closed output must not end what runs on.
    SignalSource(boost::asio::io_context& loop, sigset_t const& signals);

    void start(Handler handler);
    void stop();
    /// The same; and the signals do again what they did before, those that wait at once.
    void give_back();

private:
    void read();

    sigset_t const signals_;
    boost::asio::posix::stream_descriptor descriptor_;
    Handler handler_;
    signalfd_siginfo info_ = {};
};

sigset_t ending_signals();  ///< SIGTERM, SIGINT, SIGHUP.

}  // namespace rollcall::cli
