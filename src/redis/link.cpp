#include "redis/link.hpp"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <exception>

#include "redis/info.hpp"
#include "redis/read_limit.hpp"
#include "redis/server_watch.hpp"

namespace rollcall::redis {
namespace {

using boost::system::error_code;
using std::chrono::milliseconds;

constexpr std::size_t read_step = 64 * 1024;
constexpr std::size_t largest_hello = 2 * read_step;  // A second read may bring its rest.
constexpr auto no_hello = "connected, but no answer to HELLO";
constexpr milliseconds longest_pause{1'000};
constexpr milliseconds shortest_pause{20};
constexpr milliseconds longest_delay{50};  // Of a timer, in a process that gets its time.

/// `on_reply` is called behind each reply, from where the connection is being read.
template <class OnReply>
boost::redis::any_adapter adapt(Response& response, OnReply on_reply) {
    using Event = boost::redis::any_adapter::parse_event;
    return boost::redis::any_adapter{
        [&response, on_reply](Event event, boost::redis::resp3::node_view const& node,
                              error_code&) {
            switch (event) {
                case Event::init:
                    response.begin_reply();
                    break;
                case Event::node:
                    response.add(node);
                    break;
                case Event::done:
                    response.end_reply();
                    on_reply();
                    break;
            }
        }};
}

boost::redis::any_adapter adapt(Response& response) {
    return adapt(response, [] {});
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

/// Of the map that HELLO is answered by; 0 when it is none.
std::int64_t client_id_in(Value hello) {
    std::string_view key;
    for (auto const part : hello) {
        if (key == "id") return part.integer();
        key = part.text();
    }
    return 0;
}

/// Redis before 7.0 puts a script's own words before those of the command that was refused.
bool is_refusal_to_write(boost::redis::resp3::node_view const& node) {
    using Type = boost::redis::resp3::type;
    if (node.data_type != Type::simple_error && node.data_type != Type::blob_error) return false;
    return node.value.starts_with("READONLY ") ||
           node.value.find("-READONLY ") != std::string_view::npos;
}

}  // namespace

/// CLIENT KILL, under way on one connection. Never sent on another, which may lead elsewhere.
struct Link::Killing {
    std::uint64_t attempt = 0;
    std::vector<Fence::Ended> ended = {};
    boost::redis::request wire{boost::redis::request::config{true, false, true, false}};
    Response replies = {};
};

Link::Link(asio::io_context& io, SessionOptions options, Log log, LinkRole role, Owner* owner)
    : io_(io),
      options_(std::move(options)),
      role_(std::move(role)),
      log_(std::move(log)),
      owner_(owner),
      pipeline_(*this, options_.max_in_flight, std::chrono::steady_clock::now()),
      config_(make_config(options_)),
      connection_(io.get_executor(), silence()),
      deadlines_(io),
      clock_(io),
      random_(std::random_device{}()),
      answers_(options_.answer_limit) {
    if (options_.servers) options_.servers->add(*this);
    auto const& url = options_.url;
    if (url.password.empty() && url.user.empty()) {
        hello_.push("HELLO", {"3", "SETNAME", options_.client_name});
    } else {
        auto const user = url.user.empty() ? std::string_view{"default"} : url.user;
        hello_.push("HELLO", {"3", "AUTH", user, url.password, "SETNAME", options_.client_name});
    }
    if (url.database != 0) hello_.push("SELECT", {std::to_string(url.database)});
    hello_.push("INFO", {"server"});
    ping_.push("PING");
}

Link::~Link() {
    if (options_.servers) options_.servers->remove(*this);
}

void Link::start() {
    if (started_) return;
    last_error_ = "no attempt to connect has ended yet";
    asio::co_spawn(io_, connect_for_ever(), asio::detached);
    started_ = true;  // Where there was no memory for it, it may be called again.
}

void Link::stop() {
    if (std::exchange(stopping_, true)) return;
    pipeline_.refuse(Failure{errc::closed, "the client is closed"});
    connection_.cancel();
    clock_.cancel();
    deadlines_.cancel();
}

Task<void> Link::connect_for_ever() {
    while (!stopping_) {
        begin_attempt();
        auto const [error] = co_await connection_.async_run(config_, asio::as_tuple(use_task));
        end_attempt(error);
        if (stopping_) break;
        clock_.expires_after(next_pause());
        co_await clock_.async_wait(asio::as_tuple(use_task));
    }
}

void Link::begin_attempt() {
    phase_ = Phase::connecting;
    ++attempt_;
    server_.clear();
    client_id_ = 0;
    was_connected_ = false;
    silent_since_.reset();
    attempt_end_ = after(options_.connect_limit);
    if (!hello_sent_) send_hello();
    watch_attempt();
}

void Link::watch_attempt() {
    // Asio does not tell when the connection is made, only afterwards that it is.
    clock_.expires_at(std::min(attempt_end_, after(options_.login_limit / 5)));
    clock_.async_wait([this](error_code error) {
        if (!error && phase_ == Phase::connecting) on_watch_attempt();
    });
}

void Link::on_watch_attempt() {
    auto const now = std::chrono::steady_clock::now();
    bool const silent = silent_peer();
    if (silent && !silent_since_) silent_since_ = now;
    if (silent && now - *silent_since_ >= options_.login_limit) return abandon(no_hello);
    if (now >= attempt_end_) return abandon(silent ? no_hello : "no answer in time");
    watch_attempt();
}

void Link::end_attempt(error_code error) {
    clock_.cancel();
    if (phase_ != Phase::ending) {
        take_down(Phase::idle,
                  error == asio::error::eof ? "the server closed the connection" : error.message());
    }
    phase_ = Phase::idle;
    if (stopping_) return;
    denied_ = std::exchange(refused_, false);
    if (!denied_) pipeline_.wait_again();
    ++failures_;
    log_.write_state(LogLevel::warning, "connection" + role_.purpose,
                     was_connected_ ? "lost" : "absent",
                     (was_connected_ ? "lost the connection" : "cannot connect") + role_.purpose +
                         " to " + options_.url.to_string() + ", will keep trying: " + last_error_);
    if (!was_connected_ && owner_) owner_->on_failed_attempt();
}

void Link::abandon(std::string why) {
    if (phase_ != Phase::connecting && phase_ != Phase::connected) return;
    take_down(Phase::ending, std::move(why));
    connection_.cancel(boost::redis::operation::run);
}

void Link::abandon_soon(std::string why) {
    asio::post(io_, [this, attempt = attempt_, why = std::move(why)]() mutable {
        if (attempt == attempt_) abandon(std::move(why));
    });
}

void Link::take_down(Phase next, std::string why) {
    last_error_ = std::move(why);
    was_connected_ = connected();
    if (pipeline_.left_unanswered()) fence_.remember({server_, client_id_});
    phase_ = next;
    pipeline_.close();
    if (was_connected_ && owner_ && !stopping_) owner_->on_down();
}

milliseconds Link::next_pause() {
    auto const limit = std::min(longest_pause, milliseconds{50} * (1 << std::min(failures_, 5u)));
    return milliseconds{std::uniform_int_distribution<milliseconds::rep>{shortest_pause.count(),
                                                                         limit.count()}(random_)};
}

void Link::send_hello() {
    hello_sent_ = true;
    hello_replies_.clear();
    // A refusal is all that comes of one whom Redis takes for one client too many.
    auto const on_reply = [this] {
        if (!hello_replies_[hello_replies_.size() - 1].is_error()) return;
        asio::post(io_, [this, attempt = attempt_] {
            if (attempt == attempt_ && phase_ == Phase::connecting) (void)was_refused();
        });
    };
    // A request that contains HELLO goes before those that wait.
    connection_.async_exec(hello_.wire(), adapt(hello_replies_, on_reply),
                           [this](error_code error, std::size_t) { on_hello(error); });
}

void Link::on_hello(error_code error) {
    hello_sent_ = false;
    if (stopping_) return;
    if (error) {
        if (phase_ == Phase::connecting) send_hello();
        return;
    }
    if (phase_ != Phase::connecting) return;
    if (was_refused()) return;
    note_server();
    auto const ended = fence_.of(server_);
    ended.empty() ? come_up() : kill(ended);
}

bool Link::was_refused() {
    // The last is INFO, which we can do without.
    auto const needed = std::min(hello_replies_.size(), hello_.size() - 1);
    for (std::size_t i = 0; i < needed; ++i) {
        auto const reply = hello_replies_[i];
        if (!reply.is_error()) continue;
        auto const failure = failure_of(reply, "logging in");
        refused_ = !is_transient(failure.code());
        if (refused_) pipeline_.refuse(failure);
        abandon(failure.detail());
        return true;
    }
    return false;
}

void Link::note_server() {
    client_id_ = client_id_in(hello_replies_[0]);
    server_ = info_id(hello_replies_[hello_replies_.size() - 1], "run_id");
}

void Link::kill(std::vector<Fence::Ended> const& ended) {
    auto killing = std::make_shared<Killing>();
    killing->attempt = attempt_;
    killing->ended = ended;
    for (auto const& each : ended) killing->wire.push("CLIENT", "KILL", "ID", each.client_id);
    auto& request = *killing;
    connection_.async_exec(request.wire, adapt(request.replies),
                           [this, killing = std::move(killing)](error_code error, std::size_t) {
                               bool const of_another =
                                   killing->attempt != attempt_ || phase_ != Phase::connecting;
                               if (!error && !stopping_ && !of_another) on_killed(*killing);
                           });
}

void Link::on_killed(Killing const& killing) {
    for (std::size_t i = 0; i < killing.ended.size(); ++i) {
        auto const reply = killing.replies[i];
        if (!reply.is_error()) {
            fence_.settle(killing.ended[i]);
            continue;
        }
        log_.write_state(LogLevel::info, "fence", "refused",
                         failure_of(reply, "dropping an ended connection").detail() +
                             "; what was written on it may be carried out late");
    }
    come_up();
}

void Link::come_up() {
    phase_ = Phase::connected;
    connected_at_ = std::chrono::steady_clock::now();
    failures_ = 0;
    denied_ = false;
    last_error_.clear();
    set_no_delay();
    set_read_limit(connection_, config_, role_.largest_reply);
    log_.write_state(LogLevel::info, "connection" + role_.purpose, "connected",
                     "connected" + role_.purpose + " to " + options_.url.to_string());
    heard_ = true;
    asked_at_.reset();
    pardoned_ = false;
    answers_.begin(arrived(), connected_at_);
    pipeline_.open();
    watch();
    if (owner_) owner_->on_up();
    if (options_.servers) (void)options_.servers->together();
}

void Link::watch() {
    next_look_ = after(options_.ping_interval);
    if (asked_at_) next_look_ = std::min(next_look_, *asked_at_ + options_.patience);
    clock_.expires_at(next_look_);
    clock_.async_wait([this](error_code error) {
        if (!error && phase_ == Phase::connected) on_watch();
    });
}

void Link::on_watch() {
    auto const now = std::chrono::steady_clock::now();
    if (options_.servers) (void)options_.servers->together();
    if (!answers(now)) return abandon("the server sends bytes, but no answers");
    if (heard_anything()) {
        asked_at_.reset();
        pardoned_ = false;
    } else if (!asked_at_) {
        asked_at_ = now;
        if (!owner_ || !owner_->awaits_answer()) send_ping();
    } else if (now - next_look_ > longest_delay && !std::exchange(pardoned_, true)) {
        // We were held up, not the server: what it said meanwhile may not have been read yet.
        asked_at_ = now;
    } else if (now - *asked_at_ >= options_.patience) {
        return abandon("the server is silent");
    }
    watch();
}

bool Link::heard_anything() {
    auto const unread = unread_bytes(connection_);
    bool const more = std::exchange(unread_, unread) != unread;
    return std::exchange(heard_, false) || more;
}

bool Link::answers(Deadline now) {
    using Verdict = AnswerWatch::Verdict;
    if (now - next_look_ > longest_delay) answers_.excuse(now - next_look_);
    if (owner_ && owner_->awaits_answer()) {  // Who asked it watches over it.
        answers_.begin(arrived(), now);
        return true;
    }
    auto const verdict = answers_.look(arrived(), owed_since(), now);
    if (verdict == Verdict::ask) send_ping();
    return verdict != Verdict::dead;
}

std::optional<Deadline> Link::owed_since() const {
    auto const since = pipeline_.owed_since();
    if (!ping_sent_) return since;
    return since ? std::min(*since, ping_sent_at_) : ping_sent_at_;
}

AnswerWatch::Arrived Link::arrived() {
    auto const [answers, bytes] = received_by(connection_);
    return {answers, bytes};
}

void Link::send_ping() {
    if (std::exchange(ping_sent_, true)) return;
    ping_sent_at_ = std::chrono::steady_clock::now();
    ping_reply_.clear();
    connection_.async_exec(ping_.wire(), adapt(ping_reply_), [this](error_code error, std::size_t) {
        ping_sent_ = false;
        if (!error) heard_ = true;
    });
}

void Link::send(Flight& flight) {
    flight.note_sent(std::chrono::steady_clock::now());
    using Event = boost::redis::any_adapter::parse_event;
    boost::redis::any_adapter adapter{
        [this, &flight](Event event, boost::redis::resp3::node_view const& node, error_code&) {
            receive(flight, event, node);
        }};
    connection_.async_exec(
        flight.wire(), std::move(adapter),
        [this, &flight](error_code error, std::size_t) { pipeline_.landed(flight, !!error); });
}

void Link::receive(Flight& flight, Flight::Event event,
                   boost::redis::resp3::node_view const& node) {
    heard_ = true;
    if (options_.servers && event == Flight::Event::node && is_refusal_to_write(node)) {
        options_.servers->refused_to_write();
    }
    pipeline_.receive(flight, event, node);
}

void Link::schedule_turn() {
    if (std::exchange(turn_scheduled_, true)) return;
    asio::post(io_, [this] {
        turn_scheduled_ = false;
        pipeline_.turn();
    });
}

void Link::expect(Deadline moment) {
    if (moment < armed_) arm(moment);
}

void Link::arm(Deadline moment) {
    armed_ = moment;
    deadlines_.expires_at(moment);
    deadlines_.async_wait([this](error_code error) {
        if (error) return;
        pipeline_.expire(std::chrono::steady_clock::now());
        armed_ = Deadline::max();
        if (auto const next = pipeline_.next_deadline()) arm(*next);
    });
}

std::string Link::why_not_connected() const {
    return options_.url.to_string() + ": " + (silent_peer() ? no_hello : last_error_);
}

// The socket itself is only to be had by an accessor that Boost deprecates, without a substitute.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

void Link::set_no_delay() {
    if (!options_.url.unix_socket.empty()) return;
    error_code ignored;
    connection_.next_layer().next_layer().set_option(asio::ip::tcp::no_delay{true}, ignored);
}

bool Link::silent_peer() const {
    if (phase_ != Phase::connecting) return false;
    if (!options_.url.unix_socket.empty()) return true;  // It connects, or fails, at once.
    error_code error;
    (void)connection_.next_layer().next_layer().remote_endpoint(error);
    return !error;
}

std::string Link::local_address() const {
    if (phase_ != Phase::connected || !options_.url.unix_socket.empty()) return {};
    error_code error;
    auto const end = connection_.next_layer().next_layer().local_endpoint(error);
    return error ? std::string{} : end.address().to_string();
}

#pragma GCC diagnostic pop

}  // namespace rollcall::redis
