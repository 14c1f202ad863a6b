# shellcheck shell=bash
# Images: what the lab boots, kept in the cache under a key made of everything they are made of.
#
#     host-SUITE-KEY/    root.ext4 (the hypervisor), vmlinuz, modules/
#     stage1-SUITE-KEY/  stage1.img: the initramfs of the host and of both kinds of guest
#     guest-SUITE-KEY/   root.ext4: a guest with systemd, udev and NetworkManager
#     id, id.pub         the key for ssh

# image_key NAME SUITE: changes when anything does that the image is made of.
image_key() {
    local name=$1 suite=$2
    {
        echo "$suite"
        cat "$LAB_CACHE/id.pub"
        # a stage 1 has modules of the host's kernel in it
        [ "$name" != stage1 ] || basename "$(image_folder host "$suite")"
        cd "$LAB_DIR/image" || exit
        find "$name"* "build-$name" debian.sh -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum
    } | sha256sum | cut -c1-12
}

image_folder() {
    echo "$LAB_CACHE/$1-$2-$(image_key "$1" "$2")"
}

# Makes the images of SUITE that are not there yet. Several labs may ask at once: one builds.
images_build() {
    local suite=$1 name
    need_root
    install_host_packages
    mkdir -p "$LAB_CACHE"
    exec 9>"$LAB_CACHE/lock"
    flock -n 9 || { say "another lab builds images; waiting for it" && flock 9; }
    [ -f "$LAB_CACHE/id" ] || ssh-keygen -q -t ed25519 -N '' -C nicpass-lab -f "$LAB_CACHE/id"
    for name in host stage1 guest; do
        [ -d "$(image_folder "$name" "$suite")" ] || image_build "$name" "$suite"
    done
    exec 9>&-
}

# A folder gets its final name only when complete. Older ones of its kind go: a QEMU that uses one keeps the file.
image_build() {
    local name=$1 suite=$2 folder work archive begin=$SECONDS
    folder=$(image_folder "$name" "$suite")
    work=$LAB_CACHE/building-$name-$suite
    archive=$(mirror "$suite")
    [ -n "$archive" ] || fail "no Debian archive in this machine's apt sources"
    say "building the $name image of $suite (once; log: $LAB_CACHE/build-$name.log)"
    rm -rf --one-file-system "$work"
    mkdir "$work"
    if ! (
        export LAB_DIR LAB_CACHE
        HOST_IMAGE=$(image_folder host "$suite")
        export HOST_IMAGE
        "$LAB_DIR/image/build-$name" "$suite" "$archive" "$work" </dev/null
    ) >"$LAB_CACHE/build-$name.log" 2>&1; then
        rm -rf --one-file-system "$work"
        tail -n 20 "$LAB_CACHE/build-$name.log" >&2
        fail "the $name image could not be built"
    fi
    rm -rf --one-file-system "$LAB_CACHE/$name-$suite"-*
    mv "$work" "$folder"
    say "built the $name image in $((SECONDS - begin)) s"
}

# What this machine itself lacks. Only QEMU from 8.0 on has the igb card; Debian 12 has that in its backports.
install_host_packages() {
    local missing=() pair
    for pair in mmdebstrap:mmdebstrap busybox:busybox-static cpio:cpio mke2fs:e2fsprogs ssh:openssh-client \
        ss:iproute2 socat:socat prove:perl flock:util-linux; do
        command -v "${pair%%:*}" >/dev/null || missing+=("${pair##*:}")
    done
    if ! has_igb; then
        missing+=(qemu-system-x86)
    fi
    [ ${#missing[@]} -gt 0 ] || return 0
    say "installing with apt: ${missing[*]}"
    apt_install "${missing[@]}" >&2
    has_igb || fail "this machine's qemu-system-x86_64 has no 'igb' card: it needs QEMU 8.0 or newer"
}

has_igb() {
    # not through a pipe: pipefail would see QEMU's SIGPIPE
    local devices
    devices=$(qemu-system-x86_64 -device help 2>/dev/null) || return 1
    [[ $devices == *'"igb"'* ]]
}

# With the machine's own sources, and on Debian 12 its backports too; the machine's sources are not changed for that.
apt_install() {
    local apt=(apt-get -q -o "Acquire::Retries=3") sources=
    export DEBIAN_FRONTEND=noninteractive
    if [ "$(os_release VERSION_CODENAME)" = bookworm ]; then
        sources=$(mktemp -d)
        mkdir -p "$sources/parts/" "$sources/lists/partial"
        cp -r /etc/apt/sources.list.d/. "$sources/parts/"
        printf 'Types: deb\nURIs: %s\nSuites: bookworm-backports\nComponents: main\nSigned-By: %s\n' "$(mirror bookworm)" \
            /usr/share/keyrings/debian-archive-keyring.gpg >"$sources/parts/nicpass-lab.sources"
        apt+=(-o "Dir::Etc::SourceParts=$sources/parts" -o "Dir::State::Lists=$sources/lists" -t bookworm-backports)
    fi
    "${apt[@]}" update && "${apt[@]}" install -y --no-install-recommends "$@"
    local status=$?
    rm -rf "$sources"
    return $status
}
