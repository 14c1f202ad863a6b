# shellcheck shell=bash
# Helpers for tests on the emulated host: sourced by each, after which TAP is there and everything is put back at the
# end. A test runs as root in /root/lab on a machine that is thrown away.
# shellcheck source=tests/tap.sh
. ./tap.sh

PF0=enp1s0
PF1=enp2s0
LOGS=/root/lab/logs
SMALL_UP_S=90 # 10 to 20 s are usual
FULL_UP_S=300
FULL_ADDRESS=192.168.99.2
FULL_MAC=52:54:00:99:01:01
guests=

note() {
    printf '%s\n' "$*" | sed 's/^/# /'
}

put_back() {
    local guest pf
    for guest in $guests; do
        guest_stop "$guest"
    done
    for pf in /sys/bus/pci/drivers/igb/*/sriov_numvfs; do
        [ ! -e "$pf" ] || [ "$(cat "$pf")" = 0 ] || echo 0 >"$pf"
    done
    ip addr flush dev $PF0
    ip addr flush dev $PF1
}
trap put_back EXIT

# As in tap.sh, but by the clock: here a command may take a second.
wait_until() {
    local end=$((SECONDS + 60))
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.1
    done
}

# need_guest NAME ...: guest_start as a check; without the guest there is nothing more to do.
need_guest() {
    guest_start "$@" && ok 0 "the $2 guest $1 comes up" && return
    ok 1 "the $2 guest $1 comes up"
    done_testing
    exit 1
}
mkdir -p "$LOGS"

# --- PCI

bdf() { # the address of a network interface's device
    basename "$(readlink -f "/sys/class/net/$1/device")"
}

driver() { # the driver of a device, or nothing
    basename "$(readlink "/sys/bus/pci/devices/$1/driver")"
}

group() { # the devices in a device's IOMMU group, sorted
    local members
    members=$(ls "/sys/bus/pci/devices/$1/iommu_group/devices")
    echo $members
}

# vfs_make PF COUNT: without a driver. The VF driver would race with the PF's reset here and is of no use.
vfs_make() {
    ip link set "$1" up
    echo 0 >"/sys/class/net/$1/device/sriov_drivers_autoprobe"
    echo "$2" >"/sys/class/net/$1/device/sriov_numvfs"
}

vf() { # vf PF INDEX: its address
    basename "$(readlink -f "/sys/class/net/$1/device/virtfn$2")"
}

# --- guests

# guest_start NAME small|full [VF MAC]: starts a guest, with that VF and its MAC passed through by libvirt, and waits
# until it is up. KVM in the emulator sometimes loses a guest during its early boot: it is started once more then.
# What else the kernel's command line shall say: $guest_cmdline.
guest_start() {
    local name=$1 try
    domain_xml "$@" >"$LOGS/$name.xml"
    guests="$guests $name"
    for try in first second; do
        rm -f "$(console "$name")"
        if virsh -q create "$LOGS/$name.xml" 2>"$LOGS/$name.error"; then
            guest_comes_up "$@" && return
        elif grep -q vfio "$LOGS/$name.error" || ! grep -q 'exited while connecting' "$LOGS/$name.error"; then
            cat "$LOGS/$name.error" >&2 # refused, and will be again
            return 1
        fi
        note "guest $name did not come up at the $try try; the end of its console:" \
            "$(tail -n 5 "$(console "$name")" "$LOGS/$name.error" 2>&1)"
        guest_stop "$name"
        mv "$(console "$name")" "$(console "$name").$try" 2>/dev/null
        [ "$try" = second ] || note "guest $name is started once more"
    done
    return 1
}

guest_stop() {
    ! guest_lives "$1" || virsh -q destroy "$1" || true
}

guest_lives() { # cheaper than asking libvirt, which has work to do
    [ -e "/run/libvirt/qemu/$1.pid" ] && kill -0 "$(cat "/run/libvirt/qemu/$1.pid")" 2>/dev/null
}

console() {
    echo "$LOGS/$1.console"
}

guest_comes_up() {
    local end
    [ "$2" = full ] && end=$((SECONDS + FULL_UP_S)) || end=$((SECONDS + SMALL_UP_S))
    while [ $SECONDS -lt $end ] && guest_lives "$1"; do
        case $2 in
        small) ! grep -aq "^lab: $1 is up" "$(console "$1")" || return 0 ;;
        full) ! full_guest true >/dev/null 2>&1 || return 0 ;;
        esac
        sleep 1
    done
    return 1
}

# full_guest CMD...: runs a command in the full guest, over its virtio NIC.
full_guest() {
    ssh -q -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o ConnectTimeout=20 \
        -o ControlMaster=auto -o ControlPersist=yes -o ControlPath="$LOGS/../full.sock" "root@$FULL_ADDRESS" "$@"
}

# The host's end of a guest's agent channel.
channel() {
    virsh dumpxml "$1" | sed -n "s/.*<source mode='bind' path='\(.*org\.nicpass\.agent\.0\)'.*/\1/p"
}

domain_xml() {
    local name=$1 kind=$2 vf=${3:-} mac=${4:-} memory=256 disk='' nic='' root=''
    if [ "$kind" = full ]; then
        memory=640
        root=lab.root=/dev/vda
        disk="<disk type='block' device='disk'><driver name='qemu' type='raw'/>
            <source dev='/dev/disk/by-id/virtio-lab-guest'/><target dev='vda' bus='virtio'/></disk>"
        nic="<interface type='bridge'><mac address='$FULL_MAC'/><source bridge='labbr0'/><model type='virtio'/></interface>"
    fi
    cat <<XML
<domain type='kvm'>
  <name>$name</name><memory unit='MiB'>$memory</memory><vcpu>1</vcpu>
  <os>
    <type arch='x86_64' machine='q35'>hvm</type>
    <kernel>/var/lib/libvirt/images/vmlinuz</kernel>
    <initrd>/var/lib/libvirt/images/small.img</initrd>
    <cmdline>console=ttyS0 quiet panic=-1 tsc=unstable lab.name=$name $root ${guest_cmdline:-}</cmdline>
  </os>
  <cpu mode='host-passthrough'/>
  <features><acpi/><apic/></features>
  <on_reboot>destroy</on_reboot>
  <devices>
    $disk
    $nic
    <serial type='pty'><log file='$(console "$name")' append='off'/></serial>
    $([ -z "$vf" ] || vf_xml "$vf" "$mac")
    <channel type='unix'><target type='virtio' name='org.nicpass.agent.0'/></channel>
  </devices>
</domain>
XML
}

vf_xml() {
    local domain=${1%%:*} bus slot=${1##*:}
    bus=${1#*:}
    bus=${bus%%:*}
    cat <<XML
<interface type='hostdev' managed='yes'>
      <mac address='$2'/>
      <source><address type='pci' domain='0x$domain' bus='0x$bus' slot='0x${slot%.*}' function='0x${slot#*.}'/></source>
    </interface>
XML
}
