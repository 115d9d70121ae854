#!/usr/bin/env bash
# pods.sh REPOSITORY STAGE
#
# Runs shards as the pods of etc/kubernetes/darkroom-job.yaml would, without a cluster: with the arguments of the file,
# the environment that a pod has, and, as root, what its securityContext leaves of privileges. Pods are killed,
# restarted and run twice at once. Then runs shards by GNU parallel as etc/doc/scale.md says. STAGE is as for test.sh,
# and has darkroom-codec-webp.
#
# Prints a line for each check, `ok`, `FAIL` or `skip` with what it is about.
set -u -o pipefail

readonly repository=$1 stage=$2
# shellcheck source=Tests/reporting.sh
. "$repository/Tests/reporting.sh"

readonly pictures=200 file=$repository/etc/kubernetes/darkroom-job.yaml

main() {
    work=$(mktemp -d) || exit 1
    trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$work"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    prepare
    if [ "$failures" -eq 0 ]; then
        a_pod_reads_webp
        a_pod_completes_its_shard
        a_killed_pod_is_restarted
        an_index_runs_twice_at_once
        merge_tells_what_is_missing
        merged_it_is_a_single_run
        errors_are_told_by_exit_code
        parallel_runs_shards
    fi
    conclude
}

prepare() {
    local number
    mkdir -m 755 "$work"/{pictures,shared,bin}
    chmod 755 "$work"
    "$stage/starfield" --width 48 --height 32 --output "$work/pictures/star.png"
    {
        echo "images:"
        for ((number = 0; number < pictures; number++)); do
            echo "  - {name: p$number, source: star.png, filters: [{hueRotate: {angle: $number}}]}"
        done
    } >"$work/pictures/trip.yaml"
    # The built program with its libraries, as an installed one.
    printf '#!/bin/bash\nLD_LIBRARY_PATH=%q exec %q "$@"\n' "$stage/lib" "$stage/darkroom" >"$work/bin/darkroom"
    chmod 755 "$work/bin/darkroom"
    PATH=$work/bin:$PATH
    mapfile -t arguments < <(arguments_of 'run, ')
    mapfile -t merge < <(arguments_of 'merge, ')
    check "the file has the arguments of a pod" [ "${arguments[0]-} ${merge[0]-}" = "run merge" ]
    check "a run of one process has all pictures" \
        darkroom run "$work/pictures/trip.yaml" --output "$work/single" --quiet
    [ "$(id -u)" -ne 0 ] || chown -R 10001:10001 "$work/shared"
}

# arguments_of BEGINNING: those of a pod of the file, one a line, with its volumes here and for four shards.
arguments_of() {
    sed -n "s/.* args: \[\($1[^]]*\)\].*/\1/p" "$file" | sed 's/, */\n/g' |
        sed "s|^/pictures|$work/pictures|; s|^/shared|$work/shared|; s|^auto/16$|auto/4|"
}

# pod INDEX [NAME=VALUE]... [-- ARGUMENT...]: runs what a pod runs, by default with the arguments of the file.
pod() {
    local environment=("JOB_COMPLETION_INDEX=$1") command=("${arguments[@]}")
    shift
    while [ $# -gt 0 ] && [ "$1" != -- ]; do environment+=("$1"); shift; done
    [ $# -eq 0 ] || command=("${@:2}")
    confined env --ignore-environment PATH=/usr/bin:/bin HOME=/ HOSTNAME=darkroom-pod \
        KUBERNETES_SERVICE_HOST=192.0.2.1 KUBERNETES_PORT=tcp://192.0.2.1:443 "${environment[@]}" \
        LD_LIBRARY_PATH="$stage/lib" "$stage/darkroom" "${command[@]}"
}

# As root: with a read-only root and one folder to write to, as another user, without capabilities or a way to them.
# `exec` throughout, so that the process that is started here is the pod's; it does not outlive this script (pdeathsig).
confined() {
    [ "$(id -u)" -eq 0 ] || exec setpriv --pdeathsig KILL "$@"
    # shellcheck disable=SC2016  # $1 is the inner shell's.
    exec unshare --mount --propagation private bash -c '
        mount --bind "$1" "$1" && mount -o remount,bind,ro / || exit 125
        shift
        exec setpriv --reuid 10001 --regid 10001 --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all \
            --pdeathsig KILL "$@"
    ' - "$work/shared" "$@"
}

exits_with() { # STATUS COMMAND [ARGUMENT]...
    local expected=$1 status=0
    shift
    ("$@") || status=$?
    [ "$status" -eq "$expected" ] || { echo "exit status $status, not $expected"; return 1; }
}

# The outputs of a folder, whose names have no spaces.
outputs() { (cd "$1" && printf '%s\n' *.png | grep --invert-match '\*'); }

# --- What is checked -------------------------------------------------------------------------

# In a process that it confines, without privileges.
a_pod_reads_webp() {
    check "a pod without privileges reads WebP" \
        exits_with 0 pod 0 -- run "$repository/Tests/package/pictures/gradient.webp" --output "$work/shared/webp"
    check "... as a picture" test -s "$work/shared/webp/gradient.png"
}

a_pod_completes_its_shard() {
    check "a pod without privileges completes its shard" exits_with 0 pod 0
    check "... and with it some of the pictures" has_some
    check "started again, it does nothing again" does_nothing pod 0
}

has_some() {
    local count
    count=$(outputs "$work/shared/trip" | wc -l)
    ((count > 0 && count < pictures)) || { echo "$count outputs"; return 1; }
}

does_nothing() {
    local before
    before=$(find "$work/shared/trip" -name '*.png' -printf '%f %i %T@\n' | sort)
    exits_with 0 "$@" && [ "$before" = "$(find "$work/shared/trip" -name '*.png' -printf '%f %i %T@\n' | sort)" ]
}

a_killed_pod_is_restarted() {
    check "a pod is killed in the middle" exits_with 137 pod 1 DARKROOM_FAULT=filter-began:10
    check "restarted, it completes its shard" exits_with 0 pod 1
}

# The first pod has a picture that is never done.
an_index_runs_twice_at_once() {
    local slow first started=$SECONDS
    darkroom run "$work/pictures/trip.yaml" --output "$work/third" --shard 3/4 --quiet
    slow=$(outputs "$work/third" | sed -n '1s/\.png$//p')
    pod 2 "DARKROOM_FAULT=decode=$slow:hang" -- "${arguments[@]}" --set stop.timeout=0 >"$work/first" 2>&1 &
    first=$!
    until outputs "$work/third" | grep --invert-match --line-regexp "$slow.png" | all_are_in "$work/shared/trip"; do
        ((SECONDS - started < 600)) || break
        sleep 0.05
    done
    check "a second pod of an index finds the shard in use" exits_with 75 pod 2
    kill -TERM "$first"
    wait "$first"
    check "a pod that is deleted ends with 75" [ $? -eq 75 ]
    check "the next one completes the shard" exits_with 0 pod 2
}

all_are_in() { # FOLDER, names on standard input
    local name
    while read -r name; do [ -e "$1/$name" ] || return; done
}

merge_tells_what_is_missing() {
    check "merge finds a shard missing" exits_with 8 pod 0 -- "${merge[@]}"
    check "the last pod completes its shard" exits_with 0 pod 3
}

merged_it_is_a_single_run() {
    check "merge finds everything" exits_with 0 pod 0 -- "${merge[@]}"
    check "every output is the single run's, byte for byte" same_as "$work/shared/trip"
    check "every digest is right" darkroom verify "$work/shared/trip"
}

same_as() {
    [ "$(outputs "$work/single" | wc -l)" -eq $pictures ] &&
        diff --recursive --exclude .darkroom --exclude status.json --exclude progress.json --exclude manifest.yaml \
            "$work/single" "$1"
}

# The exit codes by which the file decides whether an index is tried again.
errors_are_told_by_exit_code() {
    local at=("$work/pictures/trip.yaml" --output "$work/shared/trip" --quiet)
    check "without an index: wrong usage" exits_with 64 confined env --unset=JOB_COMPLETION_INDEX \
        LD_LIBRARY_PATH="$stage/lib" "$stage/darkroom" run "${at[@]}" --shard auto/4
    check "an index beyond the count: wrong usage" exits_with 64 pod 4
    { cat "$work/pictures/trip.yaml"; echo "  - {name: more, source: star.png}"; } >"$work/pictures/more.yaml"
    check "a manifest of another name is refused" exits_with 65 \
        pod 0 -- run "$work/pictures/more.yaml" "${at[@]:1}" --shard auto/4
    check "a missing manifest" exits_with 66 pod 0 -- run "$work/pictures/none.yaml" "${at[@]:1}" --shard auto/4
    check "a variable of a service named darkroom is refused, so the file has none" \
        exits_with 78 pod 0 DARKROOM_PORT=tcp://192.0.2.1:80
    printf 'images:\n  - {name: absent, source: absent.png}\n' >"$work/pictures/absent.yaml"
    check "a picture with an error" exits_with 3 \
        pod 0 -- run "$work/pictures/absent.yaml" --output "$work/shared/absent" --shard auto/1 --quiet
    check "another count before a merge is refused" exits_with 65 \
        pod 0 -- run "$work/pictures/absent.yaml" --output "$work/shared/absent" --shard auto/5 --quiet
}

# The line of the document, with this machine as the only host: a colon is one without ssh.
parallel_runs_shards() {
    local line
    command -v parallel >/dev/null || { echo "skip  GNU parallel: there is none"; return; }
    line=$(sed -n 's/^parallel --sshloginfile/&/p' "$repository/etc/doc/scale.md")
    check "the document has a line for GNU parallel" test -n "$line"
    echo 2/: >"$work/hosts"
    line=${line//\/srv/$work} line=${line//trip.yaml/pictures/trip.yaml}
    check "GNU parallel completes the shards" in_folder "$work" bash -c "$line"
    check "... and merge finds everything" exits_with 0 darkroom merge "$work/trip"
    check "... the same as a single run" same_as "$work/trip"
}

in_folder() { (cd "$1" && shift && HOME=$work "$@"); }

main
