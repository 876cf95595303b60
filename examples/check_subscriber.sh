#!/usr/bin/env bash
# check_subscriber.sh SUBSCRIBER PROVIDER: it says what changes, whether or not Redis is there first.
# shellcheck source=examples/with_redis.sh
source "$(dirname "${BASH_SOURCE[0]}")/with_redis.sh"
subscriber=$1 provider=$2
said=$folder/said

until_it_says() {  # until_it_says PATTERN: that is a whole line.
  for ((i = 0; i < 400; ++i)); do
    grep -qxE "$1" "$said" && return
    sleep 0.05
  done
  fail "expected: $1" "said:     $(<"$said")"
}

fails_in_order env ROLLCALL_URL=nonsense "$subscriber"

setpriv --pdeathsig KILL "$subscriber" > "$said" &
subscribing=$!
start_redis
setpriv --pdeathsig KILL "$provider" &
providing=$!
# Current, if it was registered before the subscriber had found its way to Redis.
until_it_says 'orders: (current|added) http://127\.0\.0\.1:8080, 1 can be called'
kill -TERM "$providing"
wait "$providing" || fail "the provider ended with $?"
until_it_says 'orders: removed http://127\.0\.0\.1:8080, 0 can be called'
kill -TERM "$subscribing"
wait "$subscribing" || fail "the subscriber ended with $?"
