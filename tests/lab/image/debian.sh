# shellcheck shell=bash
# What the recipes of the host and of the full guest have in common.

# packages SUITE LIST: the names in a list, for mmdebstrap. # begins a comment, "SUITE:" limits a name to that suite.
packages() {
    sed 's/#.*//' "$2" | tr -s ' \n' '\n' | sed -n "s/^$1://; /^[^:]\{1,\}$/p" | paste -sd,
}

# debian SUITE ARCHIVE ROOT LIST [OPTION...]: unpacks a small Debian.
debian() {
    local suite=$1 archive=$2 root=$3 list=$4
    shift 4
    mmdebstrap --mode=root --variant=minbase --format=directory \
        --include="$(packages "$suite" "$list")" \
        --aptopt='Acquire::Retries "3"' --dpkgopt=force-unsafe-io \
        --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' \
        --dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/i18n/*' \
        "$@" "$suite" "$root" "deb $archive $suite main"
}

# configure ROOT NAME FILES: a name, a key for root, and the files that stand in FILES as they go into the tree.
configure() {
    local root=$1 name=$2 files=$3
    cp -r "$files/." "$root/"
    echo "$name" >"$root/etc/hostname"
    printf '127.0.0.1 localhost\n127.0.1.1 %s\n' "$name" >"$root/etc/hosts"
    echo '/dev/vda / ext4 defaults 0 1' >"$root/etc/fstab"
    install -D -m600 "$LAB_CACHE/id.pub" "$root/root/.ssh/authorized_keys"
    chmod 700 "$root/root/.ssh"
    : >"$root/etc/machine-id" # empty: each boot gets one; absent would make each a first boot, 12 s longer
    # AppArmor as Debian has it for libvirt; each profile of others costs a second
    rm -f "$root"/etc/apparmor.d/{lsb_release,nvidia_modprobe}
    # what a boot in the emulator need not wait for
    local unit
    for unit in apt-daily.timer apt-daily-upgrade.timer dpkg-db-backup.timer e2scrub_all.timer e2scrub_reap.service \
        fstrim.timer systemd-timesyncd.service systemd-pstore.service getty@tty1.service; do
        ln -sf /dev/null "$root/etc/systemd/system/$unit"
    done
}

# make_ext4 ROOT FILE SIZE
make_ext4() {
    rm -f "$2"
    mke2fs -q -t ext4 -E lazy_itable_init=1 -O ^metadata_csum -d "$1" "$2" "$3"
}
