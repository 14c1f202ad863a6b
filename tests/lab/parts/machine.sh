# shellcheck shell=bash
# The emulated host: one QEMU, whose state is the files of the run folder.
#
#     pid, owner      QEMU's process; the lab command that boots or uses it ("PID START"), if it must not survive that
#     settings        layout, suite and ssh port, once it is up
#     console.log     and console.sock, the serial console; ssh.sock, the ssh connection all commands share
#     logs/           what tests left behind

SSH_WAIT_S=120 # it takes 20 s on two idle cores

# start_time PID: tells a process from a later one of the same number.
start_time() {
    sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d' ' -f20
}

# Whether the process that FILE names ("PID START") lives.
lives() {
    local pid start
    [ -s "$1" ] && read -r pid start <"$1" && [ "$(start_time "$pid")" = "$start" ]
}

# The process id of this run folder's QEMU, if it lives.
qemu_pid() {
    local pid
    [ -s "$LAB_RUN/pid" ] && read -r pid <"$LAB_RUN/pid" || return 1
    tr '\0' '\n' <"/proc/$pid/cmdline" 2>/dev/null | grep -qxF "$LAB_RUN/pid" && echo "$pid"
}

is_up() {
    [ -e "$LAB_RUN/settings" ] && qemu_pid >/dev/null
}

setting() {
    sed -n "s/^$1=//p" "$LAB_RUN/settings"
}

own() {
    echo "$$ $(start_time $$)" >"$LAB_RUN/owner"
}

# Refuses when another command is at work; clears away what a killed one left.
take_over() {
    mkdir -p "$LAB_RUN"
    if [ -e "$LAB_RUN/owner" ] && lives "$LAB_RUN/owner"; then
        fail "process $(cut -d' ' -f1 "$LAB_RUN/owner") uses the lab in $LAB_RUN; set NICPASS_LAB_RUN for a second one"
    fi
    if [ -e "$LAB_RUN/owner" ] || { qemu_pid >/dev/null && ! is_up; }; then
        say "clearing away what a killed lab command left"
        own_no_more
    fi
}

machine_stop() {
    local pid tries=100
    if pid=$(qemu_pid); then
        ssh_control -O exit 2>/dev/null || true
        kill "$pid"
        while kill -0 "$pid" 2>/dev/null && [ $tries -gt 0 ]; do
            tries=$((tries - 1))
            sleep 0.1
        done
        kill -KILL "$pid" 2>/dev/null || true
    fi
    rm -f "$LAB_RUN"/{pid,settings,console.sock,ssh.sock,cable0,cable1,small.img}
}

# The end of a command that owns the lab, however it comes.
own_no_more() {
    machine_stop
    rm -f "$LAB_RUN/owner"
}

lab_up() {
    local layout=$1 suite=$2
    need_root
    take_over
    if is_up; then
        [ "$(setting layout) $(setting suite)" = "$layout $suite" ] ||
            fail "the lab is up with layout $(setting layout), suite $(setting suite); stop it with: lab down"
        say "the lab is up already"
        return
    fi
    images_build "$suite"
    own
    trap own_no_more EXIT
    trap 'exit 130' INT TERM HUP
    machine_start "$layout" "$suite"
    lab_install
    rm "$LAB_RUN/owner"
    trap - EXIT INT TERM HUP
}

# The cards. good: each PF below a port of its own with ACS. bad-groups: one below a port without ACS, one below a
# switch, where nothing keeps functions from reaching each other.
layout_devices() {
    local card0=netdev=cable0,mac=52:54:00:00:01:00 card1=netdev=cable1,mac=52:54:00:00:02:00
    case $1 in
    good)
        echo -device pcie-root-port,id=port0,slot=1,chassis=1 -device igb,bus=port0,$card0 \
            -device pcie-root-port,id=port1,slot=2,chassis=2 -device igb,bus=port1,$card1
        ;;
    bad-groups)
        echo -device pcie-root-port,id=port0,slot=1,chassis=1,disable-acs=on -device igb,bus=port0,$card0 \
            -device pcie-root-port,id=port1,slot=2,chassis=2,disable-acs=on -device x3130-upstream,id=switch,bus=port1 \
            -device xio3130-downstream,id=down0,bus=switch,slot=3,chassis=3 -device igb,bus=down0,$card1 \
            -device xio3130-downstream,id=down1,bus=switch,slot=4,chassis=4 -device e1000e,bus=down1,mac=52:54:00:00:03:00
        ;;
    esac
}

# Why these options: README.md, "Quirks".
machine_start() {
    local layout=$1 suite=$2 host guest begin=$SECONDS
    host=$(image_folder host "$suite")
    guest=$(image_folder guest "$suite")
    [[ ${#LAB_RUN} -lt 90 && $LAB_RUN == /* && $LAB_RUN != *[,\ ]* ]] ||
        fail "the run folder '$LAB_RUN' must be an absolute path of less than 90 bytes without comma and blank"
    rm -f "$LAB_RUN"/{console.log,qemu.log,cable0,cable1}
    # shellcheck disable=SC2046
    qemu-system-x86_64 -name "nicpass lab" -nodefaults -display none -no-reboot \
        -machine q35,kernel-irqchip=off -accel tcg,thread=multi -cpu EPYC,phys-bits=36 -smp 2 -m 4096 \
        -device intel-iommu,intremap=on,caching-mode=on \
        -chardev "socket,id=console,path=$LAB_RUN/console.sock,server=on,wait=off,logfile=$LAB_RUN/console.log" \
        -serial chardev:console \
        -kernel "$host/vmlinuz" -initrd "$(image_folder stage1 "$suite")/stage1.img" \
        -append "console=ttyS0 quiet intel_iommu=on nohz=off highres=off lab.root=/dev/vda lab.modules=disk" \
        -drive "file=$host/root.ext4,if=none,id=root,format=raw,snapshot=on" -device virtio-blk-pci,drive=root \
        -drive "file=$guest/root.ext4,if=none,id=guest,format=raw,snapshot=on" \
        -device virtio-blk-pci,drive=guest,serial=lab-guest \
        -netdev user,id=management,hostfwd=tcp:127.0.0.1:0-:22 \
        -device virtio-net-pci,netdev=management,mac=52:54:00:99:00:01 \
        -netdev "dgram,id=cable0,local.type=unix,local.path=$LAB_RUN/cable0,remote.type=unix,remote.path=$LAB_RUN/cable1" \
        -netdev "dgram,id=cable1,local.type=unix,local.path=$LAB_RUN/cable1,remote.type=unix,remote.path=$LAB_RUN/cable0" \
        $(layout_devices "$layout") \
        -pidfile "$LAB_RUN/pid" -daemonize >"$LAB_RUN/qemu.log" 2>&1 9>&- || {
        cat "$LAB_RUN/qemu.log" >&2
        fail "QEMU did not start"
    }
    wait_for_ssh || fail "the host did not come up"
    printf '%s\n' "layout=$layout" "suite=$suite" "port=$(ssh_port)" >"$LAB_RUN/settings"
    say "the host is up ($suite, layout $layout) after $((SECONDS - begin)) s"
}

# The port that QEMU picked: its only TCP listener.
ssh_port() {
    ss -Hltnp | sed -nE "s/.* 127\.0\.0\.1:([0-9]+) .*[(,]pid=$(qemu_pid),.*/\1/p" | head -n 1
}

wait_for_ssh() {
    local port end=$((SECONDS + SSH_WAIT_S))
    port=$(ssh_port)
    [ -n "$port" ] || fail "QEMU listens on no port"
    while [ $SECONDS -lt $end ]; do
        qemu_pid >/dev/null || break
        ! LAB_SSH_PORT=$port ssh_host -o ConnectTimeout=5 true 2>/dev/null || return 0
        sleep 0.5
    done
    tail -n 20 "$LAB_RUN/console.log" >&2
    return 1
}

ssh_options() {
    printf '%s\n' -q -i "$LAB_CACHE/id" -o IdentitiesOnly=yes -o StrictHostKeyChecking=no \
        -o UserKnownHostsFile=/dev/null -o BatchMode=yes -o ControlPath="$LAB_RUN/ssh.sock"
}

ssh_control() {
    local options
    mapfile -t options < <(ssh_options)
    ssh "${options[@]}" "$@" root@127.0.0.1
}

# ssh_host [OPTION...] [CMD]: on the emulated host; the first call's connection carries the later ones.
ssh_host() {
    local options
    mapfile -t options < <(ssh_options)
    ssh "${options[@]}" -o ControlMaster=auto -o ControlPersist=yes -o ServerAliveInterval=30 \
        -p "${LAB_SSH_PORT:-$(setting port)}" -l root 127.0.0.1 "$@" 9>&-
}

need_up() {
    is_up || fail "the lab is not up; start it with: lab up"
}

lab_down() {
    need_root
    if ! qemu_pid >/dev/null && [ ! -e "$LAB_RUN/owner" ]; then
        say "the lab is not up"
        return
    fi
    if [ -e "$LAB_RUN/owner" ] && lives "$LAB_RUN/owner"; then
        fail "process $(cut -d' ' -f1 "$LAB_RUN/owner") uses the lab in $LAB_RUN; stop that"
    fi
    own_no_more
    say "stopped"
}

lab_status() {
    if ! is_up; then
        echo "down"
        return 1
    fi
    echo "up: suite $(setting suite), layout $(setting layout), QEMU $(qemu_pid), ssh port $(setting port)"
    ssh_host "virsh -q list" | sed 's/^/guest: /'
}

lab_ssh() {
    need_up
    ssh_host "$@"
}

lab_console() {
    need_up
    say "the host's serial console; leave it with Ctrl-]"
    socat -,raw,echo=0,escape=0x1d "UNIX-CONNECT:$LAB_RUN/console.sock"
}
