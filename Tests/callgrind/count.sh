#!/usr/bin/env bash
# Counts the instructions of each kernel for a pixel, and holds them against the file `limits`:
#
#     bash Tests/callgrind/count.sh CLANG FOLDER [accept]
#
# CLANG compiles with the package manager's -O2, FOLDER is for what is made. Prints one line for each
# kernel and level, `ok` or `FAIL`: more than a tenth above its limit has failed. With `accept` the
# counts become the new limits.
#
# Counts, unlike times, are the same on a busy machine. They depend on the compiler: after a change of
# toolchain look at what has changed, and accept it.
set -u -o pipefail
here=$(dirname "${BASH_SOURCE[0]}")
source=$here/../../Sources
clang=$1 folder=$2

# No debugging information: Debian 12's valgrind cannot read that of a new clang.
build() {
    "$clang" -std=c11 -O2 -Wall -Wextra -Werror -I"$source/CPixels/include" \
        "$here"/*.c "$source"/CPixels/*.c -fuse-ld=lld -lm -o "$folder/kernels"
}

# counts LEVEL: prints each kernel's name and its instructions for a pixel.
counts() {
    local level=$1 profile status
    rm -f "$folder/$level.profile"*
    valgrind -q --tool=callgrind --callgrind-out-file="$folder/$level.profile" \
        "$folder/kernels" count "$level" >"$folder/$level.log" 2>&1
    status=$?
    [ "$status" -eq 0 ] || return "$status"
    for profile in "$folder/$level.profile".*; do
        # Of each row of 4096 pixels. The last profile is that of the program's end.
        awk '/^desc: Trigger: Client Request: / { name = $NF }
            /^summary: / && name { printf "%s %.2f\n", name, $2 / 4096 }' "$profile"
    done | LC_ALL=C sort
}

mkdir -p "$folder"
build || exit 1
counts scalar >"$folder/scalar" || { cat "$folder/scalar.log" >&2; exit 1; }
counts avx2 >"$folder/avx2"
case $? in
    0) ;;
    3) echo "skip avx2: this processor has not got it"; cp "$folder/scalar" "$folder/avx2" ;;
    *) cat "$folder/avx2.log" >&2; exit 1 ;;
esac
LC_ALL=C join "$folder/scalar" "$folder/avx2" >"$folder/counts"

if [ "${3:-}" = accept ]; then
    { sed '/^[^#]/d' "$here/limits"; awk '{ printf "%-26s %8s %8s\n", $1, $2, $3 }' "$folder/counts"; } >"$folder/limits"
    cp "$folder/limits" "$here/limits"
    exit
fi

awk '
    function compare(name, level, found, limit) {
        if (found > limit * 1.1)
            printf "FAIL %s %s: %.2f instructions a pixel, the limit is %.2f\n", name, level, found, limit
        else
            printf "ok %s %s\n", name, level
    }
    /^#/ { next }
    FNR == NR { scalar[$1] = $2; avx2[$1] = $3; next }
    !($1 in scalar) { printf "FAIL %s: has no limit\n", $1; next }
    { compare($1, "scalar", $2, scalar[$1]); compare($1, "avx2", $3, avx2[$1]); delete scalar[$1] }
    END { for (name in scalar) printf "FAIL %s: has a limit, but is not run\n", name }
' "$here/limits" "$folder/counts" >"$folder/results"
cat "$folder/results"
! grep -q '^FAIL' "$folder/results"
