#!/bin/bash
# Where functions share an IOMMU group, VFIO refuses to give one of them away.
# lab-layout: bad-groups
. ./hypervisor.sh

# the names of the cards follow from their bus
PF0=$(basename "$(dirname "$(grep -l 52:54:00:00:01:00 /sys/class/net/*/address)")")
PF1=$(basename "$(dirname "$(grep -l 52:54:00:00:02:00 /sys/class/net/*/address)")")
pf0=$(bdf "$PF0")
pf1=$(bdf "$PF1")
vfs_make "$PF0" 2
vf=$(vf "$PF0" 0)
is "$(group "$vf")" "$(group "$pf0")" 'below a port without ACS a VF shares the group of its PF'
has "$(group "$pf0")" "$(vf "$PF0" 1)" 'and of the other VF'
members=$(for device in $(group "$pf0"); do driver "$device"; done | sort | paste -sd ' ')
has "$members" 'pcieport' 'the port is in it too'

vfs_make "$PF1" 1
below=$(group "$pf1")
has "$below" "$(vf "$PF1" 0)" 'below a switch port a VF shares the group of its PF, too'
has "$below" ' .* ' 'and of the port'
other=$(bdf "$(basename "$(dirname "$(grep -l 52:54:00:00:03:00 /sys/class/net/*/address)")")")
note "the card at the other port of the switch ($other): $(group "$other")"

# libvirt's own test, with a group whose PF stays on igb
has "$(guest_start a small "$vf" 52:54:00:aa:00:01 2>&1)" 'not viable|Operation not permitted|group' \
    'a guest with such a VF is refused'
! guest_lives a
ok $? 'and does not run'
done_testing
