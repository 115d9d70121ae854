#!/usr/bin/env bash
# Tests/Codecs/daemon.sh BIN TOOLS PNG COUNT: sends COUNT damaged pictures of each codec through a daemon, beside a batch of
# sound ones.
#
# BIN has the programs darkroomd, darkroom and the codecs; TOOLS has mutate, and for each codec check-NAME; PNG is a picture.
# MORE_SAMPLES may be a folder with further pictures to damage, in a folder for each codec.
# Prints a line for each thing that must hold: `ok` or `FAIL`.
set -u -o pipefail

readonly BIN=$1 TOOLS=$2 PNG=$3 COUNT=$4
# shellcheck source=Tests/Codecs/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

main() {
    trap clean_up EXIT
    mkdir "$spool/damaged" || exit 1
    make_samples || exit 1
    local codec
    for codec in "${CODECS[@]}"; do
        [ ! -d "${MORE_SAMPLES:-}/$codec" ] || cp "$MORE_SAMPLES/$codec"/* "$SAMPLES/$codec/" || exit 1
        "$TOOLS/mutate" "$COUNT" 1 "$SAMPLES/$codec" "$spool/damaged" || exit 1
    done
    start_daemon
    local descriptors mapped name
    for name in warm alone sound; do sound "$name"; done
    # The first pictures start what stays: the codec programs, the cache, the pools.
    for name in warm alone; do send "$name" --wait; done
    descriptors=$(count_descriptors "$daemon")
    mapped=$(wc -l <"/proc/$daemon/maps")
    echo "images:" >"$spool/tmp/damaged.yaml"
    (cd "$spool/damaged" && printf '%s\n' *) | sort -V |
        awk -v folder="$spool/damaged" '{ printf "  - {source: %s/%s, name: n%d}\n", folder, $1, NR }' >>"$spool/tmp/damaged.yaml"
    send damaged || echo "FAIL the damaged pictures are taken: $(cat "$spool/said")"
    send sound --wait
    "$BIN/darkroom" wait damaged >/dev/null 2>&1
    judge "$descriptors" "$mapped"
    exit "$failed"
}

# send NAME [--wait]
send() { "$BIN/darkroom" submit "$spool/tmp/$1.yaml" "${@:2}" >/dev/null 2>"$spool/said"; }

# sound NAME: writes a manifest with a sound picture of each kind.
sound() {
    local codec
    {
        echo "images:"
        echo "  - {source: $PNG, name: png}"
        for codec in "${CODECS[@]}"; do
            if reads "$codec"; then echo "  - {source: $(sample "$codec"), name: $codec}"; fi
        done
    } >"$spool/tmp/$1.yaml"
}

judge() { # DESCRIPTORS MAPPED, before
    local status=$spool/outbox/damaged/status.json codec all ended
    all=$(find "$spool/damaged" -type f | wc -l)
    holds "the daemon runs" kill -0 "$daemon"
    ended=$(jq '[.images[] | select(.state == "filtered" or .error.code != null)] | length' "$status" 2>/dev/null)
    holds "each of $all damaged pictures ends, with a code if it fails" [ "${ended:-0}" -eq "$all" ]
    holds "no picture fails because of the program itself" [ -z "$(jq -r '.images[].error.code // empty' "$status" | grep -xE 'internal|codec-missing|memory')" ]
    holds "the reader of BMP, which is ours, never crashes" [ -z "$(jq -r '.images[] | select(.error.code == "codec-crashed") | .source' "$status" | grep '\.bmp$')" ]
    # The batches warm and alone have been alone.
    for codec in png "${CODECS[@]}"; do
        [ "$codec" != png ] && ! reads "$codec" || holds "the sound $codec beside them is right" cmp -s "$spool/outbox/"{warm,sound}"/$codec.png"
    done
    for codec in "${CODECS[@]}"; do
        reads "$codec" || echo "skip $codec: this program does not read it"
    done
    # Children that were ended may take a moment.
    sleep 2
    holds "no descriptor is left" [ "$(count_descriptors "$daemon")" -le $(($1 + 2)) ]
    holds "no mapping is left" [ "$(wc -l <"/proc/$daemon/maps")" -le $(($2 + 60)) ]
    holds "no process is left" [ -z "$(zombies)" ]
    # For people.
    echo "# the sound ones: $(seconds sound) s beside the damaged ones, $(seconds alone) s alone; the damaged ones: $(seconds damaged) s"
    jq -r '.images[] | (.source | sub(".*\\."; "")) + " " + (.error.code // .state)' "$status" | sort | uniq -c | sort -k 2,2 -k 1,1rn | sed 's/^/# /'
}

# seconds BATCH: how long it took.
seconds() {
    jq -r '.times.received, .times.finished' "$spool/outbox/$1/status.json" | date --file=- +%s.%N | paste -sd ' ' |
        awk '{ printf "%.1f", $2 - $1 }'
}

main
