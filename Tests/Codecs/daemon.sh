#!/usr/bin/env bash
# Tests/Codecs/daemon.sh BIN TOOLS PNG COUNT: sends COUNT damaged pictures of each codec through a daemon, beside a batch of
# sound ones.
#
# BIN has the programs darkroomd, darkroom and the codecs; TOOLS has mutate, and for each codec check-NAME; PNG is a picture.
# Prints a line for each thing that must hold: `ok` or `FAIL`.
set -u -o pipefail

readonly BIN=$1 TOOLS=$2 PNG=$3 COUNT=$4
readonly CODECS=(webp heif tiff gif bmp jxl)
spool=$(mktemp -d) || exit 1
readonly SAMPLES=$spool/samples
failed=0 daemon=

main() {
    trap clean_up EXIT
    mkdir "$spool/damaged" || exit 1
    local codec
    for codec in "${CODECS[@]}"; do
        mkdir -p "$SAMPLES/$codec"
        "$TOOLS/check-$codec" "$SAMPLES/$codec" || exit 1
        "$TOOLS/mutate" "$COUNT" 1 "$SAMPLES/$codec" "$spool/damaged" || exit 1
    done
    start_daemon
    # The first pictures start what stays: the codec programs, the cache, the pools.
    "$BIN/darkroom" submit "$(sound warm)" --wait >/dev/null 2>&1
    local descriptors mapped
    descriptors=$(count_descriptors)
    mapped=$(wc -l <"/proc/$daemon/maps")
    echo "images:" >"$spool/tmp/damaged.yaml"
    (cd "$spool/damaged" && printf '%s\n' *) | sort -V |
        awk -v folder="$spool/damaged" '{ printf "  - {source: %s/%s, name: n%d}\n", folder, $1, NR }' >>"$spool/tmp/damaged.yaml"
    "$BIN/darkroom" submit "$spool/tmp/damaged.yaml" >/dev/null 2>"$spool/said" || echo "FAIL the damaged pictures are taken: $(cat "$spool/said")"
    "$BIN/darkroom" submit "$(sound sound)" --wait >/dev/null 2>&1
    "$BIN/darkroom" wait damaged >/dev/null 2>&1
    judge "$descriptors" "$mapped"
    exit "$failed"
}

clean_up() {
    [ -z "$daemon" ] || kill -TERM "$daemon" 2>/dev/null
    wait
    rm -rf "$spool"
}

start_daemon() {
    "$BIN/darkroomd" --spool "$spool" --set "sources.roots=[\"$spool\", \"$(dirname "$PNG")\"]" \
        --set "cache.folder=$spool/cache" >"$spool/log" 2>&1 &
    daemon=$!
    export DARKROOM_SPOOL=$spool
    local tries
    for ((tries = 0; tries < 600; tries++)); do
        if [ -d "$spool/inbox" ] && "$BIN/darkroom" status >/dev/null 2>&1; then return; fi
        sleep 0.05
    done
    echo "FAIL the daemon starts"
    exit 1
}

# sound NAME: writes a manifest with a sound picture of each kind, and prints its path.
sound() {
    local codec
    {
        echo "images:"
        echo "  - {source: $PNG, name: png}"
        for codec in "${CODECS[@]}"; do
            if reads "$codec"; then echo "  - {source: $(sample "$codec"), name: $codec}"; fi
        done
    } >"$spool/tmp/$1.yaml"
    echo "$spool/tmp/$1.yaml"
}

# The largest sample.
sample() { find "$SAMPLES/$1" -type f -printf '%s %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2-; }

reads() { "$BIN/darkroom" filter <"$(sample "$1")" >/dev/null 2>&1; }

count_descriptors() { find "/proc/$daemon/fd" -mindepth 1 -maxdepth 1 | wc -l; }

# The processes below the daemon that have ended and that nobody has asked how.
zombies() {
    local stat
    for stat in /proc/[0-9]*/stat; do
        awk -v daemon="$daemon" '$3 == "Z" { print $2, $4 }' "$stat" 2>/dev/null
    done | while read -r name parent; do
        if [ "$parent" = "$daemon" ] || grep -q darkroom-codec "/proc/$parent/comm" 2>/dev/null; then echo "$name"; fi
    done
}

holds() { # WHAT COMMAND [ARGUMENT]...
    local what=$1
    shift
    if "$@"; then
        echo "ok $what"
    else
        echo "FAIL $what"
        failed=1
    fi
}

judge() { # DESCRIPTORS MAPPED, before
    local status=$spool/outbox/damaged/status.json codec all ended
    all=$(find "$spool/damaged" -type f | wc -l)
    holds "the daemon runs" kill -0 "$daemon"
    ended=$(jq '[.images[] | select(.state == "filtered" or .error.code != null)] | length' "$status" 2>/dev/null)
    holds "each of $all damaged pictures ends, with a code if it fails" [ "${ended:-0}" -eq "$all" ]
    holds "no picture fails because of the program itself" [ -z "$(jq -r '.images[].error.code // empty' "$status" | grep -xE 'internal|codec-missing|memory')" ]
    holds "the reader of BMP, which is ours, never crashes" [ -z "$(jq -r '.images[] | select(.error.code == "codec-crashed") | .source' "$status" | grep '\.bmp$')" ]
    # The batch warm has been alone.
    for codec in png "${CODECS[@]}"; do
        [ "$codec" != png ] && ! reads "$codec" || holds "the sound $codec beside them is right" cmp -s "$spool/outbox/"{warm,sound}"/$codec.png"
    done
    for codec in "${CODECS[@]}"; do
        reads "$codec" || echo "skip $codec: this program does not read it"
    done
    # Children that were ended may take a moment.
    sleep 2
    holds "no descriptor is left" [ "$(count_descriptors)" -le $(($1 + 2)) ]
    holds "no mapping is left" [ "$(wc -l <"/proc/$daemon/maps")" -le $(($2 + 60)) ]
    holds "no process is left" [ -z "$(zombies)" ]
    # For people.
    jq -r '.images[] | .error.code // .state' "$status" | sort | uniq -c | sort -rn | sed 's/^/# /'
}

main
