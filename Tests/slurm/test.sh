#!/usr/bin/env bash
# test.sh REPOSITORY STAGE
#
# Filters 2,000 pictures by etc/slurm/darkroom.sbatch on the Slurm that runs: tasks are killed, requeued and cancelled,
# a node is drained, a time limit comes near; what comes of it is compared with a run of one process. Runs inside
# boot.sh, as root; jobs are those of an ordinary user. STAGE holds the built programs and, in lib/, the libraries that
# the system does not have.
#
# Prints a line for each check, `ok` or `FAIL` with what it is about.
set -u -o pipefail

readonly repository=$1 stage=$2
# shellcheck source=Tests/reporting.sh
. "$repository/Tests/reporting.sh"

readonly shards=8 pictures=2000
# Where the nodes' users work: a file system that all nodes share.
readonly share=/run/share
readonly script=$repository/etc/slurm/darkroom.sbatch
readonly out=$share/out single=$share/single
# Seconds that `eventually` tries: far above what anything takes on a busy machine.
readonly deadline=600

main() {
    local step
    for step in prepare a_time_limit_comes_near a_task_is_cancelled the_array_runs \
        a_node_is_drained_and_its_task_requeued \
        merge_tells_what_is_missing the_missing_ones_are_submitted_again merged_it_is_a_single_run \
        finished_it_does_nothing_again the_cancelled_task_stays_so the_time_limit_did_no_harm; do
        "$step"
        # What follows would only wait in vain, check by check.
        [ "$failures" -eq 0 ] || break
    done
    conclude
}

# --- Tools -----------------------------------------------------------------------------------

as_user() { setpriv --reuid nobody --regid nogroup --clear-groups env --chdir=$share HOME=$share "$@"; }

# Runs a command again until it succeeds; after the deadline, shows what Slurm says.
eventually() {
    local started=$SECONDS
    until "$@" >/dev/null 2>&1; do
        if ((SECONDS - started >= deadline)); then
            echo "not within $deadline s: $*"
            "$@"
            squeue --array
            sinfo
            return 1
        fi
        sleep 0.1
    done
}

# keep NAME: keeps a value under a name, as `check` runs what it checks in a shell of its own. kept NAME: tells it.
keep() { cat >"/run/kept-$1"; }
kept() { cat "/run/kept-$1"; }

# submit NAME FAULTS OPTION... -- ARGUMENT...: submits the script and keeps the number of the job. FAULTS are for
# $share/darkroom.
submit() {
    local name=$1 faults=$2 options=() output
    shift 2
    while [ "$1" != -- ]; do options+=("$1"); shift; done
    shift
    output=$(as_user FAULTS="$faults" SHARD_PROGRAM=$share/darkroom \
        sbatch --parsable --cpus-per-task=1 --mem=100M --output='log-%A_%a' "${options[@]}" "$script" "$@" 2>&1)
    keep "$name" <<<"$output"
    [[ $output =~ ^[0-9]+$ ]] || { echo "$output"; return 1; }
}

# submit_merge AFTER: submits a merge that waits for the job AFTER.
submit_merge() {
    local output
    output=$(as_user sbatch --parsable --mem=100M --output='log-%j' --dependency="afterany:$1" \
        --wrap "$share/darkroom merge $out" 2>&1)
    keep merge <<<"$output"
    [[ $output =~ ^[0-9]+$ ]] || { echo "$output"; return 1; }
}

# in_state JOB STATE...: whether all tasks that the job still has are in one of these states.
in_state() {
    local id=$1 found
    shift
    found=$(squeue --noheader --array --states all --jobs "$id" --format %T | sort -u)
    [ -n "$found" ] || return 1
    ! grep --invert-match --line-regexp --fixed-strings "$(printf '%s\n' "$@")" <<<"$found"
}

has_ended() { in_state "$1" COMPLETED FAILED CANCELLED TIMEOUT; }

exited_with() { # JOB STATUS
    scontrol show job "$1" | grep --quiet " ExitCode=$2:0$" && return
    scontrol show job "$1"
    cat "$share/log-$1"
    return 1
}

says() { grep --quiet -e "$2" "$1" || { cat "$1"; return 1; }; } # FILE PATTERN

says_nothing_of() { ! says "$@" >/dev/null || { cat "$1"; return 1; }; } # FILE PATTERN

# says_later TASK PATTERN: whether its log does. A requeued task waits two minutes, because the reason for it may
# still be there. A test need not wait.
says_later() {
    says "$share/log-$1" "$2" && return
    # A node refuses a credential of the second in which it ended the former start.
    ! in_state "$1" PENDING || { sleep 2 && scontrol update "JobId=$1" StartTime=now; }
    return 1
}

# --- The pictures ----------------------------------------------------------------------------

prepare() {
    local number names kind
    mkdir -p $share/pictures
    names=$(seq --format 'p%04g' 0 $((pictures - 1)))
    # Eight different pictures, and a different filter for each image: no two outputs are the same.
    for kind in 0 1 2 3 4 5 6 7; do
        "$stage/starfield" --width 48 --height 32 --seed $kind --output $share/$kind.png
        mapfile -t files < <(sed -n "$((kind + 1))~8{s|.*|$share/pictures/&.png|;p}" <<<"$names")
        tee "${files[@]}" <$share/$kind.png >/dev/null
    done
    {
        echo "images:"
        for number in $names; do
            echo "  - {name: $number, source: pictures/$number.png, filters: [{hueRotate: {angle: ${number#p}}}]}" |
                sed 's/angle: 0*\([0-9]\)/angle: \1/'
        done
    } >$share/job.yaml
    { echo "images:"; sed -n '2,41p' $share/job.yaml; } >$share/small.yaml
    wrap
    chown -R nobody:nogroup $share
    check "a run of one process has all pictures" as_user $share/darkroom run job.yaml -o $single --quiet
    check "a run of one shard has some" as_user $share/darkroom run job.yaml -o $share/fifth --shard 5/$shards --quiet
    slow=$(find $share/fifth -name '*.png' -printf '%f\n' | sort | sed -n '1s/\.png$//p')
}

# The program that jobs use: the built one with its libraries. FAULTS has words TASK:FAULT, which go wrong when that
# task begins for the first time: the program is killed in the middle, or a picture is never done.
wrap() {
    cat >$share/darkroom <<END
#!/bin/bash
export LD_LIBRARY_PATH=$stage/lib
if [ "\$1" = run ] && [ "\${SLURM_RESTART_COUNT:-0}" -eq 0 ]; then
    for fault in \${FAULTS:-}; do
        [ "\${fault%%:*}" != "\$SLURM_ARRAY_TASK_ID" ] || export DARKROOM_FAULT=\${fault#*:}
    done
fi
exec $stage/darkroom "\$@"
END
    chmod 755 $share/darkroom
}

# --- What is checked -------------------------------------------------------------------------

# This takes longest, so it begins first. A limit of one minute, and a signal a minute before it: at once, or whenever
# Slurm looks at time limits, which it does every thirty seconds.
a_time_limit_comes_near() {
    check "a job with a time limit is submitted" submit limited 1:decode=p0000:hang --array=1 --time=1 \
        --signal=B:USR1@60 -- small.yaml -o $share/limited --set stop.timeout=0 --quiet
}

has_outputs() { [ -n "$(find "$1" -maxdepth 1 -name '*.png')" ]; }

# Its end is looked at later, too.
a_task_is_cancelled() {
    check "a job is submitted" submit cancelled 1:decode=p0039:hang --array=1 \
        -- small.yaml -o $share/cancelled --set stop.timeout=0 --quiet
    check "it works" eventually has_outputs $share/cancelled
    check "its user cancels it" as_user scancel "$(kept cancelled)"
}

the_array_runs() {
    local array
    check "an array of $shards is submitted" submit array "5:decode=$slow:hang 4:filter-began:40" --hold \
        --array=1-$shards -- job.yaml -o $out --set stop.timeout=0 --quiet
    array=$(kept array)
    check "a merge waits for it" submit_merge "$(kept array)"
    check "two tasks are cancelled before they begin" as_user scancel "${array}_2" "${array}_6"
    check "the others may begin" as_user scontrol release "$array"
    check "the killed task is requeued" eventually says "$share/log-${array}_4" "requeued"
    check "... and has completed its shard then" eventually says_later "${array}_4" "start 2: exit code 0"
    check "all end but the one with a picture that is never done" eventually only_the_fifth_is_left "$array"
    check "the killed task had been killed" says "$share/log-${array}_4" "start 1: exit code 137"
}

only_the_fifth_is_left() {
    [ "$(squeue --noheader --array --states pending,running,completing --jobs "$1" --format '%K %T')" = "5 RUNNING" ]
}

a_node_is_drained_and_its_task_requeued() {
    local task log node other
    task=$(kept array)_5
    log=$share/log-$task
    node=$(squeue --noheader --jobs "$task" --format %N)
    other=$(sinfo --noheader --format %N --Node | grep --invert-match --line-regexp "$node")
    check "its node is drained" scontrol update "NodeName=$node" State=DRAIN Reason=test
    check "it still runs there" in_state "$task" RUNNING
    check "it is requeued" as_user scontrol requeue "$task"
    check "it was asked to stop" eventually says "$log" "$node, start 1: exit code 75"
    check "the rest of it runs on the other node" eventually says_later "$task" "$other, start 2: exit code 0"
    check "it was requeued once" says_nothing_of "$log" "start 3"
}

merge_tells_what_is_missing() {
    local merge
    merge=$(kept merge)
    check "the merge has run" eventually has_ended "$merge"
    check "... after the array, not before" exited_with "$merge" 8
    check "... and tells what is missing" says "$share/log-$merge" "--array=2,6\b"
    missing=$(grep --only-matching --max-count 1 -e '--array=[0-9,-]*' "$share/log-$merge")
    check "there is no status of all yet" test ! -e $out/status.json
}

the_missing_ones_are_submitted_again() {
    local before merge
    before=$(outputs)
    check "what merge says is submitted" submit array "" "${missing:---array=2,6}" -- job.yaml -o $out --quiet
    check "a merge waits for it" submit_merge "$(kept array)"
    merge=$(kept merge)
    check "the merge has run" eventually has_ended "$merge"
    check "... and nothing is missing" exited_with "$merge" 0
    check "only these shards have been filtered" [ "$before" = "$(outputs | head -n "$(wc -l <<<"$before")")" ]
}

# What is in the folder, the oldest first: time, name, inode.
outputs() { find $out -maxdepth 1 -name '*.png' -printf '%T@ %f %i\n' | sort -n; }

merged_it_is_a_single_run() {
    check "every output is the single run's, byte for byte" \
        diff --recursive --exclude .darkroom --exclude status.json --exclude progress.json $single $out
    check "so is the status, but for times and shards" same_status
    check "... with all images in it" [ "$(jq '.counts.filtered' $out/status.json)" = $pictures ]
    check "every digest is right" as_user $share/darkroom verify $out
}

same_status() {
    status_of $single >/run/single.json && status_of $out >/run/out.json || return
    cmp --quiet /run/single.json /run/out.json && return
    diff /run/single.json /run/out.json | head -n 40
    return 1
}

# Without what tells one run from another: times, and which shard it was.
status_of() {
    jq --sort-keys 'del(.times, .written, .shards, .images[].milliseconds, .images[].times, .images[].attempts, .images[].sourceIdentity)' "$1/status.json"
}

finished_it_does_nothing_again() {
    local before
    before=$(outputs)
    check "the whole array is submitted again" submit array "" --array=1-$shards -- job.yaml -o $out --quiet
    check "it ends" eventually has_ended "$(kept array)"
    check "... well" in_state "$(kept array)" COMPLETED
    check "nothing was done again" [ "$before" = "$(outputs)" ]
}

the_cancelled_task_stays_so() {
    local task
    task=$(kept cancelled)_1
    check "the cancelled task was asked to stop" eventually says "$share/log-$task" "start 1: exit code 75"
    check "... and is not requeued" eventually in_state "$task" CANCELLED
    check "... by nobody" says_nothing_of "$share/log-$task" "requeued"
}

the_time_limit_did_no_harm() {
    local limited log
    limited=$(kept limited)
    log=$share/log-${limited}_1
    check "the signal before the time limit ends the run" eventually says "$log" "start 1: exit code 75"
    check "... and the script requeues it" eventually says "$log" "requeued"
    check "it goes on to its end" eventually says_later "${limited}_1" "start 2: exit code 0"
    check "Slurm had not to end it" says_nothing_of "$log" "TIME LIMIT"
    check "each picture of it is the single run's" same_pictures
}

same_pictures() {
    local file
    [ "$(find $share/limited -maxdepth 1 -name '*.png' | wc -l)" -eq 40 ] || { ls $share/limited; return 1; }
    for file in "$share"/limited/*.png; do cmp "$file" "$single/${file##*/}" || return; done
}

main
