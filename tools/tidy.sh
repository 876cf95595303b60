#!/usr/bin/env bash
# tidy.sh FILE: clang-tidy on one file, unless what the compiler sees of it was clean before. After
# $ROLLCALL_TIDY_UNTIL (epoch seconds) it only adds the file's name to $ROLLCALL_TIDY_LEFT.
set -euo pipefail
# shellcheck source=tools/common.sh
source "$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/common.sh"
file=$root/$1 folder=$root/build/lint

command=$(ninja -C "$folder" -t commands -s "$file^" 2>/dev/null) ||
  { echo "$1: no target compiles it"; exit 1; }
# The compiler's own command, without the cache in front and the output behind.
command=${command#*"ccache "}
command=${command%% -MD *}
key=$({ (cd "$folder" && eval "$command -E $(printf '%q' "$file")" | grep -v '^#'); cat "$file" "$root/.clang-tidy"; } | sha1sum | cut -c1-40)
[[ ! -f $folder/tidy/$key ]] || exit 0
if [[ ${ROLLCALL_TIDY_UNTIL:-} ]] && (( $(date +%s) > ROLLCALL_TIDY_UNTIL )); then
  echo "$1" >> "$ROLLCALL_TIDY_LEFT"
  exit 0
fi

clang-tidy-19 -p "$folder" --quiet --warnings-as-errors='*' "$file" 2> /dev/null || exit 1
mkdir -p "$folder/tidy"
: > "$folder/tidy/$key"
