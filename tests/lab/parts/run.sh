# shellcheck shell=bash
# Running tests. A test is a script that runs on the emulated host and speaks TAP; a line "# lab-layout: NAME" in it
# chooses the layout.

# lab_run LAYOUT SUITE SCRIPT...: on the lab that is up, or on one of its own that ends with it. LAYOUT "": the scripts'.
lab_run() {
    local layout=$1 suite=$2 runner='' scripts script
    shift 2
    for script in "$@"; do
        [ -r "$script" ] || fail "no script '$script'"
    done
    need_root
    take_over
    export NICPASS_LAB_SUITE=$suite LAB_LAYOUT=$layout LAB_OWNED=
    if ! is_up; then
        own
        LAB_OWNED=1
        trap own_no_more EXIT
        images_build "$suite"
    fi
    trap 'kill -TERM -- "-$runner" 2>/dev/null; exit 130' INT TERM HUP
    # one boot for each layout
    mapfile -t scripts < <(for script in "$@"; do printf '%s\t%s\n' "$(layout_of "$script")" "$script"; done |
        sort -s -k1,1r | cut -f2)
    # in a process group of its own: a signal reaches us at once, and we stop all of it
    set -m
    prove -v --exec "$LAB_DIR/lab run-one" "${scripts[@]}" </dev/null &
    runner=$!
    set +m
    wait "$runner"
}

# The layout that a script asks for.
layout_of() {
    local wanted
    wanted=$(sed -n 's/^# lab-layout: *//p' "$1" | head -n 1)
    echo "${LAB_LAYOUT:-${wanted:-good}}"
}

# Fails unless the lab runs in this layout; one that is ours is booted for it.
machine_for() {
    local layout=$1 suite=${NICPASS_LAB_SUITE:?}
    if is_up && [ "$(setting layout) $(setting suite)" = "$layout $suite" ]; then
        return
    fi
    [ -n "${LAB_OWNED:-}" ] || fail "the lab is up with layout $(setting layout), suite $(setting suite); this test needs $layout, $suite"
    machine_stop
    machine_start "$layout" "$suite"
    lab_install
}

# run_one SCRIPT: TAP on stdout, logs into a folder; their ends on stderr when it fails.
run_one() {
    local script=$1 name logs status=0 since
    name=$(basename "$script" .sh)
    logs=${NICPASS_LAB_LOGS:-$LAB_RUN/logs}/$name
    [ -r "$script" ] || fail "no script '$script'"
    rm -rf "$logs"
    mkdir -p "$logs"
    (machine_for "$(layout_of "$script")") || {
        printf '%s\n' "not ok 1 - the lab boots" "1..1"
        cp "$LAB_RUN"/*.log "$logs/" 2>/dev/null || true
        exit 1
    }
    since=$(ssh_host 'rm -rf /root/lab/logs; date +%s')
    put_test_files "$script"
    : >"$logs/tap"
    ssh_host "cd /root/lab && NP_MUST_RUN='${NP_MUST_RUN:-}' timeout -k 10 600 bash ./$name.sh" </dev/null >"$logs/tap" 2>"$logs/stderr" &
    follow "$!" "$logs/tap"
    wait "$!" || status=$?
    collect "$since" "$logs"
    [ $status -eq 0 ] || show_failure "$name" "$logs" "$status"
    return $status
}

put_test_files() {
    tar -c -C "$LAB_DIR/on-host" . -C "$LAB_DIR/.." tap.sh -C "$(realpath "$(dirname "$1")")" "$(basename "$1")" |
        ssh_host 'mkdir -p /root/lab && tar -x -C /root/lab --no-same-owner'
}

# Shows a file as it grows, until the process ends.
follow() {
    tail -n +1 -f --pid="$1" -s 0.3 "$2"
}

collect() {
    local since=$1 logs=$2
    cp "$LAB_RUN/console.log" "$logs/host.console" 2>/dev/null || true
    ssh_host "journalctl -b --no-pager -o short-monotonic --since @$since >/root/lab/journal; mkdir -p /root/lab/logs
        tar -c -C /root/lab journal logs -C /var/log libvirt" 2>/dev/null | tar -x -C "$logs" --no-same-owner 2>/dev/null || true
}

show_failure() {
    local name=$1 logs=$2 status=$3 file
    {
        echo "--- $name failed (exit status $status); logs: $logs"
        for file in "$logs/stderr" "$logs"/logs/*.console "$logs/journal" "$logs"/libvirt/qemu/*.log "$logs/host.console"; do
            [ -s "$file" ] || continue
            echo "--- the end of ${file#"$logs/"}"
            tail -n 15 "$file" | tr -d '\r'
        done
    } >&2
}
