# shellcheck shell=bash
# Our programs, as they are now: put into the running host and into its guests, never into an image.

# programs_tree FOLDER: fills it as `make install` for PREFIX=/usr would, where libvirt's AppArmor profile expects a
# hook's program. From a source tree they are built in a folder of their own; an installed lab takes what is installed.
programs_tree() {
    local tree=$1 source build=${NICPASS_LAB_BUILD:-build-lab}
    rm -rf "$tree"
    mkdir -p "$tree"
    source=$(source_tree)
    if [ -z "$source" ]; then
        local prefix
        prefix=$(cd "$LAB_DIR/../../.." && pwd)
        mkdir "$tree/usr"
        (cd "$prefix" && find bin sbin lib share -path '*nicpass*' ! -type d -print0 2>/dev/null |
            tar -c --null -T - | tar -x -C "$tree/usr")
        return
    fi
    # not the variables of a make that runs us
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -j2 -C "$source" "B=$build" PREFIX=/usr \
        "DESTDIR=$tree" install "$build/tests/lab/talk" >&2
    install -D -m755 "$source/$build/tests/lab/talk" "$tree/usr/local/bin/talk" 2>/dev/null ||
        install -D -m755 "$build/tests/lab/talk" "$tree/usr/local/bin/talk"
    find "$tree" -type f -perm /111 -exec strip --strip-unneeded {} + 2>/dev/null || true
}

# The agent's share of a tree, as a package for guests would have it.
agent_files() {
    (cd "$1" && find . -name '*nicpass-agent*' ! -type d)
}

lab_install() {
    local tree=$LAB_RUN/tree begin=$SECONDS
    need_up
    programs_tree "$tree"
    small_guest_image "$tree"
    ssh_host 'umask 077; cat >/root/.ssh/id_ed25519' <"$LAB_CACHE/id" # for the full guest
    tar -c -C "$tree" . | ssh_host 'tar -x -C / --no-same-owner && systemd-sysusers && systemd-tmpfiles --create --prefix=/run/nicpass'
    lend_libraries "$tree"
    agent_files "$tree" | tar -c -C "$tree" -T - |
        ssh_host "cat >/root/agent.tar; $(cat "$LAB_DIR/on-host/install-full-guest")"
    say "put the programs into the host and its guests in $((SECONDS - begin)) s"
}

# Another Debian may have another version of a library that our programs were linked with: it gets ours.
lend_libraries() {
    local tree=$1 name file
    ssh_host 'ldd /usr/bin/nicpass* /usr/sbin/nicpass* /usr/local/bin/talk 2>/dev/null' </dev/null |
        sed -n 's/^[[:blank:]]*\([^ ]*\) => not found/\1/p' | sort -u | while read -r name; do
        file=$(ldd "$tree"/usr/bin/nicpass "$tree"/usr/sbin/nicpass* 2>/dev/null | awk -v name="$name" '$1 == name { print $3; exit }')
        say "lends $name to the host"
        ssh_host "cat >/usr/local/lib/$name && ldconfig" <"$file"
    done
}

# An initramfs is a row of archives: stage 1, then the agent.
small_guest_image() {
    local tree=$1 stage1 host
    stage1=$(image_folder stage1 "$(setting suite)")
    host=$(image_folder host "$(setting suite)")
    {
        cat "$stage1/stage1.img"
        (cd "$tree" && echo usr/sbin/nicpass-agent | cpio -o -H newc -R 0:0 --quiet | gzip -1n)
    } >"$LAB_RUN/small.img"
    tar -c -C "$LAB_RUN" small.img -C "$host" vmlinuz | ssh_host 'tar -x -C /var/lib/libvirt/images --no-same-owner'
}
