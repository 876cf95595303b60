#!/usr/bin/env bash
# check.sh PROVIDER CONSUMER [SOURCE…]: both work while Redis is there, and end in order where it is
# not; README quotes the sources.
set -euo pipefail
provider=$1 consumer=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d)
export ROLLCALL_URL=unix://$folder/redis
redis=
trap '[[ ! $redis ]] || stop_redis; rm -rf "$folder"' EXIT

fail() { printf '%s\n' "$@" >&2; exit 1; }

start_redis() {
  printf '%s\n' 'port 0' "unixsocket $folder/redis" 'unixsocketperm 700' "dir $folder" 'save ""' |
    setpriv --pdeathsig TERM redis-server - > "$folder/log" &
  redis=$!
}
stop_redis() {
  kill "$redis"
  wait "$redis" || true
  redis=
}

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
fails_in_order() {  # fails_in_order COMMAND…: a message and code 1, not an abort.
  local said code=0
  said=$("$@" 2>&1) || code=$?
  [[ $code == 1 && $said == *r:\ * ]] || fail "$* ended with $code: $said"
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
