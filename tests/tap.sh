# TAP for shell tests: source it, call ok or is per check, end with done_testing.
# shellcheck shell=sh
count=0
failed=0

# ok STATUS NAME: passes when STATUS is 0; further lines on standard input are shown when it fails.
ok() {
    count=$((count + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $count - $2"
    else
        failed=$((failed + 1))
        echo "not ok $count - $2"
    fi
}

# is GOT WANTED NAME
is() {
    if [ "$1" = "$2" ]; then
        ok 0 "$3"
    else
        ok 1 "$3"
        printf '%s\n' "got:    $1" "wanted: $2" | sed 's/^/# /' >&2
    fi
}

# has TEXT PATTERN NAME: PATTERN (grep -E) is in TEXT
has() {
    if printf '%s\n' "$1" | grep -Eq -- "$2"; then
        ok 0 "$3"
    else
        ok 1 "$3"
        printf '%s\n' "no '$2' in:" "$1" | sed 's/^/# /' >&2
    fi
}

# skip_all REASON: this machine cannot run the test; a failure where everything must run.
skip_all() {
    if [ -n "${NP_MUST_RUN:-}" ]; then
        echo "not ok 1 - must run, but: $1"
        echo "1..1"
        exit 1
    fi
    echo "1..0 # SKIP $1"
    exit 0
}

# wait_until COMMAND...: repeats COMMAND until it succeeds; fails after about 20 s.
wait_until() {
    tries=400
    until "$@"; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || return 1
        sleep 0.05
    done
}

done_testing() {
    echo "1..$count"
    [ "$failed" -eq 0 ]
}
