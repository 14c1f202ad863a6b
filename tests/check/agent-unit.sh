#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the nicpass authors
#
# Checks the agent's unit, udev rule, user, tmpfiles and polkit files with their owners' tools.
set -u
cd "$(dirname "$0")/../.." || exit 1

work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
number=0

# result STATUS NAME: one TAP line; $work/out is shown when STATUS is not 0
result() {
    number=$((number + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $number - $2"
    else
        echo "not ok $number - $2"
        sed 's/^/# /' "$work/out"
    fi
}

# needs TOOL NAME: false when the tool is missing, which is then a skip, or a failure with NP_MUST_RUN=1
needs() {
    command -v "$1" >/dev/null && return 0
    number=$((number + 1))
    if [ "${NP_MUST_RUN:-}" = 1 ]; then
        echo "not ok $number - $2: no $1 here"
    else
        echo "ok $number - $2 # SKIP no $1 here"
    fi
    return 1
}

# A rendered copy whose program exists.
sbin=$work/sbin
mkdir "$sbin"
printf '#!/bin/sh\n' >"$sbin/nicpass-agent"
chmod 755 "$sbin/nicpass-agent"
unit=$work/nicpass-agent.service
sed "s|@SBINDIR@|$sbin|" agent/nicpass-agent.service >"$unit"

if needs systemd-analyze 'the unit is valid'; then
    # verify also reads what the unit pulls in; the manual's absence on a build machine does not count
    systemd-analyze verify --man=no --recursive-errors=no "$unit" >"$work/out" 2>&1
    status=$?
    [ -s "$work/out" ] && status=1
    result $status 'the unit is valid'
fi

if needs systemd-analyze 'the unit is confined'; then
    # in percent of the exposure of a unit without any confinement
    systemd-analyze security --offline=true --threshold=20 "$unit" >"$work/out" 2>&1
    result $? 'the unit is confined'
fi

if needs systemd-sysusers 'the user can be made'; then
    mkdir -p "$work/root/etc"
    systemd-sysusers --root="$work/root" --replace=/usr/lib/sysusers.d/x.conf - \
        <agent/nicpass-agent.sysusers >"$work/out" 2>&1 &&
        grep -q '^nicpass-agent:' "$work/root/etc/passwd" && grep -q '^nicpass-agent:' "$work/root/etc/group"
    result $? 'the user can be made'
fi

# The file's owner is root, so this needs root; the user comes from the step before.
name='the file for systemd-networkd is made'
if [ "$(id -u)" -ne 0 ]; then
    number=$((number + 1))
    if [ "${NP_MUST_RUN:-}" = 1 ]; then echo "not ok $number - $name: needs root"; else
        echo "ok $number - $name # SKIP needs root"; fi
elif needs systemd-tmpfiles "$name"; then
    cp agent/nicpass-agent.tmpfiles "$work/agent.conf"
    made=$work/root/run/systemd/network/05-nicpass-agent.network
    printf '[Match]\nName=nicpass-agent-holds-none\n\n[Link]\nUnmanaged=yes\n' >"$work/wanted"
    systemd-tmpfiles --root="$work/root" --create "$work/agent.conf" >"$work/out" 2>&1 &&
        [ "$(stat -c %a:%u "$made")" = 664:0 ] && cmp "$made" "$work/wanted" >>"$work/out" 2>&1
    result $? "$name"
fi

# udevadm verify came with systemd 254; before, nothing reads a rule that is not the machine's own.
if udevadm verify --help >/dev/null 2>&1; then
    udevadm verify --resolve-names=never agent/60-nicpass-agent.rules >"$work/out" 2>&1
    result $? 'the udev rule is valid'
fi

# One name in every file.
grep -rhoE 'org\.nicpass\.agent\.[0-9]+' agent/nicpass-agent.service agent/60-nicpass-agent.rules \
    lib/proto/proto.h | sort -u >"$work/out"
[ "$(cat "$work/out")" = org.nicpass.agent.0 ]
result $? 'unit, udev rule and protocol name the same port'
echo "1..$number"
