# shellcheck shell=bash
# Messages, where things are, and the machine's own package mirror.

say() {
    printf 'lab: %s\n' "$*" >&2
}

fail() {
    say "$*"
    exit 1
}

usage_error() {
    printf 'lab: %s; see lab --help\n' "$*" >&2
    exit 2
}

# The folder that holds the Makefile when this is a source tree, else nothing.
source_tree() {
    local top
    top=$(cd "$LAB_DIR/../.." && pwd)
    [ ! -f "$top/Makefile" ] || [ ! -d "$top/lib/proto" ] || echo "$top"
}

need_root() {
    [ "$(id -u)" = 0 ] || fail "needs root: it unpacks Debian packages and runs QEMU with state in $LAB_RUN"
}

# A value of this machine's os-release.
os_release() {
    # shellcheck disable=SC1091
    (. /etc/os-release && eval "printf '%s\n' \"\${$1:-}\"")
}

# Programs built here must run there: the same Debian where that is one of ours.
default_suite() {
    case $(os_release VERSION_CODENAME) in
    trixie) echo trixie ;;
    *) echo bookworm ;;
    esac
}

# mirror SUITE [FOLDER]: the address of the archive from which this machine's apt (FOLDER: /etc/apt) takes SUITE, or,
# since one archive serves all of them, any other Debian suite's. Both forms of sources are read.
mirror() {
    local folder=${2:-/etc/apt} file
    for file in "$folder"/sources.list "$folder"/sources.list.d/*.list "$folder"/sources.list.d/*.sources; do
        [ -e "$file" ] || continue
        case $file in
        *.sources) sources_of_stanzas "$file" ;;
        *) sources_of_lines "$file" ;;
        esac
    done | awk -v suite="$1" '
        $1 !~ /^(bookworm|trixie|bullseye|forky|sid|stable|testing|oldstable)$/ { next }
        $1 == suite && !exact { exact = $2 }
        !any { any = $2 }
        END { print exact ? exact : any }'
}

# The pairs "suite address" of one-line sources ...
sources_of_lines() {
    sed -nE 's/^deb[[:blank:]]+(\[[^]]*\][[:blank:]]*)?([^[:blank:]]+)[[:blank:]]+([^[:blank:]]+)[[:blank:]].*\bmain\b.*/\3 \2/p' "$1"
}

# ... and of deb822 stanzas.
sources_of_stanzas() {
    awk '
        function flush(   i, j, u, s) {
            if (types ~ /(^| )deb( |$)/ && components ~ /(^| )main( |$)/ && enabled !~ /^(no|false|0)/)
                for (i = split(suites, s, " "); i >= 1; i--)
                    if (split(uris, u, " "))
                        print s[i], u[1]
            types = components = suites = uris = enabled = field = ""
        }
        /^#/ { next }
        /^[[:blank:]]*$/ { flush(); next }
        /^[^[:blank:]]/ { field = tolower($1); sub(/^[^:]*:[[:blank:]]*/, "") }
        { sub(/^[[:blank:]]+/, "") }
        field ~ /^types:/ { types = types " " $0 }
        field ~ /^components:/ { components = components " " $0 }
        field ~ /^suites:/ { suites = suites " " $0 }
        field ~ /^uris:/ { uris = uris " " $0 }
        field ~ /^enabled:/ { enabled = $0 }
        END { flush() }' "$1"
}
