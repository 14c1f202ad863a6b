#!/bin/bash
# A small guest with a VF: the agent at the other end of its channel says what there is, sets the VF up, and stands
# whatever happens to the channel.
. ./hypervisor.sh
mac=52:54:00:aa:00:01

# answer COMMAND...: the last reply to these commands for the agent
answer() {
    printf 'a %s\n' "$@" | talk "a=$socket" | tail -n 1
}

vfs_make $PF0 1
need_guest a small "$(vf $PF0 0)" $mac
has "$(ip link show $PF0)" "vf 0 .*$mac" 'the PF shows the MAC of its VF'
socket=$(channel a)

# --- what there is
nic=".nics[] | select(.mac == \"$mac\")"
info=$(answer info)
is "$(jq -r .verb <<<"$info")" info 'the agent answers'
is "$(jq -r ".ok | $nic | .driver" <<<"$info")" igbvf 'the VF is found by its MAC and has the VF driver'
has "$(jq -r ".ok | $nic | .pci" <<<"$info")" '^0000:' 'and a PCI address'
is "$(jq -r ".ok | $nic | .up" <<<"$info")" false 'it is down'
note "the guest: $(jq -c '.ok | {kernel, clock_source, cpus, cpu_model, virtualisation}' <<<"$info")"

# --- setting it up and putting it back
has "$(answer 'nic-set {"mac":"52:54:00:aa:00:99","up":true}')" '"error"' 'a MAC that no NIC has is refused'
ip addr add 198.18.0.254/24 dev $PF0
exec 3> >(talk "a=$socket" >"$LOGS/session.json")
echo "a nic-set {\"mac\":\"$mac\",\"address\":\"198.18.0.1/24\",\"mtu\":1400,\"up\":true}" >&3
wait_until grep -q nic-set "$LOGS/session.json"
has "$(cat "$LOGS/session.json")" '"nic-set","ok":\{"name":"e' 'nic-set says the name of the NIC'
wait_until ping -c 1 -W 1 198.18.0.1 >/dev/null
ok $? 'the guest answers through its VF'
echo 'a info' >&3
wait_until grep -q '"info"' "$LOGS/session.json"
is "$(jq -r "select(.verb == \"info\") | .ok | $nic | [.mtu, .up, .carrier] | @csv" "$LOGS/session.json")" \
    1400,true,true 'it is up, with that MTU'
echo 'a bye' >&3
exec 3>&-
wait_until grep -q '"bye"' "$LOGS/session.json"
is "$(answer info | jq -r ".ok | $nic | [.mtu, .up] | @csv")" 1500,false 'after the session it is as before'

# --- a channel that breaks off anywhere
size=$(jq -c .ok <<<"$info" | wc -c)
for bytes in 0 1 2 30 64 65 90 150; do
    answer "cut-request $bytes" >/dev/null
    [ "$(answer info | jq -r ".ok | $nic | .driver")" = igbvf ] || break
done
is "$bytes" 150 'requests that break off at any byte do no harm'
for bytes in 0 1 2 40 100 150 200 $((size / 2)) $((size - 10)) "$size"; do
    answer "cut-answer $bytes" >/dev/null
    [ "$(answer info | jq -r ".ok | $nic | .driver")" = igbvf ] || break
done
is "$bytes" "$size" 'nor do answers'
printf 'no json\n{"id":1}\n\n\0\377\n' | socat -T 5 STDIO,ignoreeof "UNIX-CONNECT:$socket" >"$LOGS/garbage" 2>&1
has "$(tr -d '\0' <"$LOGS/garbage")" '"error"' 'garbage is answered with an error'
is "$(answer info | jq -r .verb)" info 'and the next host is served'

# --- no host for a while
qemu=$(cat /run/libvirt/qemu/a.pid)
busy_ticks() { # of all CPU time, the guest's included
    awk '{ print $14 + $15 }' "/proc/$qemu/stat"
}
sleep 3 # for the guest to settle
before=$(busy_ticks)
sleep 10
percent=$((($(busy_ticks) - before) / 10))
[ "$percent" -lt 50 ] # spinning takes 100
ok $? "while no host is there the guest idles ($percent % of a CPU)"
is "$(answer info | jq -r .verb)" info 'a host that comes back is served'
is "$(grep -a 'nicpass-agent: ' "$(console a)" | grep -av ': open')" "" 'and the agent had nothing to complain about'
done_testing
