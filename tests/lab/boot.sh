#!/bin/bash
# The emulated host's cards behave as the kernel's SR-IOV interface says: counts, groups, binding, VF attributes.
. ./hypervisor.sh
pf=$(bdf $PF0)
sys=/sys/bus/pci/devices

# write VALUE FILE: prints the error's text, or nothing
write() {
    { printf '%s' "$1" >"$2"; } 2>&1 | sed 's/.*: //'
}

is "$(driver "$pf") $(driver "$(bdf $PF1)")" "igb igb" 'there are two cards with igb'
is "$(cat $sys/"$pf"/sriov_totalvfs)" 7 'each can have 7 VFs'
is "$(group "$pf")" "$pf" 'a card is alone in its IOMMU group'

# --- the number of VFs
ip link set $PF0 up
echo 0 >$sys/"$pf"/sriov_drivers_autoprobe
has "$(write 99 $sys/"$pf"/sriov_numvfs)" 'Numerical result out of range' 'more VFs than there are: ERANGE'
is "$(write 2 $sys/"$pf"/sriov_numvfs)" "" '2 VFs can be made'
is "$(write 2 $sys/"$pf"/sriov_numvfs)" "" 'the same number again succeeds'
has "$(write 3 $sys/"$pf"/sriov_numvfs)" 'busy' 'another number: EBUSY'
has "$(dmesg | tail -n 20)" '2 VFs already enabled. Disable before enabling 3 VFs' 'and the kernel says why'
vf=$(vf $PF0 0)
is "$(driver "$vf")" "" 'without autoprobe a VF has no driver'
is "$(group "$vf")" "$vf" 'a VF is alone in its group'
write 0 $sys/"$pf"/sriov_numvfs
is "$(write 7 $sys/"$pf"/sriov_numvfs)" "" 'all 7 VFs can be made'
groups=$(for i in 0 1 2 3 4 5 6; do readlink $sys/"$(vf $PF0 $i)"/iommu_group; done | sort -u | wc -l)
is "$groups" 7 'in 7 groups'

# --- binding
is "$(write vfio-pci $sys/"$vf"/driver_override)$(modprobe vfio-pci 2>&1)" "" 'a VF takes an override'
write "$vf" /sys/bus/pci/drivers_probe
is "$(driver "$vf")" vfio-pci 'and then vfio-pci'
[ -e /dev/vfio/"$(basename "$(readlink $sys/"$vf"/iommu_group)")" ]
ok $? 'whose group has a device node'
echo >$sys/"$vf"/driver_override
is "$(cat $sys/"$vf"/driver_override) $(driver "$vf")" "(null) vfio-pci" 'clearing the override leaves the binding'
write "$vf" /sys/bus/pci/drivers/vfio-pci/unbind
write no-such-driver $sys/"$vf"/driver_override
is "$(write "$vf" /sys/bus/pci/drivers_probe)" "" 'probing for a driver that does not exist succeeds'
is "$(driver "$vf")" "" 'and binds nothing'

# --- VF attributes
vf_set() {
    ip link set $PF0 vf 0 "$@" 2>&1 | head -n 1
}
is "$(vf_set mac 52:54:00:aa:00:01)" "" 'igb takes a MAC'
is "$(vf_set vlan 100 qos 3)" "" 'a VLAN with priority'
is "$(vf_set spoofchk off)$(vf_set trust on)" "" 'spoofchk and trust'
has "$(ip link show $PF0)" 'vf 0 .*52:54:00:aa:00:01.*vlan 100, qos 3.*spoof checking off.*trust on' 'and shows them'
has "$(vf_set state enable)" 'not supported' 'it has no link state'
has "$(vf_set vlan 100 proto 802.1ad)" 'not supported' 'no service VLAN'
has "$(vf_set mac ff:ff:ff:ff:ff:ff)" 'Invalid' 'and refuses a broadcast MAC'
is "$(ip -d -j link show $PF0 | jq -r '.[0].parentdev')" "$pf" 'ip names the PCI address'

# --- the cable
ip link set $PF1 up
ip netns add far
ip link set $PF1 netns far
ip netns exec far ip link set $PF1 up
ip addr add 198.18.1.1/24 dev $PF0
ip netns exec far ip addr add 198.18.1.2/24 dev $PF1
wait_until ping -c 1 -W 1 198.18.1.2 >/dev/null
ok $? 'the two cards reach each other'
ip netns exec far iperf3 -s -1 -D
wait_until iperf3 -c 198.18.1.2 -t 2 -J >/tmp/iperf.json
rate=$(jq '.end.sum_received.bits_per_second | floor' /tmp/iperf.json)
[ "$rate" -gt 10000000 ]
ok $? "and carry load ($((rate / 1000000)) Mbit/s)"
ip netns pids far | xargs -r kill # a process would keep it, and the card in it
ip netns del far
wait_until test -e /sys/class/net/$PF1
ip addr flush dev $PF0

# --- losing the PF
write "$pf" /sys/bus/pci/drivers/igb/unbind
[ ! -e $sys/"$vf" ]
ok $? 'unbinding a PF takes its VFs away'
write "$pf" /sys/bus/pci/drivers/igb/bind
is "$(cat $sys/"$pf"/sriov_numvfs)" 0 'and it comes back without any'
done_testing
