# shellcheck shell=bash
# How a release is built, wherever one is: by etc/package.sh, and by Tests/run.sh, which compiles it once for the tests
# and the packages, so that what is tested is what is packaged. Sourced in the repository's top folder; does nothing by
# itself.

# A folder of its own, for the package manager builds one thing at a time in each.
readonly RELEASE=.build-release

# What is compiled for the tests as well, which see what is internal. The linker would keep that; it drops what nobody
# uses, since each function has a section of its own, which spares a megabyte. Nothing of the result may depend on where
# it was built, so paths are mapped. The package manager's own linker takes three times as long for the tests.
readonly RELEASE_OPTIONS=(
    --configuration release --scratch-path "$RELEASE" -debug-info-format none
    -Xswiftc -enable-testing -Xswiftc -Xfrontend -Xswiftc -function-sections
    -Xswiftc -file-prefix-map -Xswiftc "$PWD=." -Xcc "-ffile-prefix-map=$PWD=." -Xswiftc -use-ld=lld
)

# Swift's libraries are linked in, for Debian has no package of them; all others stay shared. The linker leaves out the
# symbols of the object files. Relocations are packed, which spares 2 MB (Debian 12 has the first C library that reads
# them), and no symbol is exported, which spares as much: nobody loads the program as a library.
readonly LINK_OPTIONS=(
    -static-stdlib -use-ld=lld -Xlinker --gc-sections -Xlinker -z -Xlinker pack-relative-relocs
    -Xlinker --no-export-dynamic -Xlinker --strip-all -Xlinker --build-id=sha1
    -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now
)

# Compiles what a program is made of. The package manager links it, too, with Swift's libraries shared.
build_release() { # PRODUCT
    swift build "${RELEASE_OPTIONS[@]}" --product "$1"
}

# Links the program into FILE, as it is packaged, from what has been compiled.
link_release() { # FILE
    local libraries
    read -r -a libraries < <(pkg-config --libs libsystemd libcrypto) || return
    # The last libraries are those of Foundation that the objects, which were compiled for shared ones, do not name.
    "$(dirname "$(command -v swift)")/swiftc" -emit-executable -module-name darkroom "${LINK_OPTIONS[@]}" \
        -Xlinker --defsym -Xlinker main=darkroom_main "@$RELEASE/release/darkroom.product/Objects.LinkFileList" \
        "${libraries[@]}" -lpng16 -lz -ljpeg -ldeflate \
        -lCoreFoundation -l_FoundationCShims -l_FoundationCollections -l_FoundationICU -o "$1"
}

# --- The codec programs ------------------------------------------------------------------------

# They are C and link their library, libseccomp and the C library. The package manager would link Swift's runtime and
# that of C++, and a handler of crashes that a confined child may not run. So a release compiles them from the same
# sources by these options, and Package.swift stays the only table of them.
CODEC_OPTIONS=(
    -std=gnu11 -O2 -Wall -Wextra -Werror "-ffile-prefix-map=$PWD=."
    -fPIE -fstack-protector-strong -fstack-clash-protection -D_FORTIFY_SOURCE=2
    -ISources/CCodec/include -ISources/CCodecWire/include
)
# Jumps to elsewhere than the beginning of a function end the process, where the processor can do that.
case $(uname -m) in
    x86_64) CODEC_OPTIONS+=(-fcf-protection) ;;
    aarch64) CODEC_OPTIONS+=(-mbranch-protection=standard) ;;
esac
readonly CODEC_OPTIONS CODEC_LINK_OPTIONS=(
    -pie -fuse-ld=lld -Wl,-z,relro,-z,now,-z,noexecstack,--as-needed,--strip-all,--build-id=sha1
)

# Prints a line for each: its name, the end of its folder's name, its libraries.
codecs() {
    # The readers of PNG and JPEG, with what they need of the daemon's C parts.
    echo "basic Basic png16 z jpeg deflate m"
    sed -n 's/^ *codec("\([a-z]*\)", "\([A-Za-z]*\)", \[\(.*\)\]),$/\1 \2 \3/p' Package.swift | tr -d '",'
}

# Compiles one into FILE.
build_codec() { # NAME FILE
    local row libraries part sources=() common=()
    read -r -a row < <(codecs | grep "^$1 ") || { echo "Package.swift has no codec $1" >&2; return 1; }
    libraries=(seccomp "${row[@]:2}")
    if [ "$1" = basic ]; then
        for part in CShims CPixels CDeflate CJpeg; do sources+=(-I"Sources/$part/include" "Sources/$part"/*.c); done
    fi
    compile_common_parts || return
    clang_of_swift "${CODEC_OPTIONS[@]}" "${CODEC_LINK_OPTIONS[@]}" "${common[@]}" \
        "Sources/Codec${row[1]}"/*.c "${sources[@]}" "${libraries[@]/#/-l}" -o "$2"
}

# Compiles what all of them have in common, once, and adds the object files to `common`.
compile_common_parts() {
    local source object
    mkdir -p "$RELEASE/codecs/common"
    for source in Sources/CCodec/*.c Sources/CCodecWire/*.c; do
        object=$RELEASE/codecs/common/$(basename "$source" .c).o
        is_up_to_date "$object" || clang_of_swift "${CODEC_OPTIONS[@]}" -c "$source" -o "$object" || return
        common+=("$object")
    done
}

# Puts all into FOLDER, each under its name. They are compiled anew if a source is newer.
build_codecs() { # FOLDER
    local name kept=$RELEASE/codecs
    mkdir -p "$kept"
    while read -r name _; do
        is_up_to_date "$kept/$name" || build_codec "$name" "$kept/$name" || return
        cp "$kept/$name" "$1/$name" || return
    done < <(codecs)
}

is_up_to_date() { # FILE
    [ -e "$1" ] &&
        [ -z "$(find Sources/C[A-Z]* Sources/Codec* Package.swift etc/release.sh -newer "$1" -print -quit)" ]
}

# The toolchain's own, for it need not be the one in PATH.
clang_of_swift() {
    local clang
    clang=$(dirname "$(command -v swift)")/clang
    [ -x "$clang" ] || clang=clang
    "$clang" "$@"
}

# --- Dependencies ------------------------------------------------------------------------------

# Makes the package manager take the versions of the dependencies that are written down in etc/dependencies.json,
# not the newest: the same commit would give another program tomorrow. After `swift package update`, copy its
# Package.resolved there.
pin_dependencies() {
    dependencies_are_pinned || cp etc/dependencies.json Package.resolved
}

# The hash of the package's manifest, which the package manager keeps up to date, is not of interest.
dependencies_are_pinned() {
    [ -e Package.resolved ] &&
        [ "$(grep -v '"originHash"' Package.resolved)" = "$(grep -v '"originHash"' etc/dependencies.json)" ]
}
