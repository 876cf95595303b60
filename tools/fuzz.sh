#!/usr/bin/env bash
# fuzz.sh [SECONDS]: builds the fuzz targets and runs each for SECONDS, from its corpus. What a
# target finds is kept in build/fuzz/found/NAME.
set -euo pipefail
# shellcheck source=tools/common.sh
source "$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/common.sh"

seconds=${1:-60}
[[ $seconds =~ ^[1-9][0-9]*$ ]] || misuse "fuzz: SECONDS must be a positive number, not $seconds"

fuzz() {  # fuzz PROGRAM NAME
  local corpus=$root/fuzz/corpus/$2 found=$root/build/fuzz/found/$2
  [[ -d $corpus ]] || { echo "there is no corpus fuzz/corpus/$2"; return 1; }
  mkdir -p "$found/corpus"
  # New inputs go to the first folder: the committed corpus grows only by hand.
  "$1" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -artifact_prefix="$found/" \
    "$found/corpus" "$corpus"
}

ensure dev
build fuzz rollcall_fuzzers
for program in "$root"/build/fuzz/bin/fuzz/*_fuzz; do
  [[ -x $program ]] || continue
  name=$(basename "$program" _fuzz)
  check "fuzz $name" fuzz "$program" "$name"
done
conclude
