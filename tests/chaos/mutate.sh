#!/usr/bin/env bash
# Shows that chaos can fail: breaks one decision at a time, in a copy of the sources, and expects
# the shortest run, in which everything happens once, to find it.
#   tests/chaos/mutate.sh [LAYOUT [SEED [NAME]]]
set -euo pipefail

layout=${1:-streaming}
seed=${2:-1}
only=${3:-}
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tests/support/mutations.sh
source "$root/tests/support/mutations.sh"

# What hides nobody for longer than a second, because owners come back sooner, is left to the model
# of a feed (tests/model/feed): absence believed across generations, for one.
# name @ file of src @ what stands there @ what is put in its place
mutations=(
    'no resync after a confirmation@registry/live/service_feed.cpp@void ServiceFeed::disturb() {
    resync_ = true;@void ServiceFeed::disturb() {
    resync_ = !loaded_;'
    'a suspicion that never ends@registry/live/service_feed.cpp@if (!waits) remove(@if (known->second.state.lease_until == Time::min()) remove('
    'what is gone is not registered again@registry/announce/announcer_machine.cpp@    entry.written = 0;
    entry.retry_at = Time::min();
    entry.out@    entry.retry_at = Time::min();
    entry.out'
    'silence is borne for longer@redis/link.cpp@*asked_at_ >= options_.patience@*asked_at_ >= 5 * options_.patience'
    "pauses of up to five seconds@redis/link.cpp@longest_pause{1'000}@longest_pause{5'000}"
)

# run: 1 when a promise was broken, or the run says too little.
run() {
    build_target chaos
    "$out/bin/chaos" --minutes 0 --layout "$layout" --seed "$seed" > "$build/chaos.log" 2>&1
}

# mutate MUTATION: 0 if the run finds it.
mutate() {
    local name file from to
    IFS='@' read -r -d '' name file from to <<< "$1" || true
    if ! damage "src/$file" "$from" "${to%$'\n'}"; then
        echo "STALE   $name"
        return 1
    fi
    run || true
    repair "src/$file"
    if ! grep -q 'A PROMISE WAS BROKEN' "$build/chaos.log"; then
        echo "MISSED  $name"
        return 1
    fi
    echo "caught  $name"
    sed -n '/^hidden/,$s/^/        /p' "$build/chaos.log"
}

prepare Release
if ! run; then
    cat "$build/chaos.log"
    echo "the run fails without any mutation"
    exit 1
fi
count=0 missed=0
for mutation in "${mutations[@]}"; do
    [[ ! $only || $mutation == "$only@"* ]] || continue
    count=$((count + 1))
    mutate "$mutation" || missed=$((missed + 1))
done
echo "$count mutations, $missed not caught"
((missed == 0))
