#!/bin/sh
# The folders' include directions, the purity of the pure files, and what each program links.
. "$(dirname "$0")/../tap.sh"
cd "$(dirname "$0")/../.." || exit 1

# only FOLDER ALLOWED...: the sources of FOLDER include headers of ours from ALLOWED only
only() {
    folder=$1
    shift
    [ -d "$folder" ] || return
    allowed=$(printf '%s|' "$@")
    wrong=$(grep -rnE '^#include "(lib|agent|cli|hooks|qemu-plugin|tests)/' "$folder" --include='*.[ch]' |
        grep -vE "\"(${allowed%|})/[^/]*\"")
    is "$wrong" "" "$folder includes only $*"
}
only lib/base lib/base
only lib/model lib/base lib/model
only lib/plan lib/base lib/model lib/plan
only lib/apply lib/base lib/model lib/plan lib/apply
only lib/proto lib/base lib/proto
only lib/bench lib/base lib/model lib/proto lib/bench
only hooks lib/base lib/model lib/plan lib/apply hooks
only qemu-plugin lib/base lib/proto qemu-plugin
only agent lib/base lib/proto agent

# users PATTERN FILE...: who includes a library's header
users() {
    pattern=$1
    shift
    is "$(grep -rlE "$pattern" lib agent cli --include='*.[ch]' | sort | tr '\n' ' ')" "$*" \
        "$pattern is included by one place only"
}
users '#include <iperf_api\.h>' 'agent/iperf.c '
users '#include <pci/pci\.h>' 'cli/pci-names.c '

pure='lib/bench/matrix.c lib/bench/window.c lib/bench/cpu.c lib/bench/stats.c lib/bench/report.c
    lib/bench/table.c lib/proto/frame.c lib/proto/proto.c lib/base/parse.c lib/plan/*.c
    lib/apply/host-use.c lib/apply/vf-netlink.c lib/apply/pci-config.c lib/apply/ip.c'
for file in $pure; do
    [ -e "$file" ] || continue
    effects=$(grep -nE '\b(open|fopen|read|write|socket|time|clock_gettime|np_clock_ns|getenv|g_getenv|printf|g_file_[a-z_]+|np_file_[a-z_]+|np_sys_[a-z_]+|g_random_[a-z]+|g_get_[a-z_]+)\(' "$file")
    is "$effects" "" "$file has no effects"
done

needed() {
    readelf -d "$1" | sed -n 's/.*NEEDED.*\[\(.*\)\.so.*/\1/p' | sort | tr '\n' ' '
}
if readelf -d "$NP_BUILD/nicpass" | grep -q asan; then
    ok 0 "what is linked does not count under a sanitizer"
else
    has "$(needed "$NP_BUILD/nicpass")" 'libglib-2' 'nicpass links GLib'
    is "$(needed "$NP_BUILD/nicpass" | grep -oE 'lib(iperf|ssl|crypto|sctp)')" "" 'nicpass links no iperf'
fi
done_testing
