#include "support/recorded_peer.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/value_to.hpp>
#include <stdexcept>

#include "support/golden_state.hpp"

namespace rollcall::test {
namespace {

using golden::load_recording;
using golden::Recording;
using Pairs = std::vector<std::pair<std::string, std::string>>;

std::string now_ms() {
    auto const now = std::chrono::system_clock::now().time_since_epoch();
    return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(now).count());
}

/// The members of a JSON object, without its braces.
std::string members_of(Pairs const& pairs) {
    std::string text;
    for (auto const& [key, value] : pairs) {
        if (!text.empty()) text += ',';
        text.append(1, '"').append(key).append("\":\"").append(value).append(1, '"');
    }
    return text;
}

/// As it is recorded, see tests/data/golden: which step has which names and values.
class JavaPeer final : public RecordedPeer {
public:
    explicit JavaPeer(Options given) : RecordedPeer(std::move(given)) {
        // The recorded program loads its scripts when it starts.
        for (auto const& words : commands(registrations_, "(start provider and consumer)")) {
            auto const sha = words.at(2).substr(std::string_view{"{{script:"}.size(), 40);
            if (auto const* const text = find_stand_in(sha)) send({"SCRIPT", "LOAD", *text});
        }
    }

    void enter(PeerInstance const& instance) override {
        auto const filling = filling_of(instance);
        auto const first = commands(registrations_, "register o-1");
        bool const known = send(filling.of(first.at(0))).integer != 0;
        send(filling.of(first.at(1)));
        auto const again = commands(registrations_, "register o-1 again");
        send(filling.of(known ? again.at(2) : first.at(2)));
    }

    Renewal renew(PeerInstance const& instance) override {
        auto const words = commands(heartbeats_, "heartbeat, fixed metrics, after 3.2 s").at(0);
        return send(filling_of(instance).of(words)).integer == 1 ? Renewal::alive : Renewal::gone;
    }

    void describe(PeerInstance const& instance) override {
        // The message is sent whatever the script said.
        play(registrations_, "heartbeat with changed metadata", instance);
    }

    void leave(PeerInstance const& instance) override {
        play(registrations_, "deregister o-1", instance);
    }

    void clean() override {
        auto const words = commands(cleanups_, "(wait for the periodic cleanup)");
        for (auto const& service : send(general().of(words.at(0))).texts()) {
            auto filling = general();
            filling.argument("orders", service);
            filling.text(":orders:", ':' + service + ':');
            filling.argument("2000", std::to_string(options().lease.count() * 1'000));
            auto const removed = send(filling.of(words.at(1))).texts();
            for (std::size_t i = 0; i + 1 < removed.size(); i += 2) {
                send(removal_filling(service, removed[i], removed[i + 1]).of(words.at(2)));
            }
            if (!removed.empty()) send(filling.of(words.at(3)));
        }
    }

private:
    void play(Recording const& recording, std::string_view step, PeerInstance const& instance) {
        auto const filling = filling_of(instance);
        for (auto const& words : commands(recording, step)) send(filling.of(words));
    }

    Filling general() const {
        Filling filling;
        filling.text(std::string{golden::recorded_prefix}, options().space);
        filling.text("{{ms}}", now_ms());
        return filling;
    }

    Filling filling_of(PeerInstance const& instance) const {
        auto filling = general();
        filling.argument("orders", instance.service);
        filling.text(":orders:", ':' + instance.service + ':');
        filling.text(R"("serviceName":"orders")", R"("serviceName":")" + instance.service + '"');
        filling.text("o-1", instance.id);
        filling.text("10.0.0.5", instance.host);
        filling.text("8080", std::to_string(instance.port));
        filling.text(R"("weight":3)", R"("weight":)" + std::to_string(instance.weight));
        auto const metadata = members_of(instance.metadata);
        filling.text(R"("region":"us")", metadata);
        filling.text(R"("region":"eu","url":"http://x")", metadata);
        filling.argument("90", std::to_string(options().lease.count()));
        return filling;
    }

    Filling removal_filling(std::string const& service, std::string const& id,
                            std::string const& hash) const {
        auto const all = boost::json::parse(hash).as_object();
        auto const field = [&](char const* name) {
            auto const* const found = all.if_contains(name);
            return found ? boost::json::value_to<std::string>(*found) : std::string{};
        };
        auto filling = general();
        filling.text(":orders:", ':' + service + ':');
        filling.text(R"("serviceName":"orders")", R"("serviceName":")" + service + '"');
        filling.text("o-2", id);
        filling.text("10.0.0.6", field("host"));
        filling.text("8080", field("port"));
        filling.text(R"("weight":1)", R"("weight":)" + field("weight"));
        auto const metadata = field("metadata");
        filling.text(R"("a":"b")", metadata.substr(1, metadata.size() - 2));
        return filling;
    }

    RedisClient::Reply send_script(std::vector<std::string> words,
                                   std::string const& text) override {
        words[1] = ask({"SCRIPT", "LOAD", text}).text;
        return ask(words);
    }

    Recording const registrations_ = load_recording("streaming-register.txt");
    Recording const heartbeats_ = load_recording("streaming-heartbeat.txt");
    Recording const cleanups_ = load_recording("streaming-provider-cleanup.txt");
};

class CoskyPeer final : public RecordedPeer {
public:
    explicit CoskyPeer(Options given) : RecordedPeer(std::move(given)) {}

    void enter(PeerInstance const& instance) override {
        send(registration(commands(calls_, "register ephemeral, new service").at(0), instance));
    }

    Renewal renew(PeerInstance const& instance) override {
        auto const words = commands(calls_, "renew of a missing hash re-registers");
        if (send(filling_of(instance).of(words.at(0))).integer > 0) return Renewal::alive;
        send(registration(words.at(1), instance));
        return Renewal::registered_again;
    }

    void describe(PeerInstance const& instance) override {
        auto words = commands(calls_, "set_metadata one pair (replaces all)").at(0);
        words.resize(before_pairs(words, "_k"));
        send(with_metadata(std::move(words), instance));
    }

    void leave(PeerInstance const& instance) override {
        send(filling_of(instance).of(commands(calls_, "deregister ephemeral").at(0)));
    }

    void clean() override {
        // Its readers clean up: two of them, one for the names, and one for each service.
        auto const names = commands(calls_, "get_services").at(0);
        auto const read = commands(calls_, "get_instances").at(0);
        for (auto const& service : send(general().of(names)).texts()) {
            auto filling = general();
            filling.argument("order", service);
            send(filling.of(read));
        }
    }

private:
    static std::size_t before_pairs(std::vector<std::string> const& words, std::string_view key) {
        return static_cast<std::size_t>(std::ranges::find(words, key) - words.begin());
    }

    std::vector<std::string> registration(std::vector<std::string> words,
                                          PeerInstance const& instance) const {
        words.resize(before_pairs(words, "_version"));
        return with_metadata(std::move(words), instance);
    }

    std::vector<std::string> with_metadata(std::vector<std::string> words,
                                           PeerInstance const& instance) const {
        words = filling_of(instance).of(words);
        for (auto const& [key, value] : instance.metadata) {
            words.push_back('_' + key);
            words.push_back(value);
        }
        return words;
    }

    Filling general() const {
        Filling filling;
        filling.text(std::string{golden::recorded_namespace}, options().space);
        return filling;
    }

    Filling filling_of(PeerInstance const& instance) const {
        auto filling = general();
        filling.argument("60", std::to_string(options().lease.count()));
        filling.argument("order", instance.service);
        filling.argument("order@http#10.0.1.5#8080", instance.id);
        filling.argument("10.0.1.5", instance.host);
        filling.argument("8080", std::to_string(instance.port));
        return filling;
    }

    RedisClient::Reply send_script(std::vector<std::string> words,
                                   std::string const& text) override {
        words[0] = "EVAL";
        words[1] = text;
        return ask(words);
    }

    Recording const calls_ = load_recording("cosky-register.txt");
};

}  // namespace

Filling& Filling::text(std::string from, std::string to) {
    texts_.emplace_back(std::move(from), std::move(to));
    return *this;
}

Filling& Filling::argument(std::string from, std::string to) {
    arguments_.insert_or_assign(std::move(from), std::move(to));
    return *this;
}

std::string Filling::filled(std::string_view text) const {
    std::string result;
    while (!text.empty()) {
        auto const found = std::ranges::find_if(
            texts_, [&](auto const& entry) { return text.starts_with(entry.first); });
        result += found == texts_.end() ? std::string{text.front()} : found->second;
        text.remove_prefix(found == texts_.end() ? 1 : found->first.size());
    }
    return result;
}

std::vector<std::string> Filling::of(std::vector<std::string> const& words) const {
    std::vector<std::string> result;
    result.reserve(words.size());
    for (auto const& word : words) {
        auto const whole = arguments_.find(word);
        result.push_back(whole == arguments_.end() ? filled(word) : whole->second);
    }
    return result;
}

RecordedPeer::RecordedPeer(Options options)
    : options_(std::move(options)), redis_(options_.socket, options_.limit) {}

RecordedPeer::Commands RecordedPeer::commands(Recording const& recording, std::string_view step) {
    auto const found =
        std::ranges::find_if(recording.steps, [&](auto const& one) { return one.name == step; });
    if (found == recording.steps.end()) throw std::runtime_error{"no step " + std::string{step}};
    Commands result;
    for (auto const& command : found->commands) {
        if (command.words.front() != "EVAL") result.push_back(command.words);
    }
    return result;
}

RedisClient::Reply RecordedPeer::send(std::vector<std::string> const& words) {
    if (words.front() != "EVALSHA") return redis_.must(words);
    auto const* const script = find_stand_in(words.at(1));
    if (!script) throw std::runtime_error{"no stand-in for " + words.at(1)};
    auto& sha = shas_[script];
    if (sha.empty()) sha = ask({"EVAL", "return redis.sha1hex(ARGV[1])", "0", *script}).text;
    auto sent = words;
    sent[1] = sha;
    auto reply = redis_.command(sent);
    if (reply.is_error() && reply.text.starts_with("NOSCRIPT")) return send_script(words, *script);
    if (reply.is_error()) throw std::runtime_error{words.front() + ": " + reply.text};
    return reply;
}

std::unique_ptr<RecordedPeer> make_recorded_peer(std::string_view layout,
                                                 RecordedPeer::Options options) {
    if (layout == "cosky") return std::make_unique<CoskyPeer>(std::move(options));
    return std::make_unique<JavaPeer>(std::move(options));
}

}  // namespace rollcall::test
