#!/usr/bin/env bash
# Builds the package in this folder, which depends on Darkroom as somebody else's would, and runs its programs on a PNG
# and a JPEG. Prints a line for each check, which begins with `ok` or `FAIL`.
#
#   bash Tests/outside/check.sh SCRATCH
#
# SCRATCH is a folder that is kept between runs. What is public is held against interface.txt beside this script; after
# a change that is meant, copy SCRATCH/interface.txt over it.
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1

# shellcheck source=../../etc/release.sh
. etc/release.sh
# shellcheck source=../reporting.sh
. Tests/reporting.sh

mkdir -p "$1" || exit 1
scratch=$(cd "$1" && pwd)
here=$PWD/Tests/outside
photo=$PWD/etc/samples/pictures/moon.png
jpeg=$here/pictures/moon.jpg
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

main() {
    check "the products are those for others" products_are_right
    check "no target has unsafe flags, which a dependency by URL may not have" has_no_unsafe_flags
    # shellcheck disable=SC2154 # reporting.sh sets it.
    before=$failures
    check "a package from outside builds" builds
    [ "$failures" -eq "$before" ] || return
    bin=$(build_package --show-bin-path) || return
    # Away from the codec programs.
    cp "$bin"/{example,everything} "$work/" || return
    check "what is public is in Tests/outside/interface.txt" interface_is_as_written
    check "what is public has a comment" quiet undocumented
    check "C functions have the prefix darkroom_" quiet symbols_without_prefix
    check "the example filters a PNG" example_filters "$photo" "160 × 130"
    check "the example filters a JPEG" example_filters "$jpeg" "160 × 240"
    check "the example says what a text is" example_says /etc/passwd "A PNG or a JPEG is needed"
    "$work/everything" "$photo" "$jpeg" "$work"
    check "everything that is public is used" test $? -eq 0
}

# A release, as it is delivered: what is lent passes the optimiser on both sides. In the release's folder, where the
# package manager finds compiled what it would compile here by the same commands.
build_package() { swift build "${RELEASE_OPTIONS[@]}" --package-path "$here" "$@"; }

# The versions of the dependencies are those of Darkroom.
builds() {
    local output status
    cp etc/dependencies.json "$here/Package.resolved" || return
    output=$(build_package --disable-index-store 2>&1)
    status=$?
    printf '%s\n' "$output"
    [ "$status" -eq 0 ] && ! grep -q '^/.*warning:' <<<"$output"
}

dump() { swift package --scratch-path "$scratch" dump-package; }

# The program, the library, and two for the tests, which the package manager would not make otherwise.
products_are_right() {
    diff <(printf '%s\n' DarkroomPicture clockshim darkroom darkroomd shareshim) <(dump | jq -r '.products[].name' | LC_ALL=C sort)
}

has_no_unsafe_flags() {
    local kinds
    kinds=$(dump | jq -r '.targets[].settings[].kind | keys[]') || return
    [ -n "$kinds" ] && ! grep unsafeFlags <<<"$kinds"
}

# What the compiler says is public, as JSON.
symbols() {
    local map maps=()
    if [ ! -e "$work/DarkroomPicture.symbols.json" ]; then
        for map in "$bin"/*.build/module.modulemap Sources/C*/module.modulemap; do
            maps+=(-Xcc "-fmodule-map-file=$map")
        done
        swift symbolgraph-extract -module-name DarkroomPicture -target "$(uname -m)-unknown-linux-gnu" \
            -I "$bin/Modules" "${maps[@]}" -minimum-access-level public -output-dir "$work" || return
    fi
    # Members that other modules' protocols bring along are left out.
    jq '.symbols[] | select(.identifier.precise | startswith("s:15DarkroomPicture") and (contains("::SYNTHESIZED::") | not))' \
        "$work/DarkroomPicture.symbols.json"
}

interface_is_as_written() {
    symbols | jq -r '"\(.pathComponents | join(".")): \([.declarationFragments[].spelling] | join(""))"' |
        LC_ALL=C sort >"$scratch/interface.txt" || return
    diff "$here/interface.txt" "$scratch/interface.txt"
}

undocumented() {
    symbols | jq -r 'select(.docComment == null) | .pathComponents | join(".") | select(endswith("init(rawValue:)") | not)'
}

# Each would be in the way of one that somebody else's program has.
symbols_without_prefix() {
    local names
    names=$(find "$bin"/CDarkroom{Pixels,Deflate,Shims}.build -name '*.o' -exec nm --defined-only --extern-only {} + |
        awk 'NF == 3 { print $3 }')
    grep darkroom_ <<<"$names" >/dev/null || { echo "nm finds none"; return; }
    grep -v '^darkroom_' <<<"$names"
    return 0
}

# example_filters SOURCE SIZE: both results are there, and the first is as large as it says.
example_filters() {
    local said
    rm -f "$work"/{preview.jpg,histogram.png}
    said=$(cd "$work" && "$work/example" "$1") || return
    printf '%s\n' "$said"
    [ "$said" = "$2 pixels, $(stat --format=%s "$work/preview.jpg") bytes" ] &&
        begins_with "$work/preview.jpg" ffd8ff && begins_with "$work/histogram.png" 89504e470d0a1a0a
}

begins_with() { [[ $(od -An -tx1 -v -N 16 "$1" | tr -d ' \n') == "$2"* ]]; }

example_says() {
    local said
    said=$(cd "$work" && "$work/example" "$1") || return
    printf '%s\n' "$said"
    [[ $said == "$2"* ]]
}

main
conclude
