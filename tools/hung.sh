#!/usr/bin/env bash
# hung.sh PID: shows what PID and its descendants are doing (the tree, the tests that ctest started
# last, the stacks of programs that were built here), and then kills them.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

declare -A children=()
for stat in /proc/[0-9]*/stat; do
  { read -r line < "$stat"; } 2>/dev/null || continue
  read -r _ parent _ <<< "${line##*) }"  # behind the name, which may hold anything: state, parent
  pid=${stat#/proc/}
  children[$parent]+=" ${pid%/stat}"
done

all=() built=()
tree() {  # tree PID INDENT
  local child command
  command=$(tr '\0' ' ' 2>/dev/null < "/proc/$1/cmdline") || return 0
  printf '%s%s %.140s\n' "$2" "$1" "$command"
  all+=("$1")
  case $(readlink "/proc/$1/exe" 2>/dev/null) in
    "$root"/build/*) built+=("$1") ;;
  esac
  for child in ${children[$1]:-}; do tree "$child" "$2  "; done
}

echo '== processes'
tree "$1" ''
for log in "$root"/build/*/Testing/Temporary/LastTest.log.tmp; do
  [[ -f $log ]] || continue
  echo "== last tests in ${log#"$root/"}"
  grep -aE '^[0-9]+/[0-9]+ Test' "$log" | tail -n 6 || true
done
for pid in "${built[@]:0:8}"; do
  echo "== stacks of $pid"
  timeout 20 gdb -p "$pid" -batch -nx -ex 'set pagination off' -ex 'thread apply all backtrace 12' \
    2>/dev/null | grep -E '^(Thread|#)' | head -n 80 || true
done
kill -KILL "${all[@]}" 2>/dev/null || true
