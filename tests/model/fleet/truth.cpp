#include "model/fleet/truth.hpp"

#include <algorithm>
#include <utility>

namespace rollcall::test::fleet {
namespace {

constexpr seconds most_hidden{1};
constexpr seconds most_lingering{2};
// Half a second to the round, and what the questions take.
constexpr milliseconds most_unregistered{1'000};
constexpr milliseconds one_period = heartbeat + most_unregistered;

milliseconds since(Time from, Time now) {
    return std::chrono::floor<milliseconds>(std::max(now, from) - from);
}

}  // namespace

std::string service_name(std::size_t service) { return 's' + std::to_string(service); }

std::vector<Member> members_of(Scene const& scene) {
    std::vector<Member> members;
    for (std::size_t owner = 0; owner < scene.owners.size(); ++owner) {
        for (std::size_t service = 0; service < scene.services; ++service) {
            Member member;
            member.owner = owner;
            member.service = service;
            member.instance.service_name = service_name(service);
            member.instance.instance_id = id_of(scene.layout, member.instance.service_name, owner);
            member.instance.host = "h";
            member.instance.port = first_port + static_cast<int>(owner);
            members.push_back(std::move(member));
        }
    }
    return members;
}

ServiceInstance described(Member const& member, int version) {
    auto instance = member.instance;
    instance.metadata["v"] = std::to_string(version);
    return instance;
}

int version_of(ServiceInstance const& instance) {
    auto const found = instance.metadata.find("v");
    return found == instance.metadata.end() ? 0 : std::stoi(found->second);
}

Truth::Truth(Scene const& scene, std::vector<Member> const& members, Timeline const& timeline,
             Redis& redis)
    : scene_(scene),
      members_(members),
      timeline_(timeline),
      redis_(redis),
      lease_(lease_of(scene.layout)),
      lives_(members.size()),
      views_(members.size() * scene.readers),
      clean_from_(scene.processes(), Time::min()) {}

std::string Truth::name(std::size_t member) const { return members_[member].instance.instance_id; }

void Truth::forget_release(std::size_t member) {
    lives_[member].released.reset();
    for (std::size_t reader = 0; reader < scene_.readers; ++reader) {
        view(reader, member).missed_since_release = false;
    }
}

void Truth::wanted(std::size_t member, int version, bool stay_out) {
    auto& life = lives_[member];
    if (life.wanted == 0) {
        auto const before = std::exchange(life, {});
        life.serves = before.serves;
        life.lease_end = before.lease_end;
        life.removed = before.removed;
        forget_release(member);
    }
    life.changed = life.wanted != 0;
    life.wanted = version;
    life.stay_out = stay_out;
    refresh(member);
}

void Truth::acknowledged(std::size_t member) {
    auto& life = lives_[member];
    life.acknowledged = timeline_.now();
    // Its clock may be so wrong that nobody ever sees it.
    if (!ours(member) && !life.serves && !life.ended) life.ended = timeline_.now();
}

void Truth::leaving(std::size_t member) {
    lives_[member].leaving = true;
    lives_[member].wanted = 0;
}

void Truth::released(std::size_t member) {
    lives_[member].released = timeline_.now();
    refresh(member);
}

void Truth::died(std::size_t owner) {
    for (std::size_t i = 0; i < members_.size(); ++i) {
        if (members_[i].owner != owner) continue;
        auto& life = lives_[i];
        life.wanted = 0;
        if (!life.released && !life.ended) life.ended = timeline_.now();
        refresh(i);
    }
}

void Truth::abandoned(std::size_t member) {
    lives_[member].wanted = 0;
    if (!lives_[member].ended) lives_[member].ended = timeline_.now();
}

void Truth::gives_up(std::size_t member) {
    lives_[member].out = true;
    refresh(member);
}

void Truth::told_removed(std::size_t member) {
    auto const& life = lives_[member];
    if (!life.removed && !life.evicted)
        fail(name(member) + ": told as removed, and nobody removed it");
    if (life.by_drain && !life.evicted && !life.disturbed)
        fail(name(member) + ": told as removed, and it was drained");
    if (life.stay_out) gives_up(member);
}

void Truth::told_lost(std::size_t member) {
    auto const& life = lives_[member];
    if (life.removed && !life.disturbed && !life.evicted) {
        fail(name(member) + ": told as lost, and somebody removed it");
    }
}

void Truth::drained(std::size_t member, bool on) {
    auto& life = lives_[member];
    life.drained = on;
    // Until it is acknowledged anew.
    if (!on) life.acknowledged.reset();
    refresh(member);
}

void Truth::stored(std::size_t member, bool by_jvm) {
    auto& life = lives_[member];
    if (life.removed) life.acknowledged.reset();
    life.stored = true;
    life.copied = false;
    life.removed = life.by_drain = life.evicted = life.disturbed = life.brought_back = false;
    if (by_jvm) {
        forget_release(member);  // Its own doing.
    } else if (life.released) {
        fail(name(member) + ": registered again after its release");
    } else if (life.out) {
        fail(name(member) + ": registered again, and was to stay out");
    }
    refresh(member);
}

void Truth::removed_by_other(std::size_t member, bool by_drain) {
    lives_[member].removed = true;
    lives_[member].by_drain = by_drain;
    refresh(member);
}

void Truth::evicted(std::size_t member) {
    lives_[member].evicted = true;
    // Nothing in Redis tells that from the end of a lease, once that is over.
    if (scene_.layout == Layout::cosky) lives_[member].removed = true;
    refresh(member);
}

void Truth::swept() {
    for (std::size_t i = 0; i < members_.size(); ++i) {
        bool const served = lives_[i].serves;
        refresh(i);
        if (served && !lives_[i].serves) lives_[i].removed = true;
    }
}

void Truth::refresh(std::size_t member) {
    auto& life = lives_[member];
    auto const& instance = members_[member].instance;
    auto const& contents = redis_.contents();
    bool const served = life.serves;
    life.serves = contents.serves(instance);
    if (auto const end = contents.lease_end(instance); end > 0) {
        life.lease_end = contents.moment(end);
    }
    auto const now = timeline_.now();
    if (!ours(member) && served && !life.serves && !life.ended) life.ended = now;
    bool const absent = life.wanted != 0 && !life.out && !life.drained && !life.serves;
    if (!absent) life.absent_since.reset();
    if (absent && !life.absent_since) life.absent_since = now;
}

void Truth::refresh() {
    for (std::size_t i = 0; i < members_.size(); ++i) refresh(i);
}

void Truth::unclean(std::size_t process, Time until) {
    clean_from_[process] = std::max(clean_from_[process], until);
}

void Truth::unclean(Time until) {
    for (auto& from : clean_from_) from = std::max(from, until);
}

void Truth::disturbed() {
    for (auto& life : lives_) life.disturbed = true;
}

void Truth::data_lost() {
    lost_at_ = timeline_.now();
    disturbed();
    refresh();
}

void Truth::went_back() {
    data_lost();
    for (auto& life : lives_) {
        if (life.serves && (life.released || life.leaving)) life.brought_back = true;
        life.copied = !life.changed;
    }
}

void Truth::shows(std::size_t reader, std::size_t member, bool suspect, int version) {
    auto& seen = view(reader, member);
    if (suspect && !(seen.shown && seen.suspect)) seen.suspect_since = timeline_.now();
    seen.shown = seen.had = true;
    seen.suspect = suspect;
    seen.version = version;
}

void Truth::shows_not(std::size_t reader, std::size_t member) {
    auto& seen = view(reader, member);
    seen.shown = seen.suspect = false;
    if (lives_[member].released) seen.missed_since_release = true;
}

void Truth::check_missing(std::size_t reader, std::size_t member) {
    auto const& life = lives_[member];
    if (!healthy(life)) return;
    if (*life.acknowledged <= lost_at_ && !view(reader, member).had) return;
    auto const from = std::max({*life.acknowledged, clean_from_[scene_.owners.size() + reader],
                                clean_from_[members_[member].owner]});
    auto const hidden = since(from, timeline_.now());
    if (hidden <= figures_.hidden) return;
    refresh(member);  // Its lease may have ended, unseen by its owner.
    if (!healthy(life)) return;
    figures_.hidden = hidden;
    if (hidden > most_hidden) {
        fail(name(member) + ": hidden from reader " + std::to_string(reader) + " for " +
             in_seconds(hidden));
    }
}

void Truth::check_present(std::size_t reader, std::size_t member) {
    auto const& life = lives_[member];
    auto& seen = view(reader, member);
    bool const back = life.released && std::exchange(seen.missed_since_release, false);
    // A program of the JVM may have brought it back itself, by a renewal on its way.
    bool const excused = life.brought_back || (!ours(member) && life.serves);
    if (back && !excused) {
        fail(name(member) + ": resurrected for reader " + std::to_string(reader));
    }
    auto const ended = life.released ? life.released : life.ended;
    if (!ended) return;
    auto bound = std::max({*ended, life.lease_end, clean_from_[scene_.owners.size() + reader]});
    if (seen.suspect) bound = std::max(bound, seen.suspect_since + lease_);
    auto const lingering = since(bound, timeline_.now());
    figures_.lingering = std::max(figures_.lingering, lingering);
    if (lingering > most_lingering) {
        fail(name(member) + ": lingers for reader " + std::to_string(reader) + " by " +
             in_seconds(lingering));
    }
}

void Truth::check_registered(std::size_t member) {
    auto const& life = lives_[member];
    if (life.released && life.stored && life.serves && !life.brought_back) {
        fail(name(member) + ": in Redis after its release");
    }
    if (!life.absent_since || !ours(member)) return;
    auto const from = std::max(*life.absent_since, clean_from_[members_[member].owner]);
    auto const unregistered = since(from, timeline_.now());
    bool const one_is_gone = life.removed || life.evicted;
    auto const bound = one_is_gone ? one_period : most_unregistered;
    if (!one_is_gone) figures_.unregistered = std::max(figures_.unregistered, unregistered);
    if (unregistered > bound) {
        fail(name(member) + ": announced, and not in Redis for " + in_seconds(unregistered));
    }
}

void Truth::check() {
    ++figures_.checks;
    for (std::size_t i = 0; i < members_.size(); ++i) {
        check_registered(i);
        for (std::size_t reader = 0; reader < scene_.readers; ++reader) {
            if (view(reader, i).shown) {
                check_present(reader, i);
            } else {
                check_missing(reader, i);
            }
        }
    }
}

void Truth::check_complete() {
    for (std::size_t i = 0; i < members_.size(); ++i) {
        auto const& life = lives_[i];
        bool const nobody_knows = life.removed || (life.ended && life.serves);
        if (nobody_knows) continue;
        bool const there = ours(i) ? life.wanted != 0 && !life.out && !life.drained : life.serves;
        for (std::size_t reader = 0; reader < scene_.readers; ++reader) {
            auto const& seen = view(reader, i);
            auto const who = " to reader " + std::to_string(reader);
            if (seen.shown != there) {
                fail(name(i) + (there ? ": not known" : ": still known") + who + " in the end");
            } else if (there && seen.suspect) {
                fail(name(i) + ": suspect for ever" + who);
            } else if (there && ours(i) && !life.copied && seen.version != life.wanted) {
                fail(name(i) + ": known as it was before" + who);
            }
        }
    }
}

}  // namespace rollcall::test::fleet
