#include "cli/signal_source.hpp"

#include <boost/asio/buffer.hpp>
#include <system_error>

namespace rollcall::cli {

namespace {

int open_blocked(sigset_t const& signals) {
    std::signal(SIGPIPE, SIG_IGN);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    auto const descriptor = signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
    if (descriptor < 0) throw std::system_error{errno, std::generic_category(), "signalfd"};
    return descriptor;
}

}  // namespace

SignalSource::SignalSource(boost::asio::io_context& loop, sigset_t const& signals)
    : signals_(signals), descriptor_(loop, open_blocked(signals)) {}

void SignalSource::start(Handler handler) {
    handler_ = std::move(handler);
    read();
}

void SignalSource::stop() { descriptor_.close(); }

void SignalSource::give_back() {
    stop();
    pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
}

void SignalSource::read() {
    descriptor_.async_read_some(boost::asio::buffer(&info_, sizeof info_),
                                [this](boost::system::error_code error, std::size_t size) {
                                    if (error) return;
                                    auto const info = info_;
                                    read();
                                    if (size == sizeof info) handler_(info);
                                });
}

sigset_t ending_signals() {
    sigset_t signals;
    sigemptyset(&signals);
    for (int const number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&signals, number);
    return signals;
}

}  // namespace rollcall::cli
