# What the scripts of this project share; sourced by them. Sets `root` and `jobs`.
# shellcheck shell=bash
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck disable=SC2034  # used by those who source this
jobs=$(nproc)

# Objects are found again in a clone at another path.
export CCACHE_BASEDIR=${CCACHE_BASEDIR:-$root}

say() { printf '%s\n' "== $*" >&2; }
die() { printf 'dev: %s\n' "$@" >&2; exit 1; }
misuse() { printf 'dev: %s\n' "$@" "see './dev help'" >&2; exit 2; }

# ensure build|dev: installs what is missing for building, or for everything.
ensure() {
  "$root/tools/deps.sh" "--$1" --check >/dev/null 2>&1 || "$root/tools/deps.sh" "--$1" >&2
}

# configure PRESET: only when it was never done, the presets changed, or the folder was moved.
configure() {
  local folder=$root/build/$1 stamp
  stamp="$root $(cksum < "$root/CMakePresets.json")"
  [[ -f $folder/build.ninja && $(cat "$folder/.configured" 2>/dev/null) == "$stamp" ]] && return
  mkdir -p "$folder"
  (cd "$root" && cmake --fresh --preset "$1" > "$folder/.configure.log" 2>&1) ||
    { cat "$folder/.configure.log" >&2; die "cannot configure $1"; }
  printf '%s' "$stamp" > "$folder/.configured"
}

is_preset() { grep -q "\"configurePreset\": \"$1\"" "$root/CMakePresets.json"; }

# Passes on what ninja says, except that there is nothing to do; on a terminal, progress is one line.
progress() {
  local line open=
  while IFS= read -r line; do
    case $line in
      *'Re-checking globbed'* | *'no work to do.' | *'Entering directory'*) ;;
      '['*) if [[ -t 2 ]]; then printf '\r\033[K%s' "${line:0:${COLUMNS:-80}-1}"; open=1
            else printf '%s\n' "$line"; fi ;;
      *) printf '%s\n' "${open:+$'\n'}$line"; open= ;;
    esac
  done >&2
  [[ ! $open ]] || printf '\r\033[K' >&2
}

# build PRESET TARGET…: silent when nothing is to do; everything it prints goes to standard error,
# because standard output belongs to the program that is run afterwards.
build() {
  local preset=$1 folder=$root/build/$1
  shift
  is_preset "$preset" || die "no preset $preset in CMakePresets.json"
  mkdir -p "$folder"
  # A second terminal may do the same at this moment; what is built must not keep the lock.
  (
    flock 9
    configure "$preset" 9>&-
    ninja -C "$folder" -k 0 "$@" 2>&1 9>&- | progress 9>&- || die "the $preset build failed"
  ) 9> "$folder/.lock"
}

passed=0 failed=0

# check NAME COMMAND…: runs one check and counts it; its output is shown when it fails.
check() {
  local name=$1 output start=$SECONDS
  shift
  if output=$("$@" 2>&1); then
    passed=$((passed + 1))
    say "ok      $name ($((SECONDS - start)) s)"
  else
    failed=$((failed + 1))
    printf '%s\n' "$output"
    say "FAILED  $name ($((SECONDS - start)) s)"
  fi
}

# The line that every script with checks ends with. Nothing checked is a failure.
conclude() {
  (( passed + failed > 0 )) || { failed=1; say 'FAILED  nothing was checked'; }
  printf '%d passed, %d failed\n' "$passed" "$failed"
  (( failed == 0 ))
}

# counted COMMAND…: runs a script that ends with that line, and adds its numbers.
counted() {
  local line last=''
  while IFS= read -r line; do
    printf '%s\n' "$line"
    last=$line
  done < <("$@")
  if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
    passed=$((passed + BASH_REMATCH[1])) failed=$((failed + BASH_REMATCH[2]))
  else
    failed=$((failed + 1))
    say "FAILED  $* did not end"
  fi
}
