#!/bin/sh
# The agent's options: help for people on standard output, errors on standard error, and the man page agrees.
. "$(dirname "$0")/../tap.sh"
cd "$(dirname "$0")/../.." || exit 1
agent=$NP_BUILD/nicpass-agent
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

help=$($agent --help 2>"$work/err")
is "$?" 0 '--help succeeds'
is "$(cat "$work/err")" "" 'and writes nothing to standard error'
is "$(printf '%s\n' "$help" | awk 'length($0) > 80')" "" '--help fits 80 columns'
is "$(printf '%s\n' "$help" | grep -c -e gone-ms -e retry-ms -e iperf-worker)" 0 'what is hidden is not shown'
in_help=$(printf '%s\n' "$help" | grep -oE -- '--[a-z-]+' | grep -vxe --help | sort -u)
in_man=$(sed -n '/^# OPTIONS/,/^# WHAT/p' agent/nicpass-agent.8.scd | grep -oE -- '\*--[a-z-]+' | tr -d '*' | sort -u)
is "$in_man" "$in_help" 'nicpass-agent(8) has the same options'
version=$(sed -n 's/^VERSION := //p' Makefile)
has "$($agent --version)" "^nicpass-agent $version \(protocol [0-9]+, iperf [0-9.]+\)\$" '--version prints the versions'

# fails STATUS PATTERN NAME ARGUMENT...: exit status, an error on standard error, nothing on standard output
fails() {
    wanted=$1 pattern=$2 name=$3
    shift 3
    timeout 20 "$agent" "$@" >"$work/out" 2>"$work/err" </dev/null
    is "$?" "$wanted" "$name: exit status"
    has "$(cat "$work/err")" "$pattern" "$name: says so on standard error"
    is "$(cat "$work/out")" "" "$name: leaves standard output alone"
}

long=/$(printf '%0120d' 0)
fails 2 'colour' 'an unknown option' --colour
fails 2 'extra' 'an argument' extra
fails 1 'exclude' 'two channels' --stdio --unix "$work/socket"
fails 1 'at most 107 bytes' 'a path too long for a socket' --unix "$long"
fails 1 'No such file' 'a socket in a missing folder' --unix "$work/none/socket"
fails 1 'is not a socket' 'a file where the socket should be' --unix "$work/out"
fails 1 "'a/b'" 'a port name with a slash' --port a/b
fails 2 'no job' 'the worker without a job' iperf-worker
is "$(timeout 20 "$agent" --stdio --leave-managers </dev/null 2>&1)" "" '--stdio ends quietly at the end of input'

# A second agent finds the first.
"$agent" --leave-managers --unix "$work/socket" &
first=$!
wait_until test -S "$work/socket"
is "$(stat -c %a "$work/socket")" 600 'the socket is its owner'\''s alone'
fails 1 'another agent' 'a second agent on the same socket' --unix "$work/socket"
kill "$first"
wait "$first"
is "$?" 0 'SIGTERM ends the agent well'
is "$(test -e "$work/socket" && echo there)" "" 'and it takes its socket along'
done_testing
