#!/usr/bin/env bash
# check_saved.sh CONSUMER PROVIDER: it needs no Redis once it has seen one, and fails in order
# before.
# shellcheck source=examples/with_redis.sh
source "$(dirname "${BASH_SOURCE[0]}")/with_redis.sh"
consumer=$1 provider=$2
mkdir "$folder/saved"

until_it_prints() {
  local printed
  for ((i = 0; i < 400; ++i)); do
    printed=$("$consumer" "$folder/saved" 2>/dev/null) && [[ $printed == "$1" ]] && return
    sleep 0.05
  done
  fail "expected: $1" "printed:  $printed"
}

fails_in_order "$consumer" "$folder/saved"
start_redis
setpriv --pdeathsig KILL "$provider" &
until_it_prints http://127.0.0.1:8080
stop_redis
until_it_prints $'http://127.0.0.1:8080\nas they were'
# What is damaged is as if it were not there.
for saved in "$folder"/saved/*; do echo >> "$saved"; done
fails_in_order "$consumer" "$folder/saved"
