#!/usr/bin/env bash
# Shows that the model test can fail: breaks one script of a layout at a time, in a copy of the
# sources, and expects the test to find it.
#   tests/model/mutate.sh [SEQUENCES [LAYOUT]]
set -euo pipefail

sequences=${1:-1000}
layouts=(streaming cosky)
[[ $# -lt 2 ]] || layouts=("$2")
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$root/build/mutations
copy=$build/source

prepare() {
    # With the times of the originals, so that only what changed is built again; scripts always,
    # because a run that was ended early may have left a mutation in what is built.
    rm -rf "$copy"
    mkdir -p "$copy"
    cp -rp "$root"/{CMakeLists.txt,CMakePresets.json,cmake,include,src,tests} "$copy"
    find "$copy/src" -name '*.lua' -exec touch {} +
    # Only what the model test needs.
    sed -i '/add_subdirectory(\(examples\|bench\|fuzz\))/d' "$copy/CMakeLists.txt"
    sed -i '/add_subdirectory(install)/d' "$copy/tests/CMakeLists.txt"
    CMAKE_PREFIX_PATH=$root/.deps/boost/usr cmake -S "$copy" -B "$build/out" -G Ninja \
        -DCMAKE_BUILD_TYPE=Debug -DROLLCALL_PROGRAM=OFF > "$build/configure.log"
}

# run LAYOUT: builds the copy and runs the layout's test.
run() {
    ninja -C "$build/out" model_tests > "$build/build.log" || { tail -n 20 "$build/build.log"; exit 1; }
    ROLLCALL_MODEL_SEQUENCES=$sequences "$build/out/bin/model_tests" \
        --gtest_filter="*${1^}ModelTest*" > "$build/test.log" 2>&1
}

# mutate LAYOUT MUTATION: 0 if the test finds it.
mutate() {
    local name script from to file text broken
    IFS='|' read -r -d '' name script from to <<< "$2" || true
    to=${to%$'\n'}
    file=src/$1/lua/$script.lua
    text=$(< "$root/$file")
    broken=${text/"$from"/"$to"}
    if [[ $broken == "$text" ]]; then
        echo "STALE   $1/$script: $name"
        return 1
    fi
    printf '%s\n' "$broken" > "$copy/$file"
    local found=
    run "$1" || found=1
    cp "$root/$file" "$copy/$file"
    if [[ ! $found ]]; then
        echo "MISSED  $1/$script: $name"
        return 1
    fi
    echo "caught  $1/$script: $name ($(grep -m 1 '^wrong:' "$build/test.log" | cut -c 1-100))"
}

prepare
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
