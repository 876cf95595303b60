#!/usr/bin/env bash
# symbols.sh FOLDER: what the libraries in FOLDER show is the public interface and nothing else.
set -euo pipefail
export LC_ALL=C
folder=$1

status=0
complain() {  # complain LIBRARY WHAT < the symbols that are to blame
  local blamed
  blamed=$(head -n 20)
  [[ ! $blamed ]] || { printf '%s %s:\n%s\n' "$1" "$2" "$blamed"; status=1; }
}

judge() {  # judge LIBRARY NAMESPACES NM_OPTION…
  local library=$1 owners=$2 symbols
  shift 2
  symbols=$(nm -C --defined-only "$@" "$folder/$library" | sed -nE 's/^[0-9a-f]+ [A-Za-z] //p')
  grep -q '^rollcall::Client::Client(rollcall::ClientOptions)' <<< "$symbols" ||
    complain "$library" 'does not show' <<< 'rollcall::Client'
  # Inside: Boost, the Redis room, and what public classes keep to themselves.
  complain "$library" shows < <(grep -E 'boost|asio|rollcall::redis::|::Impl\b' <<< "$symbols")
  # Function templates are shown with what they return.
  complain "$library" shows < <(
    grep -vE "^((void|bool|unsigned long) |(typeinfo|typeinfo name|vtable|guard variable) for |non-virtual thunk to )?($owners)::" <<< "$symbols")
}

judge librollcall.so rollcall --dynamic
# An archive shares the standard library's templates with the program that it is linked to.
judge librollcall.a 'rollcall|std|__gnu_cxx' --extern-only
exit "$status"
