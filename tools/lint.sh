#!/usr/bin/env bash
# lint.sh [--changed SECONDS|--quick]: everything that can be judged without running the code; see
# `./dev help`. Ends with the line `N passed, N failed`.
set -euo pipefail
# shellcheck source=tools/common.sh
source "$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/common.sh"
cd "$root"

budget='' quick=''
case ${1:-} in
  '') ;;
  --changed)
    budget=${2:-}
    [[ $budget =~ ^[1-9][0-9]*$ ]] || misuse 'lint: --changed needs a number of seconds' ;;
  --quick) quick=1 ;;
  *) misuse "lint: unknown argument $1" ;;
esac

# files PATHSPEC…: those of the project, new ones included.
files() {
  local file
  git ls-files -z -co --exclude-standard --deduplicate -- "$@" |
    while IFS= read -rd '' file; do [[ ! -f $file ]] || printf '%s\0' "$file"; done
}

formatting() { files '*.cpp' '*.hpp' | xargs -0r clang-format-19 --dry-run -Werror; }

scripts() {
  { files '*.sh' dev .ci/run; } | xargs -0r shellcheck -x
}

# none COMMAND…: fails when the command prints anything.
none() { local found; found=$("$@"); [[ ! $found ]] || { printf '%s\n' "$found"; return 1; }; }

long_files() {
  files '*.cpp' '*.hpp' '*.lua' '*.sh' '*.cmake' '*CMakeLists.txt' dev .ci/run | xargs -0r -n1 wc -l |
    awk '$1 > 500 {print $2 ": " $1 " lines; 500 at most"}'
}

# Public headers include the standard library and each other, and declare visible symbols.
public_headers() {
  local header
  { grep -nE '^ *# *include' -r include | grep -vE '#include (<[a-z_]+>|"rollcall/[a-z_/]+\.hpp")$' || true; }
  grep -rL '^namespace' include --include '*.hpp' > "$scratch/bare" || true
  while IFS= read -r header; do
    grep -qxF "$header" "$scratch/bare" || printf '%s: does not push and pop default visibility\n' "$header"
  done < <(comm -23 <(find include -name '*.hpp' | sort) \
    <(grep -rlx '#pragma GCC visibility push(default)' include |
      xargs -r grep -lx '#pragma GCC visibility pop' | sort))
}

# A room includes only rooms that it links, and only src/redis knows Boost.Redis.
room_includes() {
  local room allowed
  while read -r room allowed; do
    { grep -nE '^ *#include "[a-z_]+/' -r "src/$room" || true; } |
      grep -vE "#include \"(rollcall|$room${allowed:+|${allowed// /|}})/" |
      sed "s/\$/   <- $room may include: $allowed/" || true
  done < build/lint/rooms.txt
  { grep -nE '#include <boost/redis' -r src --include '*.?pp' || true; } | { grep -vE '^src/(redis|boost)/' || true; }
}

# The files to check with clang-tidy; those of the last 20 commits with the newest first.
units() {
  local file
  if [[ $budget ]]; then git log -n 20 --format= --name-only -- '*.cpp' | awk '!seen[$0]++'
  else files '*.cpp' | tr '\0' '\n'
  fi | while IFS= read -r file; do
    case $file in
      src/boost/* | tests/install/*) ;;
      *) [[ ! -f $file ]] || printf '%s\0' "$file" ;;
    esac
  done
}

tidy() {
  build lint rollcall_generated || return
  [[ ! $budget ]] || export ROLLCALL_TIDY_UNTIL=$(($(date +%s) + budget))
  units | xargs -0r -n1 -P "$jobs" "$root/tools/tidy.sh"
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
ensure dev
configure lint
check 'formatting (clang-format)' formatting
check 'scripts (shellcheck)' scripts
check 'file length' none long_files
check 'public headers: standard library only, visible' none public_headers
check 'rooms include what they link' none room_includes
check 'public headers compile alone' build lint all_verify_interface_header_sets
if [[ ! $quick ]]; then
  export ROLLCALL_TIDY_LEFT=$scratch/left
  check 'clang-tidy' tidy
  [[ ! -f $scratch/left ]] || say "not checked, for lack of time: $(sort "$scratch/left" | tr '\n' ' ')"
fi
conclude
