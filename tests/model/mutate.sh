#!/usr/bin/env bash
# Shows that the model tests can fail: breaks one script of a layout at a time, or one of the
# decisions behind announcing and watching (`fleet`), in a copy of the sources, and expects the
# test to find it.
#   tests/model/mutate.sh [SEQUENCES [streaming|cosky|fleet]]
set -euo pipefail

sequences=${1:-1000}
layouts=(streaming cosky fleet)
[[ $# -lt 2 ]] || layouts=("$2")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=tests/support/mutations.sh
source "$root/tests/support/mutations.sh"

# run LAYOUT: builds the copy and runs the layout's test.
run() {
    local program=model_tests
    [[ $1 != fleet ]] || program=fleet_simulation
    build_target "$program"
    if [[ $1 == fleet ]]; then
        "$out/bin/$program" $((sequences / 10 + 1)) > "$build/test.log" 2>&1
        return
    fi
    ROLLCALL_MODEL_SEQUENCES=$sequences "$out/bin/model_tests" \
        --gtest_filter="*${1^}ModelTest*" > "$build/test.log" 2>&1
}

# mutate LAYOUT MUTATION: 0 if the test finds it.
mutate() {
    local name script from to file
    IFS='|' read -r -d '' name script from to <<< "$2" || true
    file=src/$1/lua/$script.lua
    [[ $1 != fleet ]] || file=src/registry/$script.cpp
    if ! damage "$file" "$from" "${to%$'\n'}"; then
        echo "STALE   $1/$script: $name"
        return 1
    fi
    local found=
    run "$1" || found=1
    repair "$file"
    if [[ ! $found ]]; then
        echo "MISSED  $1/$script: $name"
        return 1
    fi
    echo "caught  $1/$script: $name ($(grep -m 1 -E '^(wrong:|seed )' "$build/test.log" | cut -c 1-100))"
}

prepare Debug
count=0 missed=0
for layout in "${layouts[@]}"; do
    if ! run "$layout"; then
        tail -n 40 "$build/test.log"
        echo "the test fails without any mutation"
        exit 1
    fi
    # shellcheck source=tests/model/cosky/mutations.sh
    source "$root/tests/model/$layout/mutations.sh"
    for mutation in "${mutations[@]}"; do
        count=$((count + 1))
        mutate "$layout" "$mutation" || missed=$((missed + 1))
    done
done
echo "$count mutations, $missed not caught"
((missed == 0))
