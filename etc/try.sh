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
# In seconds: the time until the daemon must be ready.
readonly READY_WITHIN=30
daemon='' spool='' log=''

main() {
    install_packages < <(missing_build_packages) || exit 1
    require_swift || exit 1
    pin_dependencies || exit 1
    build

    spool=$(mktemp -d "${TMPDIR:-/tmp}/darkroom-try.XXXXXX") || exit 1
    log=$spool/darkroomd.log
    trap stop_daemon EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    start_daemon
    local result=0
    submit_samples || result=$?
    show_results
    stop_daemon
    echo
    echo "The spool with all results is $spool"
    echo "To remove it: rm -r $spool"
    exit "$result"
}

build() {
    local product folder name
    echo "Building a release (this takes some minutes the first time) ..."
    for product in darkroomd darkroom; do
        swift build -c release --product "$product" --quiet || exit 1
    done
    folder=$(swift build -c release --product darkroomd --show-bin-path) || exit 1
    # The programs look for them beside themselves.
    while read -r name _; do
        build_codec "$name" "$folder/darkroom-codec-$name" || exit 1
    done < <(codecs)
    PATH=$folder:$PATH
}

# --- The daemon ------------------------------------------------------------------------------

start_daemon() {
    darkroomd --spool "$spool" --set "sources.roots=[\"$SAMPLES\"]" \
        --set "cache.folder=$spool/cache" >"$log" 2>&1 &
    daemon=$!
    export DARKROOM_SPOOL=$spool
    # There is no service manager that could report readiness.
    local started=$SECONDS
    until [ -d "$spool/inbox" ] && darkroom status >/dev/null 2>&1; do
        kill -0 "$daemon" 2>/dev/null || fail "darkroomd did not start"
        ((SECONDS - started < READY_WITHIN)) || fail "darkroomd was not ready in $READY_WITHIN s"
        sleep 0.05
    done
    echo "darkroomd runs as process $daemon on $spool"
}

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

# Returns 0 if every batch is completed.
submit_samples() {
    echo "\$ darkroom submit etc/samples/*.{json,yaml,plist} --watch"
    darkroom submit "$SAMPLES"/*.{json,yaml,plist} --watch
}

show_results() {
    local answer
    echo
    echo "\$ darkroom list --all"
    darkroom list --all
    for answer in "$spool"/outbox/*/; do
        echo
        echo "$answer"
        (
            shopt -s nullglob
            cd "$answer" || exit
            set -- *.png *.jpg
            [ $# -eq 0 ] || stat --format '  %9s bytes  %n' -- "$@"
        )
    done
}

main "$@"
