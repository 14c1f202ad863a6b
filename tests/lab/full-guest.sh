#!/bin/bash
# A guest with systemd and NetworkManager: the agent starts with its port, finds the VF by MAC, keeps NetworkManager
# off it during a session and gives it back.
. ./hypervisor.sh
mac=52:54:00:aa:00:03

vfs_make $PF0 1
need_guest full full "$(vf $PF0 0)" $mac
socket=$(channel full)
trap 'full_guest journalctl -b --no-pager >"$LOGS/full.journal" 2>&1; put_back' EXIT

# --- the agent is a service of its port
service() {
    full_guest systemctl show nicpass-agent -p "$1" --value
}
agent_runs() {
    [ "$(service ActiveState)" = active ]
}
wait_until agent_runs
ok $? 'the agent was started by its port'
is "$(service User)" nicpass-agent 'as its own user'
is "$(full_guest 'grep CapEff /proc/$(pidof nicpass-agent)/status' | tr -d '[:space:]')" \
    CapEff:0000000000001000 'with CAP_NET_ADMIN and no more'
nic=".ok.nics[] | select(.mac == \"$mac\")"
info=$(echo 'a info' | talk "a=$socket" | tail -n 1)
is "$(jq -r "$nic | .driver" <<<"$info")" igbvf 'it finds the VF by its MAC'
name=$(jq -r "$nic | .name" <<<"$info")
note "the guest calls it $name, at $(jq -r "$nic | .pci" <<<"$info")"

# --- NetworkManager
profile() {
    full_guest nmcli -g GENERAL.CONNECTION device show "$name"
}
state() {
    full_guest nmcli -g GENERAL.STATE device show "$name"
}
managed() {
    state | grep -qvE '^(10|0) '
}
unmanaged() {
    state | grep -q '^10 '
}
taken() {
    [ -n "$(profile)" ]
}
wait_until taken
is "$(profile)" 'Wired connection 2' 'NetworkManager took the VF as the second wired connection'
managed
ok $? "and manages it ($(state))"
exec 3> >(talk "a=$socket" >"$LOGS/session.json")
echo "a nic-set {\"mac\":\"$mac\",\"address\":\"198.18.0.3/24\",\"up\":true}" >&3
wait_until grep -q nic-set "$LOGS/session.json"
has "$(cat "$LOGS/session.json")" "\"nic-set\",\"ok\":.\"name\":\"$name\"" 'nic-set works without root'
wait_until unmanaged
ok $? 'NetworkManager is off the VF during the session'
ip addr add 198.18.0.254/24 dev $PF0
wait_until ping -c 1 -W 1 198.18.0.3 >/dev/null
ok $? 'the guest answers through it'
echo 'a bye' >&3
exec 3>&-
wait_until grep -q '"bye"' "$LOGS/session.json"
wait_until managed
ok $? 'and NetworkManager is back on it afterwards'
is "$(full_guest ip -4 addr show dev "$name" | grep -c 198.18.0.3)" 0 'without the address of the session'
full_guest true
ok $? 'the other NIC was left alone all the time'
is "$(service NRestarts)" 0 'the agent never had to be restarted'
done_testing
