#!/usr/bin/env bash
# codecs.sh REPOSITORY STAGE
#
# Pictures that are decoded in processes of their own, under the units and as ordinary users run the command: the
# processes start with the first such picture, belong to the unit, and end with it; a kernel without Landlock; a library
# that is not installed. See lib.sh.
set -u -o pipefail

repository=$1 stage=$2
# shellcheck source=Tests/systemd/lib.sh
. "${BASH_SOURCE[0]%/*}/lib.sh"
# The JPEG has a colour profile for inks, which has a program of its own.
readonly programs=/usr/lib/darkroom/codecs kinds=(webp tiff gif bmp avif jxl jpeg)

main() {
    install_darkroomd
    cp "$repository"/Tests/package/pictures/* /srv/pictures/
    chmod 644 /srv/pictures/*
    starts_without_processes
    [ "$failures" -eq 0 ] || return 1
    reads_all_kinds
    belongs_to_the_unit
    names_the_package_of_a_kind
    leaves_no_process
    needs_no_landlock
    outlives_a_killed_process
    serves_ordinary_users
    ends_with_a_killed_run
    ends_after_an_idle_minute
    conclude
}

# The processes of codec programs, with their children: the number of each, a line.
processes() {
    local name process
    for process in /proc/[0-9]*; do
        read -r name <"$process/comm" || continue
        [ ! -e "$programs/$name" ] || echo "${process##*/}"
    done 2>/dev/null
}

no_process_is_left() { [ -z "$(processes)" ] || { processes; return 1; }; }

has_processes() { [ "$(processes | wc -l)" -eq "$1" ] || { processes; return 1; }; }

# submit_kinds NAME [KIND]...: a manifest of one picture of each kind.
submit_kinds() {
    local name=$1 kind
    shift
    {
        echo "images:"
        for kind in "$@"; do echo "  $kind: {source: gradient.$kind, filters: [sepia]}"; done
    } | submit "$name.yaml"
}

has_pictures() { # ID KIND...
    local id=$1 kind
    shift
    for kind in "$@"; do
        [ "$(od -An -tx1 -N8 "$spool/outbox/$id/$kind.png" | tr -d ' \n')" = 89504e470d0a1a0a ] || { echo "$kind"; return 1; }
    done
}

# --- Under the unit ----------------------------------------------------------------------------

starts_without_processes() {
    check "the daemon starts" systemctl start "$unit"
    submit first.json <<<'{"images": ["moon.png"]}'
    check "a PNG is filtered" eventually batch_is first completed
    check "no codec process is there before another kind comes" no_process_is_left
    check "... and the journal has no warning" quiet warnings
}

warnings() { journalctl --sync && journalctl --quiet --no-pager --output cat --priority warning --unit "$unit"; }

reads_all_kinds() {
    submit_kinds all "${kinds[@]}"
    check "each kind is read in the sandbox" eventually batch_is all completed
    check "... and is a picture" has_pictures all "${kinds[@]}"
    # The readers of PNG and JPEG wait only where these are confined, too.
    check "each library has one waiting process" has_processes "$(find $programs -type f ! -name basic | wc -l)"
    check "... and the journal has no warning" quiet warnings
}

belongs_to_the_unit() {
    local process
    for process in $(processes); do
        check "$(cat "/proc/$process/comm") is in the control group of the unit" \
            grep -q "/$unit\$" "/proc/$process/cgroup"
        check "... has the filter of system calls" grep -qx 'Seccomp:[[:space:]]*2' "/proc/$process/status"
        check "... can gain no privileges" grep -qx 'NoNewPrivs:[[:space:]]*1' "/proc/$process/status"
        check "... goes before the daemon when memory is short" grep -qx 500 "/proc/$process/oom_score_adj"
        check "... writes no core" grep -q '^Max core file size *0 *0 ' "/proc/$process/limits"
    done
}

names_the_package_of_a_kind() {
    mv $programs/heif /run/heif
    check "restarts without darkroom-heif" systemctl restart "$unit"
    submit_kinds some webp avif
    check "a kind is not there" eventually batch_is some completedWithErrors
    check "... its error has a code" grep -q '"code" *: *"codec-missing"' "$spool/outbox/some/status.json"
    check "... and names the package" grep -q 'install the package darkroom-heif' "$spool/outbox/some/status.json"
    check "the other kind is read" has_pictures some webp
    mv /run/heif $programs/heif
    setpriv --reuid submitter --regid submitter --groups darkroom touch "$spool/inbox/some.retry"
    check "with the package, a retry reads it without a restart" eventually batch_is some completed
}

leaves_no_process() {
    local restarts
    check "processes wait" has_processes 2
    check "systemctl stop" systemctl stop "$unit"
    check "... leaves none" no_process_is_left
    check "... and ends well" property_is Result success
    check "systemctl start" systemctl start "$unit"
    submit_kinds again webp
    check "a picture is read" eventually batch_is again completed
    restarts=$(property NRestarts)
    check "kill -9 of the daemon alone" systemctl kill --kill-whom main --signal KILL "$unit"
    check "... leaves no process either" eventually no_process_is_left
    check "systemd starts it again" eventually property_is NRestarts $((restarts + 1))
    submit_kinds anew webp
    check "... and it reads" eventually batch_is anew completed
}

# A kernel without Landlock does not know its calls.
needs_no_landlock() {
    drop_in landlock "SystemCallFilter=~landlock_create_ruleset:ENOSYS"
    check "restarts without Landlock" systemctl restart "$unit"
    submit_kinds without "${kinds[@]}"
    check "each kind is read without Landlock" eventually batch_is without completed
    if has_landlock; then
        # Where the kernel has it, the process comes to the call that restricts it, which would kill it here.
        drop_in landlock "SystemCallFilter=~landlock_restrict_self:kill"
        check "restarts with Landlock as a trap" systemctl restart "$unit"
        submit_kinds trapped webp
        check "with Landlock, the process restricts itself" eventually batch_is trapped completedWithErrors
    else
        echo "skip  with Landlock, the process restricts itself: this kernel has no Landlock"
    fi
    drop_out landlock
    check "restarts with Landlock" systemctl restart "$unit"
}

has_landlock() { perl -e 'exit(syscall(444, 0, 0, 1) > 0 ? 0 : 1)'; }

outlives_a_killed_process() {
    local main_pid
    main_pid=$(property MainPID)
    submit_kinds before webp
    check "a picture is read" eventually batch_is before completed
    check "its process is killed" kill -KILL "$(processes)"
    submit_kinds after webp
    check "the next picture is read by another one" eventually batch_is after completed
    check "the daemon is the same" property_is MainPID "$main_pid"
}

# --- Without a unit ----------------------------------------------------------------------------

# An ordinary user, without privileges or a way to them.
as_user() { setpriv --reuid submitter --regid submitter --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all "$@"; }

serves_ordinary_users() {
    local results=/tmp/results
    check "the unit is stopped" systemctl stop "$unit"
    install -d -o submitter $results
    check "darkroom run reads each kind as an ordinary user" \
        as_user darkroom run /srv/pictures/gradient.{webp,tiff,gif,bmp,avif,jxl,jpeg} --output $results/run --quiet
    # shellcheck disable=SC2016  # $1 is the inner shell's.
    check "darkroom filter does, in a pipe" \
        as_user sh -c 'darkroom filter --filter sepia <"$1" >"$2"' - /srv/pictures/gradient.webp $results/filter.png
    check "... with few descriptors" as_user prlimit --nofile=80 darkroom filter /srv/pictures/gradient.tiff -o $results/few.png
    check "... with a kernel without Landlock" filters_without landlock_create_ruleset
    check "... and with one that cannot close all descriptors at once" filters_without close_range
    check "no process is left" eventually no_process_is_left
}

# By an ordinary user, where the kernel does not know a call.
filters_without() { # CALL
    printf '%s\n' "[Service]" Type=oneshot User=submitter NoNewPrivileges=yes "SystemCallFilter=~$1:ENOSYS" \
        "ExecStart=/usr/bin/darkroom filter /srv/pictures/gradient.webp -o /tmp/results/$1.png" \
        >"/run/systemd/system/without-$1.service"
    systemctl daemon-reload
    systemctl start "without-$1.service" && test -s "/tmp/results/$1.png"
}

# Nobody else ends them here: the process ends because the run has gone.
ends_with_a_killed_run() {
    local run
    cp /srv/pictures/{gradient.webp,moon.png} /tmp/results/
    as_user env DARKROOM_FAULT=decode=moon:hang darkroom run /tmp/results/{gradient.webp,moon.png} \
        --output /tmp/results/killed --quiet >/tmp/killed.log 2>&1 &
    run=$!
    check "a run has a codec process" eventually has_processes 1
    kill -KILL $run
    wait $run 2>/dev/null
    check "... which ends when the run is killed" eventually no_process_is_left
}

ends_after_an_idle_minute() {
    local begun
    check "the daemon starts" systemctl start "$unit"
    submit_kinds last webp
    check "a picture is read" eventually batch_is last completed
    begun=$SECONDS
    check "its process waits" has_processes 1
    check "... and ends" eventually no_process_is_left
    check "... after an idle minute" test $((SECONDS - begun)) -ge 50
}

main
