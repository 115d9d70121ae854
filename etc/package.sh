#!/usr/bin/env bash
# Builds the Debian packages: bash etc/package.sh [--output DIR] [--version VERSION]
#
#   --output DIR       the folder of darkroom_VERSION_ARCHITECTURE.deb, and of the same for darkroom-heif and
#                      darkroom-jxl; by default the current folder
#   --version VERSION  the version of the packages, for a build with local changes; by default that of the program
#   --help             prints this text
#
# Installs missing Debian packages (with sudo if the user is not root) and builds a release in .build-release. The
# folder etc/debian describes the packages: a table of their contents, the scripts that run when darkroom is installed
# and removed, changelog and copyright. The last lines of the output are the paths of the packages.
#
# Two builds of one commit give the same packages, byte for byte: its times are those of the commit (or
# SOURCE_DATE_EPOCH), the versions of dependencies are those of etc/dependencies.json, and no file contains the path of
# the sources. Exits with 64 for a wrong command line, with 1 for other errors.
set -u -o pipefail
invoked_in=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
# shellcheck source=etc/packages.sh
. etc/packages.sh
# shellcheck source=etc/release.sh
. etc/release.sh

# The program, which is the daemon under its other name.
readonly PACKAGE=darkroom PROGRAM=darkroom DAEMON=darkroomd

main() {
    read_options "$@"
    install_packages < <(missing_package_packages) || exit 1
    require_swift || exit 1
    read_commit
    work=$(mktemp -d "${TMPDIR:-/tmp}/darkroom-package.XXXXXX") || exit 1
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP

    build_programs
    # The layout in which Debian's tools look for what they need: debian/ with the control files, and the
    # packages' roots beneath it.
    install -d -m 755 "$work/debian"
    cp etc/debian/control "$work/debian/control"
    write_changelog
    fill
    local package
    while read -r package; do
        root=$work/debian/$package
        control
        pack
    done < <(sed -n 's/^Package: //p' etc/debian/control)
}

fail() {
    printf 'etc/package.sh: %s\n' "$1" >&2
    exit "${2:-1}"
}

read_options() {
    output=$invoked_in version=''
    while [ $# -gt 0 ]; do
        case $1 in
            --help) sed -n '2,/^set /{/^set /d; s/^# \{0,1\}//; p}' etc/package.sh; exit 0 ;;
            --output | --version)
                [ -n "${2:-}" ] || fail "$1: its value is missing; see --help" 64
                declare -g "${1#--}=$2"
                shift
                ;;
            *) fail "$1: no such option; see --help" 64 ;;
        esac
        shift
    done
    # One below the folder from which this was called.
    [[ $output = /* ]] || output=$invoked_in/$output
    [ -d "$output" ] || fail "$output: there is no such folder (--output)"
}

# The time of all that is packaged is that of the commit, or of the changelog outside of a clone.
read_commit() {
    [ -z "${SOURCE_DATE_EPOCH:-}" ] ||
        [[ $SOURCE_DATE_EPOCH =~ ^[0-9]+$ ]] || fail "SOURCE_DATE_EPOCH is '$SOURCE_DATE_EPOCH', not a number of seconds"
    SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git -c safe.directory="$PWD" log -1 --format=%ct 2>/dev/null)} ||
        SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -l etc/debian/changelog -S Timestamp)
    export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C.UTF-8
    [ -z "$(git -c safe.directory="$PWD" status --porcelain 2>/dev/null)" ] ||
        echo "The package will contain changes that are not committed." >&2
    umask 022
}

build_programs() {
    local output_of_build
    # Tests/run.sh has compiled everything, and while its tests run, the package manager waits for them.
    if [ -z "${DARKROOM_IS_COMPILED:-}" ]; then
        pin_dependencies
        echo "Building $PROGRAM (this takes some minutes the first time) ..."
        output_of_build=$(build_release "$PROGRAM" 2>&1) || {
            printf '%s\n' "$output_of_build" | tail -n 60 >&2
            fail "$PROGRAM could not be built"
        }
        dependencies_are_pinned ||
            fail "Package.swift does not fit etc/dependencies.json any more: copy Package.resolved there, if it is what you want"
    fi
    built=$work/$PROGRAM
    output_of_build=$(link_release "$built" 2>&1) || {
        printf '%s\n' "$output_of_build" | tail -n 60 >&2
        fail "$PROGRAM could not be linked"
    }
    # Both names, as in the package.
    products=$work/products codecs=$work/codecs
    install -d "$products" "$codecs"
    ln -s "$built" "$products/$PROGRAM"
    ln -s "$built" "$products/$DAEMON"
    output_of_build=$(build_codecs "$codecs" 2>&1) || {
        printf '%s\n' "$output_of_build" >&2
        fail "the codec programs could not be built"
    }
}

# The program knows its version, and the changelog must tell of it. With --version, an entry is put before.
write_changelog() {
    local own latest
    own=$("$products/$DAEMON" --version) || fail "$DAEMON does not tell its version"
    own=${own##* }
    latest=$(dpkg-parsechangelog -l etc/debian/changelog -S Version)
    [ "$own" = "$latest" ] ||
        fail "the program's version is $own, but etc/debian/changelog ends with $latest: write what has changed"
    version=${version:-$own}
    dpkg --validate-version "$version" || fail "--version $version is no version of a package"
    {
        if [ "$version" != "$own" ]; then
            printf '%s (%s) unstable; urgency=medium\n\n' "$PACKAGE" "$version"
            printf '  * Rebuild of %s as %s.\n\n' "$own" "$version"
            printf ' -- %s  %s\n\n' "$(sed -n 's/^Maintainer: //p' etc/debian/control)" \
                "$(date --date="@$SOURCE_DATE_EPOCH" --rfc-email)"
        fi
        cat etc/debian/changelog
    } >"$work/debian/changelog"
}

# --- Contents ----------------------------------------------------------------------------------

# Puts into the packages' roots what the table says.
fill() {
    local mode source target file files=() line=0
    while read -r mode source target; do
        line=$((line + 1))
        case $mode in
            '' | '#'*) continue ;;
            package)
                root=$work/debian/$source
                install -d -m 755 "$root/DEBIAN"
                continue
                ;;
            link)
                install -d -m 755 "$(dirname "$root/$target")"
                ln -s "$source" "$root/$target"
                continue
                ;;
        esac
        mapfile -t files < <(sources "$source")
        # A pattern may find nothing yet; a name must be there.
        [ "${#files[@]}" -gt 0 ] || [[ $source = *\** ]] ||
            fail "etc/debian/contents:$line: there is no $source"
        for file in "${files[@]}"; do
            place "$mode" "$file" "$target" || fail "etc/debian/contents:$line: $file could not be put into $target"
        done
    done <etc/debian/contents
}

# Prints the files that are meant by a source of the table, one a line.
sources() {
    local rest=${1#*:}
    case $1 in
        program:*) existing "$products/$rest" ;;
        codec:*) existing "$codecs/$rest" ;;
        dependency:*) existing "$RELEASE/checkouts/$rest" ;;
        completion:*)
            # PROGRAM:SHELL. Nobody runs it as a program of its own, so a first line that tells how is of no use.
            "$products/${rest%:*}" --generate-completion-script "${rest#*:}" | sed '1{/^#!/d}' \
                >"$work/${rest/:/.}" && echo "$work/${rest/:/.}"
            ;;
        changelog) echo "$work/debian/changelog" ;;
        *) compgen -G "$1" | sort ;;
    esac
}

existing() { [ ! -e "$1" ] || echo "$1"; }

# Places one file: under its own name where the target is a folder; compressed where it ends in .gz.
place() { # MODE FILE TARGET
    local target=$3
    [[ $target != */ ]] || target+=${2##*/}
    # Manual pages say by their ending in which section they are.
    if [[ $target = *'manN'* ]]; then target=${target/manN/man${2##*.}}.gz; fi
    target=$root/$target
    install -d -m 755 "$(dirname "$target")"
    case $target in
        *.gz) gzip -9n <"$2" >"$target" && chmod "$1" "$target" ;;
        *) install -m "$1" "$2" "$target" ;;
    esac
}

# --- Control -----------------------------------------------------------------------------------

# The control files of a package. Debian's own tools find out on which packages the programs depend.
control() {
    local script program programs
    mapfile -t programs < <(cd "$work" && compgen -G "debian/$package/usr/bin/*"
        cd "$work" && compgen -G "debian/$package/usr/lib/darkroom/codecs/*")
    for program in "${programs[@]}"; do
        finish "$work/$program" >"$work/log" 2>&1 ||
            { cat "$work/log" >&2; fail "${program##*/} could not be stripped"; }
    done
    (
        cd "$work" && rm -f debian/files debian/substvars &&
            dpkg-shlibdeps --warnings=1 "${programs[@]}" &&
            dpkg-gencontrol -p"$package" -v"$version" -P"debian/$package"
    ) >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "the control file of $package could not be made"; }
    if [ "$package" = $PACKAGE ]; then
        for script in postinst prerm postrm; do
            install -m 755 "etc/debian/$script" "$root/DEBIAN/$script"
        done
        # What lies in /etc is an administrator's to change.
        (cd "$root" && find etc -type f -printf '/%p\n' | sort) >"$root/DEBIAN/conffiles"
        chmod 644 "$root/DEBIAN/conffiles"
    fi
    (cd "$root" && find . -path ./DEBIAN -prune -o -type f -printf '%P\0' | sort -z |
        xargs --null md5sum) >"$root/DEBIAN/md5sums"
    chmod 644 "$root"/DEBIAN/{control,md5sums}
}

# Strips a program, and takes out what tells builds of the same sources apart: hashes that Swift's compiler leaves for
# itself, which no program reads, and the build ID made from all. It becomes the SHA-1 of the program without one. C
# programs are the same in each build.
finish() {
    local hashes=$work/hashes id=$work/build-id
    strip --remove-section=.comment --remove-section=.note "$1" || return
    [[ $(objdump --section-headers "$1") = *" .swift_modhash "* ]] || return 0
    objcopy --dump-section .swift_modhash="$hashes" --dump-section .note.gnu.build-id="$id" "$1" || return
    truncate --size 0 "$hashes.none" && truncate --size "$(stat --format %s "$hashes")" "$hashes.none" || return
    # The note: sixteen bytes that say what it is, then twenty for the ID.
    truncate --size 16 "$id" && truncate --size 36 "$id" || return
    objcopy --update-section .swift_modhash="$hashes.none" --update-section .note.gnu.build-id="$id" "$1" || return
    truncate --size 16 "$id" || return
    # shellcheck disable=SC2059  # The format is the ID, as escapes for its bytes.
    printf "$(sha1sum <"$1" | cut -c 1-40 | sed 's/../\\x&/g')" >>"$id"
    objcopy --update-section .note.gnu.build-id="$id" "$1"
}

# One thread, for the compressed bytes could depend on how many there are. The variable is one of dpkg-deb, which prefers
# an option to it.
pack() {
    local archive
    archive=$output/${package}_${version}_$(dpkg --print-architecture).deb
    find "$root" -print0 | xargs --null touch --no-dereference --date="@$SOURCE_DATE_EPOCH"
    dpkg-deb --root-owner-group --threads-max=1 "-Z${DPKG_DEB_COMPRESSOR_TYPE:-xz}" --build "$root" "$archive" >"$work/log" 2>&1 ||
        { cat "$work/log" >&2; fail "$archive could not be written"; }
    echo "$archive"
}

main "$@"
