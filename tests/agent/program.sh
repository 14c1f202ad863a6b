#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Copyright (C) 2026 the nicpass authors
#
# The agent as a program: how it is linked, its options, its page, its exit statuses, and what it
# needs of the system around it.
. "$(dirname "$0")/../tap.sh"
cd "$(dirname "$0")/../.." || exit 1
agent=$NP_BUILD/nicpass-agent
page=agent/nicpass-agent.8.scd
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# skip NAME REASON
skip() {
    if [ -n "${NP_MUST_RUN:-}" ]; then
        ok 1 "$1: must run, but: $2"
    else
        ok 0 "$1 # SKIP $2"
    fi
}

sanitized=
if readelf -d "$agent" | grep -q 'NEEDED.*san'; then
    sanitized=1
    ok 0 'statically linked # SKIP a sanitizer needs a dynamic program'
else
    has "$(file -b "$agent")" 'statically linked' 'statically linked'
fi

# ## Options

help=$("$agent" --help 2>"$work/err")
is "$?" 0 '--help succeeds'
is "$(cat "$work/err")" "" 'and is on standard output only'
is "$(printf '%s\n' "$help" | awk 'length($0) > 80')" "" 'it fits 80 columns'
is "$("$agent" --version)" \
    "nicpass-agent $(sed -n 's/^VERSION := //p' Makefile) (protocol $(sed -n 's/^#define NP_PROTO_VERSION *//p' lib/proto/proto.h), iperf $("$agent" --version | sed -n 's/.*iperf \([0-9.]*[0-9]\)).*/\1/p'))" \
    '--version prints the versions of agent, protocol and iperf'

# One line an option: its short and long name and its argument.
in_help=$(printf '%s\n' "$help" |
    sed -nE 's/^  (-[a-zA-Z])?(, )?(--[a-z-]+)(=([A-Z]+))?( .*|$)/\1 \3 \5/p' | sort)
in_page=$(sed -nE 's/^(\*(-[a-zA-Z])\*)?(, )?\*(--[a-z-]+)\*( _([A-Z]+)_)?$/\2 \4 \6/p' "$page" | sort)
has "$in_help" '^-p --port NAME$' 'the options are listed'
is "$in_page" "$in_help" 'nicpass-agent(8) and --help have the same options'

# ## Exit statuses, which the page lists

is "$(sed -n '/^# EXIT STATUS/,/^# FILES/s/^\*\([0-9]\)\*$/\1/p' "$page" | tr '\n' ' ')" "0 1 2 " \
    'the page knows the statuses that are tried here'

# refused STATUS PATTERN ARGUMENT...: an error on standard error, nothing on standard output
refused() {
    wanted=$1
    pattern=$2
    shift 2
    out=$("$agent" "$@" 2>"$work/err" </dev/null)
    is "$? $out" "$wanted " "'$*' ends with status $wanted and an empty standard output"
    has "$(cat "$work/err")" "$pattern" 'and says why on standard error'
}
touch "$work/file"
refused 2 'frobnicate' --frobnicate
refused 2 "'extra'" extra
refused 2 'exclude each other' --stdio --unix "$work/socket"
refused 2 'port: .*\.\./port' --port ../port
refused 2 'not a socket' --unix "$work/file"
refused 2 '.*107 bytes' --unix "$work/$(printf '%0120d' 0)"
refused 1 'No such file' --unix "$work/missing/socket"

"$agent" --leave-managers --unix "$work/socket" &
first=$!
wait_until test -S "$work/socket"
wait_until grep -q "$work/socket" /proc/net/unix
refused 1 'another agent' --leave-managers --unix "$work/socket"
kill -TERM "$first"
wait "$first"
is "$?" 0 'SIGTERM ends it well'
is "$(test -e "$work/socket" && echo there)" "" 'and the socket is gone'

# SIGINT is ignored by what a shell puts in the background, so perl starts this one.
cat >"$work/interrupt.pl" <<'EOF'
my $pid = fork // die;
if (!$pid) { $SIG{INT} = "DEFAULT"; exec @ARGV; }
while (!-S $ARGV[-1]) { waitpid($pid, 1) == $pid and exit 99; select undef, undef, undef, 0.01; }
kill "INT", $pid;
waitpid $pid, 0;
exit($? & 127 ? 98 : $? >> 8);
EOF
perl "$work/interrupt.pl" "$agent" --leave-managers --unix "$work/interrupted"
is "$?" 0 'SIGINT ends it well'
"$agent" --leave-managers --stdio </dev/null >/dev/null
is "$?" 0 'the end of standard input ends it well'

# ## What it needs of the system

hello='{"id":1,"verb":"hello","protocol":1,"session":"session-1"}'
info='{"id":2,"verb":"info"}'
name='an empty root folder is enough'
if [ "$(id -u)" -ne 0 ]; then
    skip "$name" 'needs root'
elif [ -n "$sanitized" ]; then
    ok 0 "$name # SKIP a sanitizer needs its libraries"
else
    mkdir "$work/root"
    cp "$agent" "$work/root/agent"
    answers=$(printf '%s\n' "$hello" "$info" | chroot "$work/root" /agent --stdio 2>"$work/err")
    is "$?" 0 "$name"
    is "$(cat "$work/err")" "" 'and nothing is complained of there'
    has "$answers" '"id":1,"ok":\{"protocol":1,' 'hello is answered there'
    has "$answers" '"id":2,"ok":\{"kernel":"' 'and info'
fi

# Standard descriptors that are closed at its start are not reused for its own files.
answers=$(printf '%s\n' "$hello" "$info" | "$agent" --leave-managers --stdio 2>&-)
has "$answers" '"id":2,"ok":\{"kernel":"' 'it works with a closed standard error'

# ## Its end does not cut short what gives a card back

# as_guest: answers to standard output; runs in namespaces of its own, with a NetworkManager that
# takes its time
cat >"$work/as_guest" <<'EOF'
mount -t overlay -o "lowerdir=$1/bin:/usr/bin" overlay /usr/bin && mount -t tmpfs tmpfs /run || exit 77
mkdir /run/NetworkManager
ip link add left address 02:00:00:00:00:01 type veth peer name right || exit 77
mkfifo "$1/in" "$1/out"
"$2" --stdio <"$1/in" >"$1/out" &
exec 3>"$1/in" 4<"$1/out"
echo '{"id":1,"verb":"hello","protocol":1,"session":"session-1"}' >&3
echo '{"id":2,"verb":"nic-set","mac":"02:00:00:00:00:01","up":true}' >&3
while read -r line <&4; do
    case $line in *'"id":2'*) echo "$line" && break ;; esac
done
exec 3>&-
wait $!
EOF
mkdir "$work/bin"
cat >"$work/bin/nmcli" <<EOF
#!/bin/sh
case "\$*" in
*show*)
    case \$(tail -n 1 "$work/said" 2>/dev/null) in
    *'managed no') echo '10 (unmanaged)' ;;
    *) echo '100 (connected)' ;;
    esac
    ;;
*'managed yes') sleep 0.2 && echo "\$*" >>"$work/said" ;;
*) echo "\$*" >>"$work/said" ;;
esac
EOF
chmod 755 "$work/bin/nmcli"
name='the card is given back to NetworkManager before the agent ends'
if [ "$(id -u)" -ne 0 ]; then
    skip "$name" 'needs root'
else
    set_reply=$(unshare -mn sh "$work/as_guest" "$work" "$agent" 2>"$work/err")
    case $? in
    0)
        has "$set_reply" '"ok":\{"name":"left"\}' 'the card is taken'
        is "$(cat "$work/said")" "device set left managed no
device set left managed yes" "$name"
        ;;
    77) skip "$name" "$(cat "$work/err")" ;;
    *) is "$? $(cat "$work/err")" "0 " "$name" ;;
    esac
fi
done_testing
