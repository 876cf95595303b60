#include "cli/supervise/health_check.hpp"

#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/connect.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/empty_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/write.hpp>
#include <fmt/format.h>
#include <optional>

#include "cli/exit_code.hpp"
#include "core/deadline.hpp"
#include "redis/task.hpp"

namespace rollcall::cli {

namespace http = boost::beast::http;
using asio::ip::tcp;
using Socket = asio::basic_stream_socket<tcp, asio::io_context::executor_type>;
using Resolver = asio::ip::basic_resolver<tcp, asio::io_context::executor_type>;

namespace {

std::chrono::steady_clock::duration left(Deadline deadline) {
    return std::max(deadline - std::chrono::steady_clock::now(),
                    std::chrono::steady_clock::duration{});
}

/// `host` and `port` by value: the coroutine outlives its caller.
Task<std::optional<Socket>> connected(asio::io_context::executor_type executor, std::string host,
                                      std::string port, Deadline deadline) {
    boost::system::error_code error;
    Resolver resolver{executor};
    auto const found = co_await resolver.async_resolve(
        host, port, asio::cancel_after(left(deadline), asio::redirect_error(use_task, error)));
    if (error) co_return std::nullopt;
    Socket socket{executor};
    co_await asio::async_connect(
        socket, found, asio::cancel_after(left(deadline), asio::redirect_error(use_task, error)));
    if (error) co_return std::nullopt;
    co_return std::optional<Socket>{std::move(socket)};
}

/// The first of `hosts` that lets connect, each within an equal share of the time.
Task<std::optional<Socket>> first_connected(asio::io_context::executor_type executor,
                                            std::vector<std::string> hosts, std::string port,
                                            Deadline deadline) {
    for (std::size_t i = 0; i < hosts.size(); ++i) {
        auto const share = left(deadline) / static_cast<int>(hosts.size() - i);
        auto socket = co_await connected(executor, hosts[i], port, after(share));
        if (socket) co_return socket;
    }
    co_return std::nullopt;
}

std::string host_header(std::string const& host, std::string const& port) {
    return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port)
                                               : fmt::format("[{}]:{}", host, port);
}

/// What is wrong with the answer; empty: nothing.
Task<std::string> http_failure(Socket socket, std::string path, std::string host,
                               Deadline deadline) {
    http::request<http::empty_body> request{http::verb::get, path, 11};
    request.set(http::field::host, host);
    request.set(http::field::user_agent, "rollcall");
    request.set(http::field::connection, "close");
    boost::system::error_code error;
    co_await http::async_write(
        socket, request, asio::cancel_after(left(deadline), asio::redirect_error(use_task, error)));
    if (error) co_return fmt::format("GET {}: {}", path, error.message());
    // The head decides: a large or endless body is none of our business.
    boost::beast::flat_buffer buffer;
    http::response_parser<http::empty_body> parser;
    co_await http::async_read_header(
        socket, buffer, parser,
        asio::cancel_after(left(deadline), asio::redirect_error(use_task, error)));
    auto const status = parser.get().result_int();
    if (error) co_return fmt::format("GET {}: {}", path, error.message());
    if (status >= 200 && status < 400) co_return std::string{};
    co_return fmt::format("GET {}: {}", path, status);
}

Task<void> perform(asio::io_context::executor_type executor, std::vector<std::string> hosts,
                   std::string port, CheckSpec spec, Deadline deadline,
                   HealthCheck::Handler handler) {
    auto socket = co_await first_connected(executor, hosts, port, deadline);
    auto failure = socket ? std::string{} : fmt::format("port {} does not accept", port);
    if (socket && spec.kind == CheckSpec::Kind::http) {
        auto header = host_header(hosts.front(), port);
        failure = co_await http_failure(*std::move(socket), spec.path, std::move(header), deadline);
    }
    handler(std::move(failure));
}

}  // namespace

CheckSpec CheckSpec::parse(std::string_view name, std::string_view text) {
    constexpr std::string_view http = "http:";
    if (text == "tcp") return {Kind::tcp, {}};
    if (text.starts_with("http:/") &&
        text.find_first_of(" \t\r\n", http.size()) == std::string_view::npos) {
        return {Kind::http, std::string{text.substr(http.size())}};
    }
    throw UsageError{name, text, "must be tcp or http:/PATH"};
}

HealthCheck::HealthCheck(asio::io_context& loop, std::vector<std::string> hosts, int port)
    : loop_(loop), hosts_(std::move(hosts)), port_(std::to_string(port)) {}

void HealthCheck::connect(std::chrono::milliseconds limit, Handler handler) {
    check({CheckSpec::Kind::tcp, {}}, limit, std::move(handler));
}

void HealthCheck::check(CheckSpec const& spec, std::chrono::milliseconds limit, Handler handler) {
    auto const executor = loop_.get_executor();
    asio::co_spawn(executor,
                   perform(executor, hosts_, port_, spec, after(limit), std::move(handler)),
                   asio::detached);
}

}  // namespace rollcall::cli
