#!/usr/bin/env bash
# check.sh PACKAGE AGAIN SOURCES: looks at a built Debian package from outside, without installing it. AGAIN is one
# that was built from the same sources in another folder; SOURCES is the folder in which PACKAGE was built.
#
# Prints `ok`, `FAIL` or `skip` with what was checked, a line each, and exits 1 if anything failed.
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1

readonly package=$1 again=$2 built_in=$3
# The packages that may be depended on, and no other.
readonly depends="libc6 libcurl4 libdeflate0 libgcc-s1 libjpeg62-turbo libpng16-16 libssl3 libstdc++6 \
libsystemd0 systemd systemd zlib1g"
# shellcheck source=Tests/reporting.sh
. ../reporting.sh

main() {
    work=$(mktemp -d) || exit 1
    trap 'rm -rf "$work"' EXIT
    check "lintian has no error and no warning" quiet lintian --allow-root --tag-display-limit 0 \
        --fail-on error,warning "$package"
    check "made again from the same sources, it is the same" is_the_same
    dpkg-deb --raw-extract "$package" "$work/root" || exit 1
    program=$work/root/usr/sbin/darkroomd
    sizes
    contents
    control
    programs
    completions
    conclude
}

# If it is not, says which files differ.
is_the_same() {
    cmp "$package" "$again" && return
    dpkg-deb --raw-extract "$package" "$work/first"
    dpkg-deb --raw-extract "$again" "$work/second"
    diff --recursive --brief "$work/first" "$work/second"
    return 1
}

# In Mbytes of 1,000,000 bytes. Swift's libraries are linked into the program, so a second program would double them.
sizes() {
    local packed installed
    packed=$(($(stat --format %s "$package") / 1000000)) installed=$(($(field Installed-Size) * 1024 / 1000000))
    check "it is at most 20 MB ($packed MB)" [ "$packed" -lt 20 ]
    check "it takes at most 75 MB where it is installed ($installed MB)" [ "$installed" -lt 75 ]
}

contents() {
    check "it holds what Tests/package/contents says, with these modes" \
        diff <(grep -v '^#' contents | sort) \
        <(cd "$work/root" && find . -path ./DEBIAN -prune -o -type l -printf '%m %P -> %l\n' -o ! -type d -printf '%m %P\n' | sort)
    check "all of it belongs to root" all_are_roots
    check "folders may be entered by everybody" \
        quiet find "$work/root" -type d ! -perm 755
    check "its times are one and the same" times_are_one
    check "its sums are right" sums_are_right
}

all_are_roots() {
    local others
    others=$(dpkg-deb --contents "$package" | awk '$2 != "root/root"')
    [ -z "$others" ] || { echo "$others"; return 1; }
}

times_are_one() {
    local times
    times=$(find "$work/root" -type f -printf '%T@\n' | sort -u)
    [ "$(wc -l <<<"$times")" -eq 1 ] || { echo "$times"; return 1; }
}

sums_are_right() { (cd "$work/root" && md5sum --check --quiet DEBIAN/md5sums); }

control() {
    local script
    check "its file is named after package, version and architecture" \
        [ "${package##*/}" = "$(field Package)_$(field Version)_$(field Architecture).deb" ]
    check "its version is the program's" [ "$(field Version)" = "$("$program" --version | cut -d ' ' -f 2)" ]
    check "it depends on $depends" \
        diff <(tr ' ' '\n' <<<"$depends") <(field Depends | tr ',' '\n' | awk '{ print $1 }' | sort)
    check "the configuration and the recipes are conffiles, and nothing else" \
        [ "$(tr '\n' ' ' <"$work/root/DEBIAN/conffiles")" = "/etc/darkroom/darkroomd.yaml /etc/darkroom/notify.conf /etc/darkroom/recipes/README\
 /etc/darkroom/recipes/web.yaml " ]
    for script in postinst prerm postrm; do
        check "$script is a script for any shell" sh -n "$work/root/DEBIAN/$script"
        ! have shellcheck || check "... and shellcheck finds nothing" shellcheck "$work/root/DEBIAN/$script"
        check "$script refuses what it does not know" refuses "$work/root/DEBIAN/$script"
    done
}

field() { dpkg-deb --field "$package" "$1"; }

refuses() { [[ $(sh "$1" no-such-thing 2>&1) = *"unknown argument 'no-such-thing'"* ]]; }

have() { command -v "$1" >/dev/null; }

programs() {
    is_hardened "$work/root/usr/bin/darkroom"
    check "it runs: --check-config takes the configuration of the package" \
        "$program" --config "$work/root/etc/darkroom/darkroomd.yaml" --spool "$work/spool" --check-config
    check "the command has the daemon's version" \
        [ "$("$program" --version | cut -d ' ' -f 2)" = "$("$work/root/usr/bin/darkroom" --version | cut -d ' ' -f 2)" ]
}

is_hardened() { # PROGRAM
    check "the program needs no library of Swift's" \
        without '[Ss]wift|[Ff]oundation|dispatch' readelf --dynamic --wide "$1"
    check "it needs no folder for its libraries" without 'R(UN)?PATH' readelf --dynamic --wide "$1"
    check "it has no symbols" without '\.(symtab|debug_)' readelf --sections --wide "$1"
    check "it is loaded at any address" has 'Type: +DYN' readelf --file-header "$1"
    check "its tables of addresses are read-only before it runs" has 'GNU_RELRO' readelf --segments --wide "$1"
    check "... all of them" has 'BIND_NOW|FLAGS.* NOW' readelf --dynamic --wide "$1"
    check "its stack cannot be run" has 'GNU_STACK .* RW ' readelf --segments --wide "$1"
    check "it does not say where it was built" without "$built_in|$HOME/" strings --all "$1"
}

has() { # PATTERN COMMAND...
    local pattern=$1
    shift
    [[ $("$@") =~ $pattern ]]
}

without() { # PATTERN COMMAND...
    local pattern=$1 found
    shift
    found=$("$@" | grep -E "$pattern")
    [ -z "$found" ] || { head -n 5 <<<"$found"; return 1; }
}

completions() {
    local share=$work/root/usr/share name
    check "bash completes the options of darkroomd" \
        completes_in_bash "$share/bash-completion/completions/darkroomd" darkroomd --check --check-config
    check "bash completes the commands of darkroom" \
        completes_in_bash "$share/bash-completion/completions/darkroom" darkroom sub submit
    for name in darkroomd darkroom; do
        if have zsh; then
            check "zsh takes the completions of $name" zsh -n "$share/zsh/vendor-completions/_$name"
        else
            echo "skip zsh's completions: there is no zsh"
        fi
        if have fish; then
            check "fish takes the completions of $name" \
                fish --no-execute "$share/fish/vendor_completions.d/$name.fish"
        else
            echo "skip fish's completions: there is no fish"
        fi
    done
}

# As the shell does it when Tab is pressed after `PROGRAM BEGINNING`.
completes_in_bash() { # FILE PROGRAM BEGINNING EXPECTED
    local found
    found=$(bash --norc -c '
        . "$1"
        function=$(complete -p "$2" | sed "s/.*-F \([^ ]*\).*/\1/")
        COMP_WORDS=("$2" "$3") COMP_CWORD=1 COMP_LINE="$2 $3" COMP_POINT=${#COMP_LINE}
        "$function" "$2" "$3" "$2"
        printf "%s\n" "${COMPREPLY[@]}"' - "$1" "$2" "$3")
    [[ $found = *"$4"* ]] || { echo "completed: $found"; return 1; }
}

main
