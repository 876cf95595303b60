#!/usr/bin/env bash
# check.sh PROVIDER CONSUMER [SOURCE…]: both work while Redis is there, and end in order where it is
# not; README quotes the sources.
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=examples/with_redis.sh
source "$here/with_redis.sh"
provider=$1 consumer=$2

until_consumer_prints() {
  local printed
  for ((i = 0; i < 400; ++i)); do
    printed=$("$consumer" 2>/dev/null) && [[ $printed == "$1" ]] && return
    sleep 0.05
  done
  fail "expected: $1" "printed:  $printed"
}
start_provider() {
  setpriv --pdeathsig KILL "$provider" &
  providing=$!
}
stop_provider() {
  kill -TERM "$providing"
  wait "$providing" || fail "the provider ended with $?"
}
for source in "${@:3}"; do
  [[ $(<"$here/../README.md") == *"$(<"$here/$source.cpp")"* ]] ||
    fail "README.md does not quote examples/$source.cpp as it is"
done

fails_in_order env ROLLCALL_URL=nonsense "$provider"
fails_in_order env ROLLCALL_URL=nonsense "$consumer"

start_provider
fails_in_order "$consumer"  # Takes as long as the provider's first attempt.
start_redis
until_consumer_prints http://127.0.0.1:8080
stop_redis
start_redis
until_consumer_prints http://127.0.0.1:8080
stop_provider
until_consumer_prints ''

start_provider
until_consumer_prints http://127.0.0.1:8080
stop_redis
stop_provider
