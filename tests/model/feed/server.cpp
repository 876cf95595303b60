#include "model/feed/server.hpp"

#include <algorithm>

namespace rollcall::test::feed {

void Push::send(Kind kind, std::size_t who, News news) {
    if (link != Link::subscribed) return;
    queue.push_back(static_cast<char>(static_cast<unsigned>(kind) << 5U |
                                      static_cast<unsigned>(news) << 2U |
                                      static_cast<unsigned>(who)));
}

Push::Item Push::item(char byte) {
    auto const bits = static_cast<unsigned char>(byte);
    return {static_cast<Kind>(bits >> 5U), static_cast<std::uint8_t>(bits & 3U),
            static_cast<News>(bits >> 2U & 7U)};
}

Server::Server(Scene const& scene, Time now)
    : layout_(scene.layout), tracking_(scene.tracking), size_(scene.instances) {
    records_[size_ - 1].persistent = scene.persistent;
    Push nobody;
    for (std::size_t i = 0; i < scene.registered; ++i) register_instance(i, now, nobody);
}

void Server::write(std::size_t i, Time now, Push& push) {
    auto& record = records_[i];
    if (generation_ == 0) generation_ = ++generations_;
    record.listed = record.stored = true;
    record.removed = record.damaged = record.odd = false;
    record.stored_version = record.version;
    record.lease_end = record.persistent ? Time::max() : now + lease;
    ++record.writes;
    record.acknowledged_until = record.lease_end;
    push.send(Push::Kind::message, i, News::changed);
}

void Server::register_instance(std::size_t i, Time now, Push& push) {
    auto& record = records_[i];
    record.owner = Owner::alive;
    record.born = ++record.version;
    record.renew_at = now + heartbeat;
    write(i, now, push);
}

void Server::describe(std::size_t i, Time now, Push& push) {
    auto& record = records_[i];
    ++record.version;
    if (record.removed) record.born = record.version;
    write(i, now, push);
}

void Server::deregister(std::size_t i, Push& push) {
    records_[i].owner = Owner::deregistered;
    records_[i].renew_at = Time::max();
    remove(i, push);
    records_[i].removed = false;
}

void Server::die(std::size_t i) {
    records_[i].owner = Owner::dead;
    records_[i].renew_at = Time::max();
}

void Server::remove(std::size_t i, Push& push) {
    auto& record = records_[i];
    bool const was_listed = record.listed;
    record.listed = record.stored = record.odd = false;
    record.removed = true;
    if (layout_ == Layout::streaming) {
        push.send(Push::Kind::message, i, News::removed);
    } else if (was_listed) {
        push.send(Push::Kind::message, i, News::deregistered);
    }
}

void Server::renew(std::size_t i, Time now, Push& push) {
    auto& record = records_[i];
    record.renew_at = now + heartbeat;
    if (record.odd) return;                                             // Refused.
    bool const listed = record.listed || layout_ == Layout::streaming;  // ZADD lists it again.
    if (!listed || !has_hash(i, now)) {
        // An instance that somebody removed is another one when it is back.
        if (record.removed) record.born = ++record.version;
        return write(i, now, push);
    }
    record.listed = true;
    record.damaged = false;
    if (!record.persistent) record.lease_end = record.acknowledged_until = now + lease;
    if (layout_ == Layout::cosky) push.send(Push::Kind::message, i, News::renewed);
}

bool Server::may_sweep(std::size_t i, Time now) const {
    auto const& record = records_[i];
    if (!record.listed) return false;
    return layout_ == Layout::streaming ? record.lease_end <= now
                                        : !record.odd && !has_hash(i, now);
}

bool Server::sweep(std::size_t i, Push& push) {
    records_[i].listed = records_[i].stored = false;
    auto const news = layout_ == Layout::streaming ? News::removed : News::expired;
    push.send(Push::Kind::message, i, news);
    return push.link == Push::Link::subscribed;
}

void Server::damage(Record& record) {
    record.damaged = true;
    ever_damaged_ = true;
}

void Server::lose_everything(Push& push) {
    for (auto& record : records_) {
        if (record.listed || record.stored) damage(record);
        record.listed = record.stored = record.odd = false;
    }
    generation_ = 0;
    if (tracking_) push.send(Push::Kind::invalidation);
}

void Server::restart() {
    if (generation_ != 0) generation_ = ++generations_;
}

void Server::evict_hash(std::size_t i) {
    records_[i].stored = records_[i].odd = false;
    damage(records_[i]);
}

void Server::overwrite(std::size_t i) {
    records_[i].stored = false;
    records_[i].odd = true;
    damage(records_[i]);
}

void Server::evict_entry(std::size_t i) {
    records_[i].listed = false;
    damage(records_[i]);
}

bool Server::has_hash(std::size_t i, Time now) const {
    return records_[i].stored && now < records_[i].lease_end;
}

Presence Server::presence(std::size_t i, bool listed, bool described, Time now) const {
    if (records_[i].odd) {
        if (!listed) return Presence::unlisted;
        return described ? Presence::unreadable : Presence::alive;
    }
    bool const hash = has_hash(i, now);
    if (!listed) return hash ? Presence::unlisted : Presence::absent;
    if (hash) return Presence::alive;
    // The times in the list tell an expired instance.
    bool const over = records_[i].lease_end <= now;
    return layout_ == Layout::streaming && over ? Presence::expired : Presence::hollow;
}

std::optional<GenerationNumber> Server::generation() const {
    if (generation_ == 0) return std::nullopt;
    return generation_;
}

void Server::add_to(Fingerprint& fingerprint) const {
    for (std::size_t i = 0; i < size_; ++i) {
        auto const& record = records_[i];
        fingerprint.add(static_cast<std::uint64_t>(record.owner) |
                        std::uint64_t{record.listed} << 3U | std::uint64_t{record.stored} << 4U |
                        std::uint64_t{record.removed} << 5U | std::uint64_t{record.damaged} << 6U |
                        std::uint64_t{record.odd} << 7U | std::uint64_t{record.version} << 8U |
                        std::uint64_t{record.stored_version} << 16U |
                        std::uint64_t{record.born} << 24U);
        fingerprint.add(record.lease_end);
        fingerprint.add(record.acknowledged_until);
        fingerprint.add(record.renew_at);
    }
    fingerprint.add(std::uint64_t{generation_} | std::uint64_t{generations_} << 8U |
                    std::uint64_t{ever_damaged_} << 16U);
}

}  // namespace rollcall::test::feed
