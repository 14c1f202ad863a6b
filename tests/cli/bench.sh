#!/bin/sh
# nicpass bench and report for real: namespaces, agents, libiperf; interruptions; what is left behind.
. "$(dirname "$0")/../tap.sh"
[ "$(id -u)" = 0 ] || skip_all "network namespaces need root"
# In a PID and a network namespace of its own, so that what is counted below is this test's alone.
[ "${1:-}" = inside ] || exec unshare --pid --fork --mount-proc --net "$0" inside
nicpass=$NP_BUILD/nicpass
scenario=$(dirname "$0")/../../templates/scenarios/local.ini
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
quick="--set processes=1 --set omit=1 --set window=2 --set tail=1 --set idle=1"

# Programs of ours that live.
processes() {
    pgrep -f "$NP_BUILD/nicpass|iperf-worker" || true
}
# Namespaces that processes are in, but for ours.
namespaces() {
    lsns -t net -n -o NS 2>/dev/null | sort
}
nothing_left() {
    [ -z "$(processes)" ]
}
before=$(namespaces)
ip link >"$dir/links-before"

# --- one good measurement
# shellcheck disable=SC2086
$nicpass bench "$scenario" --out "$dir/good" $quick >"$dir/table" 2>"$dir/progress"
is "$?" 0 'a short local benchmark succeeds'
is "$(wc -l <"$dir/good/records.jsonl")" 2 'with one record a run'
jq -e . "$dir/good/records.jsonl" >/dev/null
ok $? 'every record is JSON'
is "$(jq -r .valid "$dir/good/records.jsonl" | sort -u)" true 'every run is valid'
jq -e 'select((.totals.goodput_bps > 1e6 | not) or (.window.from_ns >= .window.to_ns))' \
    "$dir/good/records.jsonl" >/dev/null
is "$?" 4 'goodput is in bit/s and the window has edges'
has "$(cat "$dir/table")" '^.*direct' 'the table has the baseline'
has "$(cat "$dir/table")" '^.*bridge' 'and the bridge'
is "$(awk 'length($0) > 100' "$dir/table")" "" 'the table fits 100 columns'

# --- the same table from the records, without privilege
chmod -R a+rX "$dir"
setpriv --reuid=65534 --regid=65534 --clear-groups "$nicpass" report "$dir/good" >"$dir/again"
is "$?" 0 'report works for nobody'
is "$(cat "$dir/again")" "$(cat "$dir/table")" 'and prints the same table'
is "$($nicpass report "$dir/good" --format tsv | awk -F'\t' '{print NF}' | sort -u | wc -l)" 1 \
    'TSV has as many columns in every line'
$nicpass report "$dir/good" --format json | jq -e '.rows | length == 2' >/dev/null
ok $? 'JSON has two rows'

# --- going on with what is there
# shellcheck disable=SC2086
$nicpass bench "$scenario" --out "$dir/good" $quick >/dev/null 2>"$dir/progress"
has "$(cat "$dir/progress")" '2 runs were there already' 'finished runs are not repeated'
$nicpass bench "$scenario" --out "$dir/good" --set processes=2 >/dev/null 2>"$dir/progress"
is "$?" 2 'records of another scenario are not mixed in'

# --- refusals come before anything runs
for wrong in "windoww=2" "window=abc" "window" "processes=0" "direct.link=ring" "nosuch.link=direct"; do
    message=$($nicpass bench "$scenario" --out "$dir/never" --set "$wrong" 2>&1)
    is "$?" 2 "--set $wrong is refused"
    has "$message" "${wrong%%=*}" 'naming what is wrong'
done
[ ! -e "$dir/never" ]
ok $? 'and nothing was written'

# --- an agent or an iperf process is killed in mid-run
busy_worker() { # a worker that has used CPU time is in mid-run
    for pid in $(pgrep -f iperf-worker); do
        used=$(awk '{print $14 + $15}' "/proc/$pid/stat" 2>/dev/null)
        [ "${used:-0}" -ge 20 ] && echo "$pid" && return 0
    done
    return 1
}
kill_in_mid_run() { # NAME FIND: runs a benchmark and kills what FIND prints
    $nicpass bench "$scenario" --out "$dir/$1" --set processes=2 --set omit=1 --set window=5 \
        --set tail=1 --set idle=1 >"$dir/table" 2>"$dir/progress" &
    bench=$!
    wait_until busy_worker >/dev/null
    kill -KILL "$($2)"
    wait "$bench"
    is "$?" 3 "$1 killed in mid-run: the exit status says that runs are invalid"
    invalid=$(jq -r 'select(.valid | not) | .causes[0].text' "$dir/$1/records.jsonl")
    is "$(printf '%s\n' "$invalid" | wc -l)" 1 "$1: exactly one run is invalid"
    has "$invalid" '.' "$1: with a cause ($(printf '%s' "$invalid" | head -n 1))"
    is "$(jq -r 'select(.valid) | .key' "$dir/$1/records.jsonl" | wc -l)" 1 "$1: the next run is valid"
    has "$(cat "$dir/table")" 'invalid' "$1: the table lists it"
    is "$(processes)" "" "$1: no process is left"
    is "$(namespaces)" "$before" "$1: no namespace is left"
}
first_agent() { pgrep -of 'nicpass-agent --stdio'; }
kill_in_mid_run worker busy_worker
kill_in_mid_run agent first_agent

# --- the program itself is stopped
for signal in INT TERM KILL; do
    $nicpass bench "$scenario" --out "$dir/$signal" --set processes=1 >"$dir/table" 2>"$dir/progress" &
    bench=$!
    wait_until busy_worker >/dev/null
    kill -"$signal" "$bench"
    wait "$bench"
    status=$?
    [ "$signal" = KILL ] || is "$status" 130 "SIG$signal: the exit status says so"
    wait_until nothing_left
    ok $? "SIG$signal: no process is left"
    is "$(namespaces)" "$before" "SIG$signal: no namespace is left"
done
ip link >"$dir/links-after"
cmp -s "$dir/links-before" "$dir/links-after"
ok $? "the host's own links were never touched"
done_testing
