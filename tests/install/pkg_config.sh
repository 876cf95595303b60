#!/usr/bin/env bash
# pkg_config.sh PREFIX LIBDIR COMPILER: a program gets the library, shared and static, from what
# pkg-config says and nothing else; also where the prefix was moved to.
set -euo pipefail
prefix=$1 libdir=$2 compiler=$3
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export LC_ALL=C

use() {  # use PREFIX [--static]: builds, runs and shows which libraries are loaded
  local root=$1 flags
  shift
  # Not those of this machine's own rollcall.
  flags=$(PKG_CONFIG_LIBDIR="$root/$libdir/pkgconfig" pkg-config "$@" --cflags --libs rollcall)
  read -ra flags <<< "$flags"
  "$compiler" -std=c++20 "$here/consumer/main.cpp" -o "$folder/consumer" "${flags[@]}"
  LD_LIBRARY_PATH=$root/$libdir "$folder/consumer"
  LD_LIBRARY_PATH=$root/$libdir ldd "$folder/consumer"
}
judge() {  # judge WHAT COUNT < the libraries that are loaded
  local found
  found=$(grep -c librollcall || true)
  [[ $found == "$2" ]] || { printf '%s: loads librollcall %s times, not %s\n' "$1" "$found" "$2"; exit 1; }
}

use "$prefix" | judge shared 1
cp -a "$prefix" "$folder/moved"
rm "$folder/moved/$libdir"/librollcall.so*
use "$folder/moved" --static | judge static 0
