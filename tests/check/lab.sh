#!/bin/bash
# The lab's parts that need no emulator: package sources, keys of images, arguments, what a killed command leaves.
. "$(dirname "$0")/../tap.sh"
cd "$(dirname "$0")/../.." || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export NICPASS_LAB_RUN=$dir/run NICPASS_LAB_CACHE=$dir/cache
lab=tests/lab/lab

# --- the mirror, from both forms of sources
LAB_DIR=$PWD/tests/lab LAB_CACHE=$dir/cache LAB_RUN=$dir/run
. tests/lab/parts/common.sh
. tests/lab/parts/images.sh
. tests/lab/parts/machine.sh
# sources FILE: standard input becomes the only file of apt's sources
sources() {
    rm -rf "$dir/apt"
    mkdir -p "$dir/apt/sources.list.d"
    cat >"$dir/apt/$1"
}
sources sources.list <<'TEXT'
# deb http://commented.invalid/debian bookworm main
deb-src http://source.invalid/debian bookworm main
deb http://security.invalid/debian-security bookworm-security main
deb [arch=amd64 signed-by=/usr/share/keyrings/x.gpg] http://lines.invalid/debian bookworm main contrib
TEXT
is "$(mirror bookworm "$dir/apt")" http://lines.invalid/debian 'one-line sources'
is "$(mirror trixie "$dir/apt")" http://lines.invalid/debian 'serve other suites, too'
sources sources.list.d/debian.sources <<'TEXT'
Types: deb
URIs: http://security.invalid/debian-security
Suites: bookworm-security
Components: main

Types: deb
Enabled: no
URIs: http://disabled.invalid/debian
Suites: bookworm
Components: main

# a comment
Types: deb deb-src
URIs: http://stanzas.invalid/debian http://second.invalid/debian
Suites: bookworm bookworm-updates
Components:
 main
 contrib
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
TEXT
is "$(mirror bookworm "$dir/apt")" http://stanzas.invalid/debian 'deb822 sources'
sources sources.list.d/other.list <<'TEXT'
deb http://other.invalid/repo nodistro main
TEXT
is "$(mirror bookworm "$dir/apt")" "" 'sources of something else are not taken'

# --- keys change with the recipe and only then
mkdir "$dir/cache"
echo key >"$dir/cache/id.pub"
cp -r tests/lab/image "$dir/image"
LAB_DIR=$dir
for name in host stage1 guest; do
    image_key $name bookworm
done >"$dir/keys"
is "$(sort -u "$dir/keys" | wc -l)" 3 'every image has a key of its own'
is "$(image_key host bookworm)" "$(sed -n 1p "$dir/keys")" 'which stays'
[ "$(image_key host trixie)" != "$(sed -n 1p "$dir/keys")" ]
ok $? 'differs by suite'
echo '# more' >>"$dir/image/guest.packages"
is "$(image_key host bookworm)" "$(sed -n 1p "$dir/keys")" "a change to the guest's list leaves the host alone"
[ "$(image_key guest bookworm)" != "$(sed -n 3p "$dir/keys")" ]
ok $? 'and changes the guest'
echo '# more' >>"$dir/image/host.packages"
[ "$(image_key stage1 bookworm)" != "$(sed -n 2p "$dir/keys")" ]
ok $? "a stage 1 follows its host's kernel"

# --- what a killed command leaves
mkdir "$dir/run"
sleep 100 &
sleeper=$!
echo "$sleeper $(start_time $sleeper)" >"$dir/run/owner"
lives "$dir/run/owner"
ok $? 'an owner that lives is seen'
kill "$sleeper"
wait "$sleeper" 2>/dev/null
! lives "$dir/run/owner"
ok $? 'and one that does not'
echo "$$ 1" >"$dir/run/owner"
! lives "$dir/run/owner"
ok $? 'another process of the same number is another'
echo $$ >"$dir/run/pid"
! qemu_pid
ok $? "a process that is not this folder's QEMU is never taken for it"
machine_stop
[ -e "$dir/run/owner" ] && [ ! -e "$dir/run/pid" ]
ok $? 'stopping the machine for another layout leaves the owner'
rm -rf "$dir/run"

# --- arguments
for wrong in "" "upp" "up --layout" "up --layout ring" "up --suite sid" "up now" "run" "down now" "up --fast"; do
    # shellcheck disable=SC2086
    message=$($lab $wrong 2>&1)
    is "$?" 2 "'lab $wrong' is refused"
    has "$message" 'see lab --help' 'with a hint'
done
is "$($lab --help | awk 'length($0) > 80')" "" 'lab --help fits 80 columns'
is "$($lab status)" down 'a lab that is not up is down'
message=$("$NP_BUILD/nicpass" lab ssh true 2>&1)
is "$?" 1 'nicpass lab passes on the exit status'
is "$message" 'lab: the lab is not up; start it with: lab up' 'and the message'

is "$(grep -rnE '(https?|ftp)://[a-z]' tests/lab | grep -v '\.invalid')" "" 'no archive is named in the lab'
for script in tests/lab/*.sh tests/lab/lab tests/lab/parts/*.sh tests/lab/on-host/* tests/lab/image/build-* tests/lab/image/*.sh; do
    bash -n "$script" || break
done
ok $? 'every script parses'
done_testing
