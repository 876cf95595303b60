# shellcheck shell=bash
# Sourced by the checks: a Redis of their own, that can be away.
# shellcheck shell=bash
set -euo pipefail
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
fails_in_order() {  # fails_in_order COMMAND…: a message and code 1, not an abort.
  local said code=0
  said=$("$@" 2>&1) || code=$?
  [[ $code == 1 && $said == *r:\ * ]] || fail "$* ended with $code: $said"
}
