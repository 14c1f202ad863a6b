#!/bin/sh
# The agent is one static program: it must run on every distribution, whatever is installed there.
. "$(dirname "$0")/../tap.sh"
agent=$NP_BUILD/nicpass-agent

# A sanitizer's build is dynamic on purpose, and has nothing to prove here, also where every test must run.
if grep -q -e __asan_init -e __ubsan_handle "$agent"; then
    echo '1..0 # SKIP built with a sanitizer'
    exit 0
fi
command -v file >/dev/null || skip_all 'no file(1) here'
command -v readelf >/dev/null || skip_all 'no readelf(1) here'
has "$(file -L "$agent")" 'statically linked' 'file says that it is statically linked'
is "$(readelf -l "$agent" | grep INTERP)" "" 'it asks for no loader'
is "$(env -i "$agent" --version | cut -d ' ' -f 1)" nicpass-agent 'it runs without any environment'
done_testing
