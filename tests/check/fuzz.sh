#!/bin/sh
# Each fuzzer from its seeds, the same inputs every time: that it builds, and that nothing shallow breaks.
. "$(dirname "$0")/../tap.sh"
cd "$(dirname "$0")/../.." || exit 1
command -v clang >/dev/null || skip_all "no clang"
unset MAKEFLAGS MAKELEVEL MFLAGS
build=$(dirname "$NP_BUILD")/build-fuzz
log=$(mktemp)
trap 'rm -f "$log"' EXIT
rm -rf "$build/corpus"
# fuzz_make ARGUMENT...
fuzz_make() {
    make -f Makefile -f tests/fuzz/module.mk B="$build" CC=clang FUZZ_FLAGS="-runs=20000 -seed=1" "$@" >"$log" 2>&1
}
for source in tests/fuzz/fuzz-*.c; do
    name=$(basename "$source" .c)
    fuzz_make FUZZ_SRC="$source" fuzz
    status=$?
    ok "$status" "$name finds nothing"
    [ "$status" -eq 0 ] || tail -n 30 "$log" | sed 's/^/# /' >&2
done
done_testing
