#!/usr/bin/env bash
# Tests/Codecs/many.sh BIN TOOLS PNG COUNT: sends COUNT small pictures of all formats through a daemon, to be read by codec
# programs and written by them, and compares what the daemon and these programs hold with what they held before.
#
# BIN has the programs darkroomd, darkroom and the codecs; TOOLS has check-NAME for each codec; PNG is a picture.
# Prints a line for each thing that must hold: `ok` or `FAIL`.
set -u -o pipefail

readonly BIN=$1 TOOLS=$2 PNG=$3 COUNT=$4
# shellcheck source=Tests/Codecs/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# A batch has so many pictures, so that the largest one is the same from the beginning to the end.
readonly BATCH=500
# Memory may be in pieces, and libraries keep some, in KiB.
readonly MEMORY=16384

main() {
    trap clean_up EXIT
    make_samples || exit 1
    start_daemon
    mapfile -t written < <("$BIN/darkroom" formats --json | jq -r 'select(.type == "format" and .written) | .format')
    choose
    local number batches=$(((COUNT + BATCH - 1) / BATCH))
    # The first batches start what stays, and fill what grows to a bound.
    for number in first second third; do send "$number"; done
    before=$(held)
    failures=0 pictures=0
    for ((number = 1; number <= batches; number++)); do
        send "$number"
        count "$number"
        "$BIN/darkroom" remove "$number" --wait >/dev/null 2>&1
    done
    # Children end after their last word.
    sleep 2
    judge "$(held)"
    exit "$failed"
}

# A picture of each kind that is read.
choose() {
    local codec
    chosen=("$PNG")
    for codec in "${CODECS[@]}"; do
        if reads "$codec"; then chosen+=("$(sample "$codec")"); else echo "skip $codec: this program does not read it"; fi
    done
}

# Each kind that is read, to each kind that is written, in turn.
send() { # NAME
    local index
    {
        echo "filters: {resize: 24}"
        echo "images:"
        for ((index = 0; index < BATCH; index++)); do
            echo "  - {source: ${chosen[index % ${#chosen[@]}]}, name: n$index," \
                "output: {format: ${written[index / ${#chosen[@]} % ${#written[@]}]}}}"
        done
    } >"$spool/tmp/$1.yaml"
    "$BIN/darkroom" submit "$spool/tmp/$1.yaml" --wait >/dev/null 2>&1
}

count() { # NAME
    local status=$spool/outbox/$1/status.json
    pictures=$((pictures + $(jq .counts.filtered "$status")))
    failures=$((failures + $(jq .counts.failed "$status")))
}

# What the daemon holds: descriptors, children, threads, resident KiB; then the descriptors and children of its programs.
held() {
    local program descriptors=0 children=0
    for program in $(programs); do
        descriptors=$((descriptors + $(count_descriptors "$program")))
        children=$((children + $(pgrep -c -P "$program")))
    done
    echo "$(count_descriptors "$daemon") $(programs | wc -l)" \
        "$(awk '/^Threads/ { print $2 }' "/proc/$daemon/status")" \
        "$(awk '/^VmRSS/ { print $2 }' "/proc/$daemon/status") $descriptors $children"
}

judge() { # HELD
    local first=() now=() rounded=$(((COUNT + BATCH - 1) / BATCH * BATCH))
    read -r -a first <<<"$before"
    read -r -a now <<<"$1"
    holds "the daemon runs" kill -0 "$daemon"
    holds "each of $rounded pictures is filtered" [ "$pictures $failures" = "$rounded 0" ]
    holds "no descriptor is left" [ "${now[0]}" -le $((first[0] + 2)) ]
    holds "each codec program is there once" [ "${now[1]}" -le "${first[1]}" ]
    holds "no thread is left" [ "${now[2]}" -le $((first[2] + 4)) ]
    holds "no memory is left" [ "${now[3]}" -le $((first[3] + MEMORY)) ]
    holds "no descriptor is left in the codec programs" [ "${now[4]}" -le "${first[4]}" ]
    holds "no child of the codec programs is left" [ "${now[5]}" -eq 0 ]
    holds "no process is left that has ended" [ -z "$(zombies)" ]
    # For people.
    echo "# descriptors, codec programs, threads, KiB, their descriptors, their children: $before before, $1 after"
}

main
