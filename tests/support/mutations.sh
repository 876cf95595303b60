# shellcheck shell=bash disable=SC2154  # whoever sources it says where the project is
# Sourced by scripts that show that a test can fail: a copy of the sources, in which one file at a
# time is broken. Needs `root`, the folder of the project.

build=$root/build/mutations
copy=$build/source
out=$copy/build/out

# prepare CMAKE_BUILD_TYPE: makes the copy, with only what tests need.
prepare() {
    mkdir -p "$copy"
    find "$copy" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
    # With the times of the originals, so that only what changed is built again; also what was
    # broken when a run was ended early.
    cp -rp "$root"/{CMakeLists.txt,CMakePresets.json,cmake,include,src,tests} "$copy"
    [[ ! -f $build/broken ]] || touch -c "$copy/$(< "$build/broken")"
    ln -s "$root/.deps" "$copy/.deps"
    sed -i '/add_subdirectory(\(examples\|bench\|fuzz\))/d' "$copy/CMakeLists.txt"
    sed -i '/add_subdirectory(install)/d' "$copy/tests/CMakeLists.txt"
    # As from any other folder: what a compiler cache has is found.
    export CCACHE_BASEDIR=$copy
    cmake -S "$copy" -B "$out" -G Ninja -DCMAKE_BUILD_TYPE="$1" -DROLLCALL_PROGRAM=OFF \
        -DROLLCALL_WERROR=OFF > "$build/configure.log"
}

# build_target TARGET: ends the script when the copy cannot be built.
build_target() {
    ninja -C "$out" "$1" > "$build/build.log" || { tail -n 20 "$build/build.log"; exit 1; }
}

# damage FILE FROM TO: replaces the first FROM in the copy; 1 when there is none.
damage() {
    local text broken
    text=$(< "$root/$1")
    broken=${text/"$2"/"$3"}
    [[ $broken != "$text" ]] || return 1
    echo "$1" > "$build/broken"
    printf '%s\n' "$broken" > "$copy/$1"
}

repair() { cp "$root/$1" "$copy/$1"; }
