#!/usr/bin/env bash
# check.sh PACKAGE AGAIN SOURCES: looks at a built Debian package and those beside it from outside, without installing
# them. AGAIN is one that was built from the same sources in another folder; SOURCES is the folder in which PACKAGE was
# built.
#
# Prints `ok`, `FAIL` or `skip` with what was checked, a line each, and exits 1 if anything failed.
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1

readonly first=$1 again=$2 built_in=$3
# The packages that may be depended on, and no other.
declare -rA depends=(
    [darkroom]="libc6 libcurl4 libdeflate0 libgcc-s1 libgif7 libjpeg62-turbo liblcms2-2 libpng16-16 libseccomp2 libssl3 libstdc++6 \
libsystemd0 libtiff6 libwebp7 libwebpdemux2 libwebpmux3 systemd systemd zlib1g"
    [darkroom-heif]="darkroom libc6 libheif1 libheif1 libseccomp2"
    [darkroom-jxl]="darkroom libc6 libjxl0.7 libseccomp2"
)
# What each codec program links, besides libseccomp and the C library.
declare -rA libraries=(
    [basic]="libdeflate.so.0 libjpeg.so.62 libm.so.6 libpng16.so.16 libz.so.1"
    [webp]="libm.so.6 libwebp.so.7 libwebpdemux.so.2 libwebpmux.so.3" [tiff]=libtiff.so.6 [gif]=libgif.so.7 [bmp]=""
    [icc]=liblcms2.so.2
    [heif]=libheif.so.1 [jxl]=libjxl.so.0.7
)
# shellcheck source=Tests/reporting.sh
. ../reporting.sh

main() {
    work=$(mktemp -d) || exit 1
    trap 'rm -rf "$work"' EXIT
    for name in darkroom darkroom-heif darkroom-jxl; do
        package=$(named "$first") root=$work/$name
        dpkg-deb --raw-extract "$package" "$root" || exit 1
        check "$name: made again from the same sources, it is the same" is_the_same
        contents
        control
        codec_programs
    done
    check "lintian has no error and no warning" quiet lintian --allow-root --tag-display-limit 0 \
        --fail-on error,warning "${first%/*}"/darkroom{,-heif,-jxl}_"${first##*/darkroom_}"
    name=darkroom package=$first root=$work/darkroom program=$work/darkroom/usr/sbin/darkroomd
    sizes
    scripts
    programs
    completions
    conclude
}

# The package of this name beside one of darkroom.
named() { echo "${1%/*}/${name}_${1##*/darkroom_}"; }

# Byte for byte, or before it was compressed if the other one is not. If it is not, says which files differ.
is_the_same() {
    if [[ $(ar t "$package") = "$(ar t "$(named "$again")")" ]]; then
        cmp "$package" "$(named "$again")" && return
    else
        cmp <(uncompressed "$package") <(uncompressed "$(named "$again")") && return
    fi
    dpkg-deb --raw-extract "$package" "$work/first"
    dpkg-deb --raw-extract "$(named "$again")" "$work/second"
    diff --recursive --brief "$work/first" "$work/second"
    return 1
}

# The headers of its parts, each with a name, a time in seconds, an owner, a group and a mode, without sizes and what tells
# of compression; then what the parts hold. `ar tv` has no seconds.
uncompressed() { # PACKAGE
    LC_ALL=C grep -aoE '(debian-binary|(control|data)\.tar)(\.xz)? +([0-9]+ +){3}[0-7]{6} ' "$1" | sed -E 's/\.xz//; s/ +/ /g'
    dpkg-deb --ctrl-tarfile "$1"
    dpkg-deb --fsys-tarfile "$1"
}

# In Mbytes of 1,000,000 bytes. Swift's libraries are linked into the program, so a second program would double them.
sizes() {
    local packed installed
    packed=$(($(stat --format %s "$package") / 1000000)) installed=$(($(field Installed-Size) * 1024 / 1000000))
    check "it is at most 20 MB ($packed MB)" [ "$packed" -lt 20 ]
    check "it takes at most 75 MB where it is installed ($installed MB)" [ "$installed" -lt 75 ]
}

contents() {
    check "$name: it holds what Tests/package/contents says, with these modes" \
        diff <(sed -n "/^package $name\$/,/^package /{/^package /d; /^#/d; /^$/d; p}" contents | sort) \
        <(cd "$root" && find . -path ./DEBIAN -prune -o -type l -printf '%m %P -> %l\n' -o ! -type d -printf '%m %P\n' | sort)
    check "... all of it belongs to root" all_are_roots
    check "... folders may be entered by everybody" \
        quiet find "$root" -type d ! -perm 755
    check "... its times are one and the same" times_are_one
    check "... its sums are right" sums_are_right
}

all_are_roots() {
    local others
    others=$(dpkg-deb --contents "$package" | awk '$2 != "root/root"')
    [ -z "$others" ] || { echo "$others"; return 1; }
}

times_are_one() {
    local times
    times=$(find "$root" -type f -printf '%T@\n' | sort -u)
    [ "$(wc -l <<<"$times")" -eq 1 ] || { echo "$times"; return 1; }
}

sums_are_right() { (cd "$root" && md5sum --check --quiet DEBIAN/md5sums); }

control() {
    check "... its file is named after package, version and architecture" \
        [ "${package##*/}" = "$(field Package)_$(field Version)_$(field Architecture).deb" ]
    check "... its version is the program's" \
        [ "$(field Version)" = "$("$work/darkroom/usr/sbin/darkroomd" --version | cut -d ' ' -f 2)" ]
    check "... it depends on ${depends[$name]}" \
        diff <(tr ' ' '\n' <<<"${depends[$name]}") <(field Depends | tr ',' '\n' | awk '{ print $1 }' | sort)
    [ "$name" = darkroom ] ||
        check "... and on this version of darkroom" has "darkroom \\(= $(field Version)\\)" field Depends
}

scripts() {
    local script
    check "the configuration and the recipes are conffiles, and nothing else" \
        [ "$(tr '\n' ' ' <"$root/DEBIAN/conffiles")" = "/etc/darkroom/darkroomd.yaml /etc/darkroom/notify.conf /etc/darkroom/recipes/README\
 /etc/darkroom/recipes/archive.yaml /etc/darkroom/recipes/proof.yaml /etc/darkroom/recipes/thumbnail.yaml\
 /etc/darkroom/recipes/web.yaml " ]
    for script in postinst prerm postrm; do
        check "$script is a script for any shell" sh -n "$root/DEBIAN/$script"
        ! have shellcheck || check "... and shellcheck finds nothing" shellcheck "$root/DEBIAN/$script"
        check "$script refuses what it does not know" refuses "$root/DEBIAN/$script"
    done
}

field() { dpkg-deb --field "$package" "$1"; }

refuses() { [[ $(sh "$1" no-such-thing 2>&1) = *"unknown argument 'no-such-thing'"* ]]; }

have() { command -v "$1" >/dev/null; }

programs() {
    is_hardened "$root/usr/bin/darkroom"
    check "it runs: --check-config takes the configuration of the package" \
        "$program" --config "$root/etc/darkroom/darkroomd.yaml" --spool "$work/spool" --check-config
    check "the command has the daemon's version" \
        [ "$("$program" --version | cut -d ' ' -f 2)" = "$("$root/usr/bin/darkroom" --version | cut -d ' ' -f 2)" ]
}

# They are plain C programs: no runtime of another language stands between a picture and its confinement.
codec_programs() {
    local file codec
    for file in "$root"/usr/lib/darkroom/codecs/*; do
        codec=${file##*/}
        # shellcheck disable=SC2086  # Their names are words.
        check "$name: the program $codec needs the C library, libseccomp and its own library" \
            diff <(printf '%s\n' libc.so.6 libseccomp.so.2 ${libraries[$codec]} | sort) \
            <(readelf --dynamic --wide "$file" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort)
        is_hardened "$file"
        check "... its stack is guarded" has '__stack_chk_fail' readelf --dyn-syms --wide "$file"
        check "... calls of the C library know the sizes of their buffers" has '_chk@' readelf --dyn-syms --wide "$file"
        check "... it runs" "$file" --version
        check "... and does nothing by itself" exits_with 64 "$file"
    done
}

exits_with() { # STATUS COMMAND [ARGUMENT]...
    local expected=$1 status=0
    shift
    "$@" 2>/dev/null </dev/null || status=$?
    [ "$status" -eq "$expected" ] || { echo "exit status $status, not $expected"; return 1; }
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
    local share=$root/usr/share name
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
