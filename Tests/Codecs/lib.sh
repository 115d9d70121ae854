# shellcheck shell=bash
# For the tests that send pictures through a daemon: starts it on a spool of its own, and looks at its processes.
#
# Who reads this file has BIN, with the programs darkroomd, darkroom and the codecs; TOOLS, with check-NAME for each codec;
# and PNG, a picture.

# shellcheck disable=SC2034
readonly CODECS=(webp heif tiff gif bmp jxl)
spool=$(mktemp -d) || exit 1
readonly SAMPLES=$spool/samples
failed=0 daemon=

clean_up() {
    [ -z "$daemon" ] || kill -TERM "$daemon" 2>/dev/null
    wait
    rm -rf "$spool"
}

# Samples of each codec, in a folder of its name.
make_samples() {
    local codec
    for codec in "${CODECS[@]}"; do
        mkdir -p "$SAMPLES/$codec"
        "$TOOLS/check-$codec" "$SAMPLES/$codec" || return
    done
}

start_daemon() {
    "$BIN/darkroomd" --spool "$spool" --set "sources.roots=[\"$spool\", \"$(dirname "$PNG")\"]" \
        --set "cache.folder=$spool/cache" >"$spool/log" 2>&1 &
    daemon=$!
    export DARKROOM_SPOOL=$spool
    local tries
    for ((tries = 0; tries < 6000; tries++)); do
        if [ -d "$spool/inbox" ] && "$BIN/darkroom" status >/dev/null 2>&1; then return; fi
        sleep 0.05
    done
    echo "FAIL the daemon starts"
    exit 1
}

# The largest sample that is sound.
sample() { find "$SAMPLES/$1" -type f ! -name '*-damaged-*' ! -name '*-cut-*' -printf '%s %p\n' | sort -n | tail -n 1 | cut -d ' ' -f 2-; }

reads() { "$BIN/darkroom" filter <"$(sample "$1")" >/dev/null 2>&1; }

# count_descriptors PROCESS
count_descriptors() { find "/proc/$1/fd" -mindepth 1 -maxdepth 1 | wc -l; }

# The codec programs that the daemon has started.
programs() { pgrep -P "$daemon" -f darkroom-codec; }

# The processes below the daemon that have ended and that nobody has asked how. Other tests may have daemons of their own.
zombies() {
    local stat parents
    parents=" $daemon $(programs | tr '\n' ' ')"
    for stat in /proc/[0-9]*/stat; do
        awk '$3 == "Z" { print $2, $4 }' "$stat" 2>/dev/null
    done | while read -r name parent; do
        if [[ $parents == *" $parent "* ]]; then echo "$name"; fi
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
