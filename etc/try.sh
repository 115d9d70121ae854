#!/usr/bin/env bash
# Tries Darkroom: bash etc/try.sh
#
# Installs missing Debian packages (with sudo if the user is not root), builds a release, starts darkroomd on a
# temporary spool, submits the sample manifests of etc/samples, shows their progress and results, and stops the daemon.
# The folder with the results stays, and the last line says how to remove it.
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
# shellcheck source=etc/packages.sh
. etc/packages.sh
# shellcheck source=etc/release.sh
. etc/release.sh

readonly SAMPLES=$PWD/etc/samples
# In seconds: the time until the daemon must be ready, and until all samples must be finished.
readonly READY_WITHIN=30 DONE_WITHIN=300
daemon='' spool='' log=''

main() {
    missing_build_packages | install_packages || exit 1
    require_swift || exit 1
    pin_dependencies || exit 1
    build

    spool=$(mktemp -d "${TMPDIR:-/tmp}/darkroom-try.XXXXXX") || exit 1
    log=$spool/darkroomd.log
    trap stop_daemon EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    start_daemon
    drop_samples
    follow
    stop_daemon
    local result=0
    print_results || result=1
    echo
    echo "The spool with all results is $spool"
    echo "To remove it: rm -r $spool"
    exit "$result"
}

build() {
    echo "Building a release (this takes some minutes the first time) ..."
    swift build -c release --product darkroomd --quiet || exit 1
    program=$(swift build -c release --product darkroomd --show-bin-path)/darkroomd
}

# --- The daemon ------------------------------------------------------------------------------

start_daemon() {
    "$program" --spool "$spool" --set "sources.roots=[\"$SAMPLES\"]" \
        --set "cache.folder=$spool/cache" >"$log" 2>&1 &
    daemon=$!
    # There is no service manager that could report readiness, so wait for a folder that only a running daemon creates.
    local started=$SECONDS
    until [ -d "$spool/inbox" ] && [ -d "$spool/tmp" ]; do
        running || fail "darkroomd did not start"
        ((SECONDS - started < READY_WITHIN)) || fail "darkroomd was not ready in $READY_WITHIN s"
        sleep 0.05
    done
    echo "darkroomd runs as process $daemon on $spool"
}

running() { kill -0 "$daemon" 2>/dev/null; }

stop_daemon() {
    [ -n "$daemon" ] || return 0
    kill -s TERM "$daemon" 2>/dev/null
    wait "$daemon" 2>/dev/null
    daemon=''
}

fail() {
    echo "$1; the end of its log:" >&2
    tail -n 20 "$log" >&2
    exit 1
}

# --- The batches -----------------------------------------------------------------------------

# Copies each sample into tmp/ and renames it into inbox/, so that the daemon never reads an incomplete manifest.
drop_samples() {
    local sample name
    batches=()
    for sample in "$SAMPLES"/*.{json,yaml,plist}; do
        [ -e "$sample" ] || continue
        name=${sample##*/}
        cp "$sample" "$spool/tmp/$name"
        mv "$spool/tmp/$name" "$spool/inbox/$name"
        batches+=("${name%.*}")
    done
    [ "${#batches[@]}" -gt 0 ] || fail "there are no samples in $SAMPLES"
}

# Shows the state of each batch until all states are final: on a terminal in place, otherwise after each change.
follow() {
    local started=$SECONDS shown='' lines batch going status
    while :; do
        going=0 lines=''
        for batch in "${batches[@]}"; do
            status=$(status_of "$batch")
            is_final "$(state_in "$status")" || going=1
            lines+=$(progress_line "$batch" "$status")$'\n'
        done
        if [ "$lines" != "$shown" ]; then
            # On a terminal, go back to the first line and replace all.
            [ ! -t 1 ] || [ -z "$shown" ] || printf '\033[%dA\033[J' "${#batches[@]}"
            printf '%s' "$lines"
            shown=$lines
        fi
        [ "$going" -eq 1 ] || return 0
        running || fail "darkroomd ended before the samples were finished"
        ((SECONDS - started < DONE_WITHIN)) || fail "the samples were not finished in $DONE_WITHIN s"
        sleep 0.1
    done
}

progress_line() { # ID STATUS
    local finished
    finished=$(($(count_in "$2" filtered) + $(count_in "$2" failed) + $(count_in "$2" cancelled)))
    printf '  %-12s %-20s %3d of %3d images' \
        "$1" "$(state_in "$2")" "$finished" "$(count_in "$2" total)"
}

is_final() { [[ $1 != waiting && $1 != pending && $1 != processing ]]; }

# Prints the whole file at once, because it is replaced as work proceeds; nothing while the manifest waits.
status_of() { cat "$spool/outbox/$1/status.json" 2>/dev/null; }

# The status file has one key per line. The indentation distinguishes the keys of the batch from those of its images.
state_in() {
    local state
    state=$(sed -n 's/^  "state" *: *"\([A-Za-z]*\)".*/\1/p' <<<"$1")
    echo "${state:-waiting}"
}

count_in() {
    local count
    count=$(sed -n "s/^    \"$2\" *: *\([0-9]*\).*/\1/p" <<<"$1")
    echo "${count:-0}"
}

# Prints a table of the results. Returns 1 unless every batch was completed.
print_results() {
    local batch status state file result=0
    echo
    for batch in "${batches[@]}"; do
        status=$(status_of "$batch")
        state=$(state_in "$status")
        [ "$state" = completed ] || result=1
        printf '%s: %s, %d of %d images filtered\n' "$batch" "$state" \
            "$(count_in "$status" filtered)" "$(count_in "$status" total)"
        echo "  $spool/outbox/$batch"
        for file in "$spool/outbox/$batch"/*.{png,jpg}; do
            [ ! -e "$file" ] || printf '  %9d bytes  %s\n' "$(stat --format %s "$file")" "${file##*/}"
        done
        [ "$state" = completed ] ||
            grep -o '"message" *: *"[^"]*"' <<<"$status" | sed 's/^/  /'
    done
    return "$result"
}

main "$@"
