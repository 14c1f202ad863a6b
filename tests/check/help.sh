#!/bin/sh
# Help texts fit a terminal, go to standard output, and agree with the man page.
. "$(dirname "$0")/../tap.sh"
cd "$(dirname "$0")/../.." || exit 1
nicpass=$NP_BUILD/nicpass

# wide TEXT: lines longer than 80 columns
wide() {
    printf '%s\n' "$1" | awk 'length($0) > 80'
}

help=$($nicpass --help)
is "$?" 0 'nicpass --help succeeds'
is "$(wide "$help")" "" 'nicpass --help fits 80 columns'
verbs=$(printf '%s\n' "$help" | sed -n 's/^  \([a-z]\{1,\}\)\( [^ ].*\)\{0,1\}  .*/\1/p')
has "$verbs" '^bench$' 'the verbs are listed'
for verb in $verbs; do
    text=$($nicpass "$verb" --help 2>/dev/null)
    is "$?" 0 "$verb --help succeeds"
    is "$(wide "$text")" "" "$verb --help fits 80 columns"
    section=$(awk -v verb="$verb" '$1 == "##" { on = ($2 == verb) } on' cli/nicpass.8.scd)
    has "$section" "^## $verb" "nicpass(8) has a section on $verb"
    in_help=$(printf '%s\n' "$text" | grep -oE -- '--[a-z-]+' | grep -vx -- --help | sort -u)
    in_man=$(printf '%s\n' "$section" | grep -oE -- '\*--[a-z-]+' | tr -d '*' | sort -u)
    is "$in_man" "$in_help" "nicpass(8) and $verb --help have the same options"
done

errors=$($nicpass bnech 2>&1 >/dev/null)
is "$?" 2 'an unknown verb is a usage error'
is "$errors" "nicpass: unknown verb 'bnech', did you mean bench; see nicpass --help" \
    'and the nearest verb is named on standard error'
is "$($nicpass bnech 2>/dev/null)" "" 'standard output stays empty'
is "$($nicpass --version)" "nicpass $(sed -n 's/^VERSION := //p' Makefile)" '--version prints the version'
done_testing
