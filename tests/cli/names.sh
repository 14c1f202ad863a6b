#!/bin/sh
# Names of PCI devices: the whole program on a machine that umockdev pretends, with the system's pci.ids.
. "$(dirname "$0")/../tap.sh"
cd "$(dirname "$0")/../.." || exit 1
command -v umockdev-run >/dev/null || skip_all "no umockdev"
if readelf -d "$NP_BUILD/nicpass" | grep -q 'lib[a-z]*san'; then
    echo "1..0 # SKIP umockdev and the sanitizers both want to be loaded first"
    exit 0
fi
pretend() {
    umockdev-run --device tests/cli/igb.umockdev -- "$NP_BUILD/nicpass" "$@"
}
pretend scan --json >"${TMPDIR:-/tmp}/np-names.$$" || true
json=$(cat "${TMPDIR:-/tmp}/np-names.$$")
rm -f "${TMPDIR:-/tmp}/np-names.$$"
is "$(printf '%s' "$json" | jq -r '.inventory.functions | map(.bdf) | join(" ")')" 0000:00:19.0 \
    'only the pretended card is there'
is "$(printf '%s' "$json" | jq -r '.inventory.functions[0] | [.kind, .sriov.total, .["numa-node"]] | join(" ")')" \
    "pf 7 1" 'with its attributes'
has "$(printf '%s' "$json" | jq -r '.details["0000:00:19.0"].name')" '^Intel Corporation 82576 Gigabit' \
    'and its name is that of the list'
has "$(pretend scan)" '^0000:00:19.0 Intel Corporation' 'which people see too'
done_testing
