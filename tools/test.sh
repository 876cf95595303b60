#!/usr/bin/env bash
# Builds and runs the tests: see `./dev help`. Ends with the line `N passed, N failed`.
set -euo pipefail
# shellcheck source=tools/common.sh
source "$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/common.sh"

quick='' release='' filter=''
while [[ $# -gt 0 ]]; do
  case $1 in
    --quick) quick=1; shift ;;
    --release) release=1; shift ;;
    --filter) [[ $# -ge 2 ]] || misuse '--filter needs a regular expression'; filter=$2; shift 2 ;;
    *) misuse "test: unknown argument $1" ;;
  esac
done

# stage NAME COMMAND…: the command does its own counting, unless it fails as a whole.
stages=()
stage() {
  local name=$1 start=$SECONDS before=$failed verdict=ok
  shift
  say "$name …"
  "$@" || { failed=$((failed + 1)); say "FAILED  $name"; }
  (( failed == before )) || verdict=FAILED
  stages+=("$(printf '%-7s %4d s  %s' "$verdict" $((SECONDS - start)) "$name")")
  say "${stages[-1]}"
}

call_ctest() {  # call_ctest FOLDER REPORT ARGS…
  local folder=$1 report=$2
  shift 2
  rm -f "$report"
  ctest --test-dir "$folder" --output-on-failure --output-junit "$report" --no-tests=error "$@" |
    { grep -vE '^ *Start +[0-9]+:| Passed +[0-9.]+ sec$|^(Internal ctest|Test project)' || true; }
}

tests_in() { grep -c '<testcase ' "$1" || true; }  # tests_in REPORT
passed_in() { grep -c '<testcase .* status="run"' "$1" || true; }  # passed_in REPORT

# run_tests PRESET ARGS…: a run of ctest. Whatever did not pass has failed, skipped tests included.
# Tests that keep to times fail now and then when the machine is busy: up to three get a second run,
# alone, and are named. What a sanitizer reported has failed, however often.
run_tests() {
  local folder=$root/build/$1 report=$root/build/$1/junit.xml again total ok unsteady=0 status=0
  shift
  call_ctest "$folder" "$report" "$@" || status=$?
  total=$(tests_in "$report") ok=$(passed_in "$report")
  if (( ok < total && total - ok <= 3 )) && ! grep -qE 'Sanitizer:|runtime error:' "$report"; then
    say 'once more, alone:'
    again=${report%.xml}-again.xml
    call_ctest "$folder" "$again" --rerun-failed -j 1 || true
    # Fixtures run, too: what counts is who of the failed has failed again.
    if [[ -s $again ]]; then
      unsteady=$((total - ok - $(tests_in "$again") + $(passed_in "$again")))
    fi
    (( unsteady == 0 )) || say "UNSTEADY  $unsteady failed beside others and passed alone"
    ok=$((ok + unsteady))
    (( ok < total )) || status=0
  fi
  passed=$((passed + ok)) failed=$((failed + total - ok))
  say "$ok of $total tests passed"
  (( status == 0 || ok < total ))
}

test_preset() {  # test_preset PRESET ARGS…
  stage "build $1" build "$1" all
  stage "test $1" run_tests "$@"
}

ensure dev
if [[ $quick ]]; then
  build release rollcall_unit_tests
  run_tests release -L unit -j "$jobs" ${filter:+-R "$filter"}
elif [[ $filter ]]; then
  test_preset release -j 4 -R "$filter"
else
  test_preset release -j 4
  stage 'fuzz' counted "$root/tools/fuzz.sh" 5
  if [[ ! $release ]]; then
    # Sanitized programs are many times slower: fewer of the random sequences.
    export ROLLCALL_MODEL_SEQUENCES=1000
    test_preset asan -j 4
    test_preset tsan -j 4
  fi
fi

if [[ ${#stages[@]} -gt 0 ]]; then
  say "summary ($SECONDS s)"
  printf '   %s\n' "${stages[@]}"
fi
conclude
