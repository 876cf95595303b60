#include "model/feed/world.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "model/feed/fingerprint.hpp"

namespace rollcall::test::feed {
namespace {

using Link = Push::Link;
using Kind = Push::Kind;

// More at one moment is a loop without end.
constexpr std::uint8_t most_reads_at_once = 12;

Allowance allowance(Scene const& scene) {
    return {scene.owners, scene.operators, scene.cuts,      scene.overflows,
            scene.losses, scene.restarts,  scene.evictions, scene.failures};
}

std::uint8_t mask_of(std::size_t i) { return static_cast<std::uint8_t>(1U << i); }

bool bit(std::uint8_t bits, std::size_t i) { return (bits >> i & 1U) != 0; }

}  // namespace

World::World(Scene const& scene) : scene_(&scene), server_(scene, now_), reader_(scene, now_) {
    if (scene.registered > 0) begin();
    left_ = {99, 99, 99, 99, 99, 99, 99, 99};
    for (auto const step : scene.prelude) must(step);
    left_ = allowance(scene);
    // What is read without messages proves nothing; nor does half a registration.
    if (scene.registered == 0 || scene.late_messages) truth_.fault();
}

/// To where the reader knows what there is.
void World::begin() {
    while (push_.link != Link::subscribed || !at_rest()) must(quiet_step());
}

void World::must(Step step) {
    std::vector<Step> steps;
    list_steps(steps);
    auto const same = [&](Step other) { return other.act == step.act && other.who == step.who; };
    if (std::none_of(steps.begin(), steps.end(), same)) {
        throw std::logic_error{"it cannot begin with: " + to_string(step)};
    }
    auto const wrong = take(step);
    if (!wrong.empty()) throw std::logic_error{to_string(step) + " went wrong: " + wrong};
}

bool World::may_ask() const {
    return reading_.phase == Phase::none && reader_.feed().wake_at() <= now_;
}

bool World::renewal_due() const {
    for (std::size_t i = 0; i < scene_->instances; ++i) {
        if (server_[i].renew_at <= now_) return true;
    }
    return false;
}

bool World::at_rest() const {
    return reading_.phase == Phase::none && push_.queue.empty() && !renewal_due() &&
           push_.link != Link::connected && push_.link != Link::broken &&
           now_ + pause < reader_.feed().wake_at();
}

std::optional<Time> World::next_moment() const {
    auto next = Time::max();
    auto const consider = [&](Time time) {
        if (time > now_) next = std::min(next, time);
    };
    consider(reader_.feed().wake_at());
    for (std::size_t i = 0; i < scene_->instances; ++i) {
        consider(server_[i].renew_at);
        consider(server_[i].lease_end);
    }
    for (auto const& [id, known] : reader_.feed().instances()) {
        if (known.state.lease_until) consider(*known.state.lease_until);
        if (known.grace_until) consider(*known.grace_until);
    }
    if (next == Time::max()) return std::nullopt;
    return next;
}

std::string World::take(Step step) {
    auto wrong = perform(step);
    reader_.rewind_random();
    for (std::size_t i = 0; i < scene_->instances; ++i) {
        if (!server_[i].damaged) truth_.accuse(i);
    }
    if (wrong.empty()) wrong = truth_.check(server_, reader_.feed());
    if (wrong.empty() && at_rest()) {
        wrong = truth_.check_rest(server_, reader_.feed(), push_.link == Link::subscribed, now_);
    }
    return wrong;
}

std::string World::perform(Step step) {
    if (step.act == Act::wait) {
        now_ = *next_moment();
        reads_now_ = 0;
        return {};
    }
    if (step.act >= Act::cut) return perform_fault(step);
    if (step.act < Act::enter) return perform_read(step);
    perform_write(step);
    return {};
}

std::string World::perform_read(Step step) {
    switch (step.act) {
        case Act::deliver:
            deliver();
            break;
        case Act::ask:
            return ask();
        case Act::look_up:
            look_up();
            break;
        case Act::finish:
            finish();
            break;
        case Act::arrive:
            return arrive();
        case Act::notice:
            push_.link = Link::down;
            truth_.fault();
            reader_.lost(now_);
            break;
        case Act::connect:
            push_.link = Link::connected;
            reader_.connecting(now_);
            break;
        default:
            push_.link = Link::subscribed;
            push_.send(Kind::confirmation);
            break;
    }
    return {};
}

void World::perform_write(Step step) {
    auto const i = step.who;
    if (step.act <= Act::die) --left_.owners;
    switch (step.act) {
        case Act::enter:
            return server_.register_instance(i, now_, push_);
        case Act::describe:
            return server_.describe(i, now_, push_);
        case Act::leave:
            return server_.deregister(i, push_);
        case Act::die:
            return server_.die(i);
        case Act::renew:
            return server_.renew(i, now_, push_);
        case Act::remove:
            --left_.operators;
            return server_.remove(i, push_);
        default:
            if (!server_.sweep(i, push_)) truth_.excuse(i);
    }
}

std::string World::perform_fault(Step step) {
    truth_.fault();
    switch (step.act) {
        case Act::cut:
            --left_.cuts;
            cut();
            break;
        case Act::overflow:
            --left_.overflows;
            overflow();
            break;
        case Act::flush:
            --left_.losses;
            server_.lose_everything(push_);
            break;
        case Act::restart:
            --left_.restarts;
            restart();
            break;
        case Act::evict_hash:
            --left_.evictions;
            server_.evict_hash(step.who);
            break;
        case Act::evict_entry:
            --left_.evictions;
            server_.evict_entry(step.who);
            break;
        case Act::overwrite:
            --left_.evictions;
            server_.overwrite(step.who);
            break;
        case Act::fail:
            --left_.failures;
            return fail();
        default:
            --left_.failures;
            reading_.generation.reset();
            break;
    }
    return {};
}

void World::deliver() {
    auto const item = push_.front();
    push_.queue.erase(0, 1);
    switch (item.kind) {
        case Kind::confirmation:
            reader_.confirmed(now_);
            break;
        case Kind::pong:
            reading_.ping = Ping::answered;
            break;
        case Kind::invalidation:
            reader_.doubt(now_);
            break;
        case Kind::message:
            reader_.message(ids.at(item.who), item.news, now_);
            if (reading_.phase != Phase::none &&
                (item.news == News::deregistered || item.news == News::removed)) {
                crossed_ |= mask_of(item.who);
            }
            break;
    }
}

std::string World::ask() {
    auto const read = reader_.next_read(now_);
    if (!read) {
        return may_ask() ? "it wants to be asked for a read at once, and has none" : "";
    }
    if (++reads_now_ > most_reads_at_once) return "it reads without end";
    reading_ = {};
    reading_.phase = Phase::listed;
    reading_.number = read->number;
    reading_.everything = read->everything;
    reading_.descriptions = read->descriptions;
    reading_.proof = read->proof;
    reading_.generation = read->proof ? server_.generation() : std::nullopt;
    for (std::size_t i = 0; i < scene_->instances; ++i) {
        auto const known = reader_.feed().instances().find(ids.at(i));
        bool const over = known != reader_.feed().instances().end() &&
                          known->second.state.lease_until.value_or(Time::max()) <= now_;
        auto const mask = mask_of(i);
        bool const named =
            std::find(read->ids.begin(), read->ids.end(), ids.at(i)) != read->ids.end();
        reading_.writes.at(i) = server_[i].writes;
        if (over) reading_.over |= mask;
        if (server_[i].listed) reading_.listed |= mask;
        if (named || (read->everything && server_[i].listed)) reading_.asked |= mask;
        bool const read_anew = named || read->everything;
        if (read_anew && bit(crossed_, i) && server_[i].damaged) reading_.excusable |= mask;
        if (read_anew) crossed_ &= static_cast<std::uint8_t>(~mask);
    }
    return {};
}

Presence World::presence(std::size_t i) const {
    bool const listed = bit(reading_.listed, i);
    auto const presence = server_.presence(i, listed, reading_.descriptions, now_);
    // Where the list has times, nothing else is asked for all leases.
    bool const unseen = scene_->layout == Layout::streaming && !reading_.descriptions &&
                        (reading_.everything || scene_->phantoms);
    return unseen && presence == Presence::hollow ? Presence::alive : presence;
}

void World::look_up() {
    reading_.phase = Phase::looked_up;
    for (std::size_t i = 0; i < scene_->instances; ++i) {
        reading_.presence.at(i) = presence(i);
        reading_.version.at(i) = server_[i].stored_version;
        reading_.lease_end.at(i) = server_[i].odd ? Time::max() : server_[i].lease_end;
        bool const ended = scene_->layout == Layout::cosky && bit(reading_.over, i);
        if (server_[i].damaged && (ended || truth_.excused(i))) reading_.excusable |= mask_of(i);
    }
    if (!reading_.proof) finish();
}

void World::finish() {
    reading_.phase = Phase::finished;
    if (!reading_.proof) {
        reading_.ping = Ping::lost;
        return;
    }
    if (reading_.generation != server_.generation()) reading_.generation.reset();
    if (push_.link != Link::subscribed) {
        reading_.ping = Ping::lost;
    } else if (scene_->late_messages) {
        reading_.ping = Ping::answered;
    } else {
        push_.send(Kind::pong);
    }
}

FeedAnswer World::answer() const {
    FeedAnswer answer;
    answer.number = reading_.number;
    answer.complete = !reading_.failed;
    answer.generation = reading_.generation;
    answer.path_clean = reading_.ping == Ping::answered;
    for (std::size_t i = 0; i < scene_->instances; ++i) {
        if (!bit(reading_.asked, i)) continue;
        Sighting sighting;
        sighting.id = ids.at(i);
        sighting.presence = reading_.presence.at(i);
        bool const alive = sighting.presence == Presence::alive;
        if (alive && reading_.descriptions)
            sighting.instance = described(i, reading_.version.at(i));
        bool const scored =
            sighting.presence == Presence::hollow && scene_->layout == Layout::streaming;
        if ((alive || scored) && reading_.lease_end.at(i) != Time::max()) {
            sighting.state.lease_until = reading_.lease_end.at(i);
        }
        answer.sightings.push_back(std::move(sighting));
    }
    return answer;
}

std::string World::arrive() {
    auto const outcome = reader_.answer(answer(), now_);
    auto const read = std::exchange(reading_, {});
    for (std::size_t i = 0; i < scene_->instances; ++i) {
        bool const complete = read.everything && read.descriptions && !read.failed;
        bool const seen = bit(read.asked, i) && read.presence.at(i) == Presence::alive;
        if (complete && seen) truth_.read(i, read.writes.at(i));
    }
    return truth_.check(outcome, server_, reader_.feed(), read.excusable, now_);
}

std::string World::fail() {
    reading_.failed = true;
    return arrive();
}

/// All that is on its way is lost.
void World::cut() {
    for (char const byte : push_.queue) {
        auto const item = Push::item(byte);
        if (item.kind == Kind::message && item.news == News::expired) truth_.excuse(item.who);
    }
    push_.queue.clear();
    push_.link = Link::broken;
    if (reading_.phase == Phase::finished && reading_.ping == Ping::unanswered) {
        reading_.ping = Ping::lost;
    }
}

void World::overflow() {
    std::string kept;
    for (char const byte : push_.queue) {
        auto const item = Push::item(byte);
        if (item.kind != Kind::message) {
            kept += byte;
        } else if (item.news == News::expired) {
            truth_.excuse(item.who);
        }
    }
    push_.queue = kept;
    reader_.doubt(now_);
}

void World::restart() {
    server_.restart();
    if (push_.link >= Link::connected) cut();
    if (read_in_flight()) {
        reading_.failed = true;
        reading_.phase = Phase::finished;
        reading_.ping = Ping::lost;
    }
}

std::uint64_t World::fingerprint() const {
    Fingerprint fingerprint{now_};
    for (auto const left : {left_.owners, left_.operators, left_.cuts, left_.overflows,
                            left_.losses, left_.restarts, left_.evictions, left_.failures}) {
        fingerprint.add(std::uint64_t{left});
    }
    server_.add_to(fingerprint);
    fingerprint.add(static_cast<std::uint64_t>(push_.link) | std::uint64_t{crossed_} << 8U);
    fingerprint.add(push_.queue);
    reader_.add_to(fingerprint);
    fingerprint.add(static_cast<std::uint64_t>(reading_.phase) |
                    static_cast<std::uint64_t>(reading_.ping) << 2U |
                    std::uint64_t{reading_.asked} << 4U | std::uint64_t{reading_.listed} << 8U |
                    std::uint64_t{reading_.over} << 12U | std::uint64_t{reading_.failed} << 16U |
                    std::uint64_t{reading_.excusable} << 20U);
    fingerprint.add(reading_.generation);
    if (reading_.phase >= Phase::looked_up) {
        for (std::size_t i = 0; i < scene_->instances; ++i) {
            fingerprint.add(static_cast<std::uint64_t>(reading_.presence.at(i)) |
                            std::uint64_t{reading_.version.at(i)} << 8U);
            fingerprint.add(reading_.lease_end.at(i));
        }
    }
    truth_.add_to(fingerprint, server_);
    for (std::size_t i = 0; i < scene_->instances; ++i) {
        fingerprint.add(std::uint64_t{reading_.writes.at(i) == server_[i].writes});
    }
    return fingerprint.value();
}

}  // namespace rollcall::test::feed
