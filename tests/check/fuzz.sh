#!/bin/sh
# Each fuzzer for a few seconds from its seeds: that it builds, and that nothing shallow breaks.
. "$(dirname "$0")/../tap.sh"
cd "$(dirname "$0")/../.." || exit 1
command -v clang >/dev/null || skip_all "no clang"
unset MAKEFLAGS MAKELEVEL MFLAGS
build=$(dirname "$NP_BUILD")/build-fuzz
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# fuzz_make ARGUMENT...
fuzz_make() {
    make -f Makefile -f tests/fuzz/module.mk B="$build" CC=clang FUZZ_SECONDS=3 "$@" >"$log" 2>&1
}
for source in tests/fuzz/fuzz-*.c; do
    name=$(basename "$source" .c)
    fuzz_make FUZZ_SRC="$source" fuzz
    status=$?
    ok "$status" "$name finds nothing"
    [ "$status" -eq 0 ] || tail -n 30 "$log" | sed 's/^/# /'
done
done_testing
