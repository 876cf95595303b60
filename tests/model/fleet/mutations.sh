# shellcheck shell=bash disable=SC2034
# name|file in src/registry, without .cpp|what it says|what it says then
machine=announce/announcer_machine
feed=live/service_feed
mutations=(
    "a released one is not deregistered|$machine|    if (entry.leaving) return Call::Kind::deregister;|"
    "a released one is wanted all the same|$machine|        found->second.leaving = true;|"
    "another generation calls for no round|$machine|    if (another) connected(now);|"
    "a connection calls for no round|$machine|    round_at_ = std::min(round_at_, now + milliseconds{wait(random_)});|    (void)wait;"
    "whatever is gone was removed|$machine|beat == Beat::gone && cannot_have_lapsed(entry, now)|beat == Beat::gone"
    "whatever is gone was lost|$machine|beat == Beat::gone && cannot_have_lapsed(entry, now)|false"
    "what is to stay out comes back|$machine|    entry.out = removed && entry.stay_out;|    entry.out = false;"
    "a round undoes a later registration|$machine|outdated = entry.acknowledged_at > flight.made_at;|outdated = false;"
    "an older copy is left as it is|$machine|    bool const changed = entry.wanted > 1;|    bool const changed = false;"
    "a suspect has no time|$feed|    known->second.grace_until = std::max(state.lease_until.value_or(now), now + options_.lease);|    known->second.grace_until = now;"
    "any generation proves|$feed|known.generation != generation) return {};|false) return {};"
    "nothing calls for a read anew|$feed|    resync_ = true;|"
)
