#!/usr/bin/env bash
# check.sh PROVIDER CONSUMER: the consumer finds the provider while that runs, and not afterwards.
set -euo pipefail
provider=$1 consumer=$2

until_consumer_prints() {
  local printed
  for ((i = 0; i < 200; ++i)); do
    printed=$("$consumer")
    [[ $printed != "$1" ]] || return 0
    sleep 0.05
  done
  printf 'expected: %s\nprinted:  %s\n' "$1" "$printed" >&2
  exit 1
}

until_consumer_prints ''
setpriv --pdeathsig KILL "$provider" &
until_consumer_prints http://127.0.0.1:8080
kill -TERM $!
wait $!
until_consumer_prints ''
