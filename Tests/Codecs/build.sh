# shellcheck shell=bash
# Builds the programs of Tests/Codecs and Tests/fuzz/codec.c: the sources of a codec with its conversation replaced.

# Who reads this file uses it.
# shellcheck disable=SC2034
readonly CODECS=(webp heif tiff gif bmp jxl icc)

# codec_folder NAME: the folder of its sources.
codec_folder() {
    case $1 in
        webp) echo Sources/CodecWebP ;;
        *) echo "Sources/Codec${1^^}" ;;
    esac
}

codec_libraries() {
    case $1 in
        webp) printf '%s\n' -lwebp -lwebpdemux -lwebpmux -lm ;;
        jxl) printf '%s\n' -ljxl -Wl,--wrap=JxlDecoder{Create,Destroy} -Wl,--wrap=JxlEncoderCreate ;;
        bmp) ;;
        icc) printf '%s\n' -llcms2 -lm ;;
        *) echo "-l$1" ;;
    esac
}

# build_codec_test COMPILER NAME MAIN RESULT [OPTION]...: MAIN is the file with the program's main function.
build_codec_test() {
    local compiler=$1 name=$2 main=$3 result=$4 libraries others status
    local options=(-std=gnu11 -Wall -Wextra -Werror -gline-tables-only -ISources/CCodec/include -ISources/CCodecWire/include -ITests/Codecs)
    shift 4
    mapfile -t libraries < <(codec_libraries "$name")
    "$compiler" "${options[@]}" "$@" \
        -Dmain=codec_program -c -o "$result.main.o" "$(codec_folder "$name")/main.c" || return
    mapfile -t others < <(find "$(codec_folder "$name")" -name '*.c' ! -name main.c)
    "$compiler" "${options[@]}" "$@" -fuse-ld=lld \
        -o "$result" "$result.main.o" "${others[@]}" Sources/CCodec/{planes,search}.c Sources/CCodecWire/quality.c Tests/Codecs/{inside,samples}.c "Tests/Codecs/$name.c" "$main" \
        "${libraries[@]}"
    status=$?
    rm -f "$result.main.o"
    return "$status"
}
