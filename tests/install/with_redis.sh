#!/usr/bin/env bash
# Runs a command with ROLLCALL_URL set to a private redis-server, and ends with its exit code.
set -euo pipefail
folder=$(mktemp -d)
server=
trap '[[ ! $server ]] || { kill "$server" && wait "$server"; } || true; rm -rf "$folder"' EXIT

printf '%s\n' 'port 0' "unixsocket $folder/redis" 'unixsocketperm 700' "dir $folder" 'save ""' |
  setpriv --pdeathsig TERM redis-server - > "$folder/log" &
server=$!
for ((i = 0; i < 500; ++i)); do
  [[ $(redis-cli -s "$folder/redis" ping 2>/dev/null) == PONG ]] && break
  kill -0 "$server" 2>/dev/null || { cat "$folder/log" >&2; exit 1; }
  sleep 0.02
done
ROLLCALL_URL=unix://$folder/redis "$@"
