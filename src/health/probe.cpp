#include "health/probe.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <exception>

#include "core/deadline.hpp"
#include "core/text.hpp"
#include "health/http_exchange.hpp"

namespace rollcall::health {
namespace {

using asio::ip::tcp;
using Clock = std::chrono::steady_clock;
using Code = boost::system::error_code;
using Socket = asio::basic_stream_socket<tcp, asio::io_context::executor_type>;

Clock::duration left(Deadline deadline) {
    return std::max(deadline - Clock::now(), Clock::duration::zero());
}

std::string reason_of(std::string_view step, Code error) {
    auto const text = error == asio::error::operation_aborted ? "timed out" : error.message();
    return joined({step, ": ", text});
}

/// What came of a question: a status, or why the request failed.
struct Answer {
    HttpStatus status;
    std::string failure;
};

Task<void> connect(Socket& socket, Probe const& probe, std::string& failure) {
    std::vector<tcp::endpoint> endpoints;
    endpoints.reserve(probe.addresses.size());
    for (auto const& address : probe.addresses) endpoints.emplace_back(address, probe.port);
    Code error;
    co_await asio::async_connect(
        socket, endpoints,
        asio::cancel_after(probe.connect_limit, asio::redirect_error(use_task, error)));
    if (error) failure = reason_of("connect", error);
}

template <class Stream>
Task<void> read_answer(Stream& stream, Deadline deadline, Answer& answer) {
    std::string received;
    std::array<char, 4096> part{};
    while (answer.status.kind == HttpStatus::Kind::incomplete) {
        Code error;
        auto const size = co_await stream.async_read_some(
            asio::buffer(part),
            asio::cancel_after(left(deadline), asio::redirect_error(use_task, error)));
        received.append(part.data(), size);
        answer.status = read_status(received);
        if (error && answer.status.kind == HttpStatus::Kind::incomplete) {
            answer.failure = reason_of("read", error);
            co_return;
        }
    }
}

template <class Stream>
Task<void> ask(Stream& stream, std::string const& request, Deadline deadline, Answer& answer) {
    Code error;
    co_await asio::async_write(
        stream, asio::buffer(request),
        asio::cancel_after(left(deadline), asio::redirect_error(use_task, error)));
    if (error) {
        answer.failure = reason_of("write", error);
        co_return;
    }
    co_await read_answer(stream, deadline, answer);
}

using TlsStream = asio::ssl::stream<Socket&>;

/// Whether the stream was told whom it talks to.
bool prepare(TlsStream& stream, HttpQuestion const& question) {
    Code not_an_address;
    asio::ip::make_address(question.host, not_an_address);
    // Only names may be announced to the server.
    if (not_an_address &&
        SSL_set_tlsext_host_name(stream.native_handle(), question.host.c_str()) != 1) {
        return false;
    }
    Code error;
    stream.set_verify_mode(
        question.verify_certificate ? asio::ssl::verify_peer : asio::ssl::verify_none, error);
    if (error || !question.verify_certificate) return !error;
    stream.set_verify_callback(asio::ssl::host_name_verification{question.host}, error);
    return !error;
}

Task<void> ask_over_tls(Socket& socket, HttpQuestion const& question, std::string const& request,
                        Deadline deadline, Answer& answer) {
    TlsStream stream{socket, *question.tls};
    if (!prepare(stream, question)) {
        answer.failure = "TLS: no host name to verify";
        co_return;
    }
    Code error;
    co_await stream.async_handshake(
        TlsStream::client,
        asio::cancel_after(left(deadline), asio::redirect_error(use_task, error)));
    if (error) {
        answer.failure = reason_of("TLS", error);
        co_return;
    }
    co_await ask(stream, request, deadline, answer);
}

Task<void> ask_over_http(Socket& socket, Probe const& probe, Answer& answer) {
    auto const& question = *probe.question;
    auto const request = http_request(question.host, probe.port, question.endpoint);
    auto const deadline = after(question.limit);
    if (question.tls) {
        co_await ask_over_tls(socket, question, request, deadline, answer);
    } else {
        co_await ask(socket, request, deadline, answer);
    }
}

/// The instance may have gone meanwhile, so it is connected to again.
Task<void> fall_back(Probe const& probe, HealthCheckResult& result) {
    Socket socket{co_await asio::this_coro::executor};
    std::string failure;
    co_await connect(socket, probe, failure);
    result.healthy = failure.empty();
    if (!result.healthy) result.reason += "; " + failure;
}

Task<void> judge(Probe const& probe, HealthCheckResult& result) {
    Answer answer;
    {
        Socket socket{co_await asio::this_coro::executor};
        co_await connect(socket, probe, result.reason);
        // Where that failed there is nothing to fall back to: it was a TCP connect.
        if (!result.reason.empty()) co_return;
        if (probe.question) co_await ask_over_http(socket, probe, answer);
    }
    if (!probe.question) {
        result.healthy = true;
        co_return;
    }
    auto const& question = *probe.question;
    auto const what = joined({"GET ", question.endpoint, ": "});
    if (!answer.failure.empty()) {
        result.reason = what + answer.failure;
        if (question.tcp_fallback) co_await fall_back(probe, result);
    } else if (answer.status.kind == HttpStatus::Kind::malformed) {
        result.reason = what + "the answer is not HTTP/1";
    } else {
        result.healthy = is_healthy_status(answer.status.code);
        if (!result.healthy) result.reason = what + std::to_string(answer.status.code);
    }
}

}  // namespace

Task<void> perform(Probe const& probe, HealthCheckResult& result) {
    auto const begun = Clock::now();
    co_await judge(probe, result);
    result.latency = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun);
}

HealthCheckResult perform_here(Probe const& probe) {
    HealthCheckResult result;
    std::exception_ptr thrown;
    asio::io_context loop{1};
    asio::co_spawn(loop.get_executor(), perform(probe, result),
                   [&thrown](std::exception_ptr error) { thrown = std::move(error); });
    loop.run();
    if (thrown) std::rethrow_exception(thrown);
    return result;
}

}  // namespace rollcall::health
