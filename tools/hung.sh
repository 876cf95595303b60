#!/usr/bin/env bash
# hung.sh PID: shows what PID and its descendants are doing (the tree, the tests that ctest started
# last, the stacks of programs that were built here), and kills them.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

all=() depth=()
collect() {  # collect PID: fills `all` with PID and its descendants, parents first
  local -A children=()
  local stat line parent pid
  for stat in /proc/[0-9]*/stat; do
    { read -r line < "$stat"; } 2>/dev/null || continue
    read -r _ parent _ <<< "${line##*) }"  # behind the name, which may hold anything: state, parent
    pid=${stat#/proc/}
    children[$parent]+=" ${pid%/stat}"
  done
  all=() depth=()
  add "$1" 0
}
add() {
  local child
  all+=("$1") depth+=("$2")
  for child in ${children[$1]:-}; do add "$child" $(($2 + 1)); done
}

# Whoever runs on may start more; a stopped parent cannot.
known=0
collect "$1"
while (( ${#all[@]} > known )); do
  known=${#all[@]}
  kill -STOP "${all[@]}" 2>/dev/null || true
  collect "$1"
done

echo '== processes'
built=()
for i in "${!all[@]}"; do
  pid=${all[i]}
  printf '%*s%s %.140s\n' $((2 * depth[i])) '' "$pid" "$(tr '\0' ' ' 2>/dev/null < "/proc/$pid/cmdline")" || true
  case $(readlink "/proc/$pid/exe" 2>/dev/null) in
    "$root"/build/*) built+=("$pid") ;;
  esac
done
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
