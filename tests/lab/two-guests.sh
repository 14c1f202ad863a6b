#!/bin/bash
# Load from one guest's VF to another's, below two cards joined by a cable, through the agents.
. ./hypervisor.sh
mac_a=52:54:00:aa:00:01
mac_b=52:54:00:aa:00:02
seconds=5

vfs_make $PF0 1
vfs_make $PF1 1
need_guest a small "$(vf $PF0 0)" $mac_a
need_guest b small "$(vf $PF1 0)" $mac_b
guest_lives a
ok $? 'and the first one still runs'

talk "a=$(channel a)" "b=$(channel b)" >"$LOGS/talk.json" <<COMMANDS
a nic-set {"mac":"$mac_a","address":"198.18.0.1/24","up":true}
b nic-set {"mac":"$mac_b","address":"198.18.0.2/24","up":true}
a cpu {"action":"start","period_ms":1000,"macs":["$mac_a"]}
b cpu {"action":"start","period_ms":1000,"macs":["$mac_b"]}
a serve {"ports":[5201],"watchdog_ms":120000}
b load {"action":"arm","target":"198.18.0.1","ports":[5201],"seconds":$seconds,"interval_ms":1000,"watchdog_ms":120000}
b load {"action":"go","at_ns":0}
b wait 100
a wait 30
b cpu {"action":"stop"}
a cpu {"action":"stop"}
b bye
a bye
COMMANDS
ok $? 'every request succeeds'
values() { # FILTER: of the conversation
    jq -s "$1" "$LOGS/talk.json"
}
is "$(values '[.[] | select(.event == "process") | .ok] | sort')" "$(jq -n '[true, true]')" \
    'server and client end well'
received=$(values '.[] | select(.agent == "a" and .event == "process") | .bytes')
rate=$((received * 8 / seconds / 1000000))
[ "$rate" -gt 0 ]
ok $? "data arrives ($rate Mbit/s)"

# counters: [mac, rx_bytes, tx_bytes, rx_packets, tx_packets]
counted() { # AGENT INDEX: how much the counter grew from first to last sample
    values "[.[] | select(.agent == \"$1\" and .event == \"sample\") | .nics[0][$2]] | last - first"
}
[ "$(counted a 1)" -ge "$received" ]
ok $? 'the receiving VF counted at least that much'
[ "$(counted b 2)" -ge "$received" ]
ok $? 'and so did the sending one'
[ "$(counted a 1)" -lt $((received * 3 / 2)) ]
ok $? 'and not much more'
done_testing
