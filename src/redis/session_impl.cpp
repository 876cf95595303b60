#include "redis/session_impl.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <exception>

#include "redis/read_limit.hpp"

namespace rollcall::redis {
namespace {

using boost::system::error_code;
using std::chrono::milliseconds;

constexpr std::size_t read_step = 64 * 1024;
constexpr std::size_t largest_reply = std::size_t{1} << 30;
constexpr std::size_t largest_hello = 2 * read_step;  // A second read may bring its rest.
constexpr auto no_hello = "connected, but no answer to HELLO";
constexpr milliseconds longest_pause{1'000};
constexpr milliseconds shortest_pause{20};

boost::redis::any_adapter adapt(Response& response) {
    using Event = boost::redis::any_adapter::parse_event;
    return boost::redis::any_adapter{
        [&response](Event event, boost::redis::resp3::node_view const& node, error_code&) {
            switch (event) {
                case Event::init:
                    response.begin_reply();
                    break;
                case Event::node:
                    response.add(node);
                    break;
                case Event::done:
                    response.end_reply();
                    break;
            }
        }};
}

boost::redis::config make_config(SessionOptions const& options) {
    boost::redis::config config;
    config.unix_socket = options.url.unix_socket;
    config.addr.host = options.url.host;
    config.addr.port = std::to_string(options.url.port);
    config.use_setup = true;
    config.setup.clear();
    config.health_check_interval = milliseconds::zero();
    config.reconnect_wait_interval = milliseconds::zero();
    config.resolve_timeout = options.connect_limit;
    config.connect_timeout = options.connect_limit;
    config.read_buffer_append_size = read_step;
    config.max_read_size = largest_hello;
    return config;
}

boost::redis::logger silence() {
    using Logger = boost::redis::logger;
    return Logger{Logger::level::disabled, [](Logger::level, std::string_view) {}};
}

}  // namespace

Session::Impl::Impl(asio::io_context& context, SessionOptions settings, Log logger)
    : io(context),
      options(std::move(settings)),
      log(std::move(logger)),
      pipeline(*this, options.max_in_flight, std::chrono::steady_clock::now()),
      config_(make_config(options)),
      connection_(context.get_executor(), silence()),
      deadlines_(context),
      clock_(context),
      random_(std::random_device{}()) {
    auto const& url = options.url;
    if (url.password.empty() && url.user.empty()) {
        hello_.push("HELLO", {"3", "SETNAME", options.client_name});
    } else {
        auto const user = url.user.empty() ? std::string_view{"default"} : url.user;
        hello_.push("HELLO", {"3", "AUTH", user, url.password, "SETNAME", options.client_name});
    }
    if (url.database != 0) hello_.push("SELECT", {std::to_string(url.database)});
    ping_.push("PING");
}

void Session::Impl::start() {
    if (std::exchange(started_, true)) return;
    last_error = "no attempt to connect has ended yet";
    asio::co_spawn(io, connect_for_ever(), asio::detached);
}

void Session::Impl::stop() {
    if (std::exchange(stopping_, true)) return;
    pipeline.refuse(Failure{errc::closed, "the client is closed"});
    connection_.cancel();
    clock_.cancel();
    deadlines_.cancel();
}

Task<void> Session::Impl::connect_for_ever() {
    while (!stopping_) {
        begin_attempt();
        auto const [error] = co_await connection_.async_run(config_, asio::as_tuple(use_task));
        end_attempt(error);
        if (stopping_) break;
        clock_.expires_after(next_pause());
        co_await clock_.async_wait(asio::as_tuple(use_task));
    }
}

void Session::Impl::begin_attempt() {
    phase_ = Phase::connecting;
    if (!hello_sent_) send_hello();
    clock_.expires_after(options.connect_limit);
    clock_.async_wait([this](error_code error) {
        if (!error && phase_ == Phase::connecting)
            abandon(silent_peer() ? no_hello : "no answer in time");
    });
}

void Session::Impl::end_attempt(error_code error) {
    auto const was_connected = pipeline.is_open();
    pipeline.close();
    clock_.cancel();
    if (phase_ != Phase::ending) {
        last_error =
            error == asio::error::eof ? "the server closed the connection" : error.message();
    }
    phase_ = Phase::idle;
    if (stopping_) return;
    if (!std::exchange(refused_, false)) pipeline.wait_again();
    ++failures_;
    log.write_state(LogLevel::warning, "connection", was_connected ? "lost" : "absent",
                    (was_connected ? "lost the connection to " : "cannot connect to ") +
                        options.url.to_string() + ", will keep trying: " + last_error);
}

void Session::Impl::abandon(std::string why) {
    last_error = std::move(why);
    phase_ = Phase::ending;
    pipeline.close();
    connection_.cancel(boost::redis::operation::run);
}

milliseconds Session::Impl::next_pause() {
    auto const limit = std::min(longest_pause, milliseconds{50} * (1 << std::min(failures_, 5u)));
    return milliseconds{std::uniform_int_distribution<milliseconds::rep>{shortest_pause.count(),
                                                                         limit.count()}(random_)};
}

void Session::Impl::send_hello() {
    hello_sent_ = true;
    hello_replies_.clear();
    // A request that contains HELLO goes before those that wait.
    connection_.async_exec(hello_.wire(), adapt(hello_replies_),
                           [this](error_code error, std::size_t) { on_hello(error); });
}

void Session::Impl::on_hello(error_code error) {
    hello_sent_ = false;
    if (stopping_) return;
    if (error) {
        if (phase_ == Phase::connecting) send_hello();
        return;
    }
    if (phase_ != Phase::connecting) return;
    for (std::size_t i = 0; i < hello_replies_.size(); ++i) {
        auto const reply = hello_replies_[i];
        if (!reply.is_error()) continue;
        auto const failure = failure_of(reply, "logging in");
        refused_ = !is_transient(failure.code());
        if (refused_) pipeline.refuse(failure);
        abandon(failure.detail());
        return;
    }
    phase_ = Phase::connected;
    failures_ = 0;
    last_error.clear();
    set_no_delay();
    set_read_limit(connection_, config_, largest_reply);
    log.write_state(LogLevel::info, "connection", "connected",
                    "connected to " + options.url.to_string());
    heard_ = true;
    asked_at_.reset();
    pipeline.open();
    watch();
}

void Session::Impl::watch() {
    clock_.expires_after(options.ping_interval);
    clock_.async_wait([this](error_code error) {
        if (!error && phase_ == Phase::connected) on_watch();
    });
}

void Session::Impl::on_watch() {
    auto const now = std::chrono::steady_clock::now();
    if (std::exchange(heard_, false)) {
        asked_at_.reset();
    } else if (!asked_at_) {
        asked_at_ = now;
        send_ping();
    } else if (now - *asked_at_ >= options.patience) {
        abandon("the server is silent");
        return;
    }
    watch();
}

void Session::Impl::send_ping() {
    if (std::exchange(ping_sent_, true)) return;
    ping_reply_.clear();
    connection_.async_exec(ping_.wire(), adapt(ping_reply_), [this](error_code error, std::size_t) {
        ping_sent_ = false;
        if (!error) heard_ = true;
    });
}

void Session::Impl::send(Flight& flight) {
    using Event = boost::redis::any_adapter::parse_event;
    boost::redis::any_adapter adapter{
        [this, &flight](Event event, boost::redis::resp3::node_view const& node, error_code&) {
            heard_ = true;
            pipeline.receive(flight, event, node);
        }};
    connection_.async_exec(
        flight.wire(), std::move(adapter),
        [this, &flight](error_code error, std::size_t) { pipeline.landed(flight, !!error); });
}

void Session::Impl::schedule_turn() {
    if (std::exchange(turn_scheduled_, true)) return;
    asio::post(io, [this] {
        turn_scheduled_ = false;
        pipeline.turn();
    });
}

void Session::Impl::expect(Deadline moment) {
    if (moment < armed_) arm(moment);
}

void Session::Impl::arm(Deadline moment) {
    armed_ = moment;
    deadlines_.expires_at(moment);
    deadlines_.async_wait([this](error_code error) {
        if (error) return;
        pipeline.expire(std::chrono::steady_clock::now());
        armed_ = Deadline::max();
        if (auto const next = pipeline.next_deadline()) arm(*next);
    });
}

std::string Session::Impl::why_not_connected() const {
    return options.url.to_string() + ": " + (silent_peer() ? no_hello : last_error);
}

// The socket itself is only to be had by an accessor that Boost deprecates, without a substitute.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

void Session::Impl::set_no_delay() {
    if (!options.url.unix_socket.empty()) return;
    error_code ignored;
    connection_.next_layer().next_layer().set_option(asio::ip::tcp::no_delay{true}, ignored);
}

bool Session::Impl::silent_peer() const {
    if (phase_ != Phase::connecting) return false;
    if (!options.url.unix_socket.empty()) return true;  // It connects, or fails, at once.
    error_code error;
    (void)connection_.next_layer().next_layer().remote_endpoint(error);
    return !error;
}

std::string Session::Impl::local_address() const {
    if (phase_ != Phase::connected || !options.url.unix_socket.empty()) return {};
    error_code error;
    auto const end = connection_.next_layer().next_layer().local_endpoint(error);
    return error ? std::string{} : end.address().to_string();
}

#pragma GCC diagnostic pop

}  // namespace rollcall::redis
