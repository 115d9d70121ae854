#!/usr/bin/env bash
# test.sh REPOSITORY STAGE
#
# Installs darkroomd as a package would and tries it under the systemd that runs: readiness, status
# text, pause and resume, reload, the journal's fields, the watchdog, restart and stop. Runs inside
# boot.sh, never on a machine that is in use: it adds a user and a unit. STAGE holds the built
# darkroomd and the shared libraries that the system does not have.
#
# Prints `ok` or `FAIL` with what was checked, a line each, and exits 1 if anything failed.
set -u -o pipefail

readonly repository=$1 stage=$2
readonly spool=/var/spool/darkroom
readonly unit=darkroomd.service
readonly deadline=60
# The kinds of records that are looked for, as Sources/Darkroom/Daemon/EventLog.swift has them.
readonly event=7d6e6b1c0f5d4d0e9a3f2b8c51a0e0
readonly stopped=${event}03 configured=${event}04 refused=${event}05
readonly paused=${event}06 resumed=${event}07
readonly claimed=${event}10 finished=${event}13
readonly filtered=${event}21 failed=${event}22
failures=0

main() {
    install_darkroomd
    starts
    # Without a daemon, the rest would only wait in vain, check by check.
    [ "$failures" -eq 0 ] || return 1
    runs_as_told
    processes_a_manifest
    tells_the_journal
    pauses_and_resumes
    reloads
    satisfies_the_watchdog
    comes_back_after_a_crash
    stops
    [ "$failures" -eq 0 ]
}

# --- Reporting and waiting -------------------------------------------------------------------

# check WHAT COMMAND [ARGUMENT]...: one line, and what the command printed if it failed.
check() {
    local what=$1 output
    shift
    if output=$("$@" 2>&1); then
        echo "ok    $what"
    else
        echo "FAIL  $what"
        [ -z "$output" ] || sed 's/^/      /' <<<"$output"
        failures=$((failures + 1))
    fi
}

# Runs a command again until it succeeds; after the deadline, prints what the daemon said.
eventually() {
    local started=$SECONDS
    until "$@" >/dev/null 2>&1; do
        if ((SECONDS - started >= deadline)); then
            echo "not within $deadline s: $*"
            "$@"
            systemctl status --no-pager --lines=20 "$unit"
            return 1
        fi
        sleep 0.05
    done
}

property() { systemctl show --value --property "$1" "$unit"; }

property_is() {
    local value
    value=$(property "$1")
    [ "$value" = "$2" ] || { echo "$1 is '$value', not '$2'"; return 1; }
}

property_begins() {
    local value
    value=$(property "$1")
    [[ $value = "$2"* ]] || { echo "$1 is '$value', which does not begin with '$2'"; return 1; }
}

batch_is() { # ID STATE
    # Two spaces: the batch's own state, not an image's.
    grep -q "^  \"state\" *: *\"$2\"" "$spool/outbox/$1/status.json" && return
    cat "$spool/outbox/$1/status.json"
    return 1
}

# The records of one batch, one JSON object a line, in their order.
records_of() {
    journalctl --sync
    journalctl --output json --no-pager --unit "$unit" "DARKROOM_BATCH=$1"
}

# Drops a manifest as an administrator's user in the submitters' group does: into tmp/, then renamed.
submit() { # NAME, content on standard input
    setpriv --reuid submitter --regid submitter --groups darkroom \
        bash -c 'umask 022; cat >"$1/tmp/$2" && mv "$1/tmp/$2" "$1/inbox/$2"' - "$spool" "$1"
}

# --- What is checked -------------------------------------------------------------------------

install_darkroomd() {
    install -m 755 "$stage/darkroomd" /usr/sbin/darkroomd
    if compgen -G "$stage/lib/*" >/dev/null; then
        install -m 644 "$stage"/lib/* /usr/local/lib/
        ldconfig
    fi
    install -D -m 644 "$repository/systemd/darkroomd.service" /usr/lib/systemd/system/$unit
    install -D -m 644 "$repository/systemd/darkroomd.sysusers.conf" \
        /usr/lib/sysusers.d/darkroomd.conf
    install -D -m 644 "$repository/systemd/darkroomd.tmpfiles.conf" \
        /usr/lib/tmpfiles.d/darkroomd.conf
    check "systemd-sysusers makes the user" systemd-sysusers darkroomd.conf
    check "systemd-tmpfiles makes the spool" systemd-tmpfiles --create darkroomd.conf
    check "the spool's folders belong to darkroom and have their modes" modes_are \
        750 "" 3770 /tmp 3770 /inbox 700 /active 750 /outbox
    mkdir -p /etc/darkroom /srv/pictures
    cp -r "$repository/etc/samples/pictures/." /srv/pictures/
    configure info
    useradd --no-create-home submitter
    systemctl daemon-reload
    check "the unit is valid" \
        systemd-analyze verify --man=no --recursive-errors=no /usr/lib/systemd/system/$unit
    check "the unit's exposure is 1.1" exposure_is 1.1
}

configure() { # LOG-LEVEL
    cat >/etc/darkroom/darkroomd.yaml <<END
log:
  level: $1
sources:
  roots:
    - /srv/pictures
END
}

modes_are() {
    local wrong=0 found
    while [ $# -gt 0 ]; do
        found=$(stat --format '%a %U:%G' "$spool$2")
        [ "$found" = "$1 darkroom:darkroom" ] || { echo "$spool$2: $found, not $1"; wrong=1; }
        shift 2
    done
    return $wrong
}

exposure_is() {
    local line
    line=$(systemd-analyze security --offline=true /usr/lib/systemd/system/$unit | tail -n 1)
    [[ $line = *" $1 "* ]] || { echo "$line"; return 1; }
}

starts() {
    check "systemctl start returns" systemctl start "$unit"
    check "the service is active" property_is ActiveState active
    check "the service is ready, not only started" property_is SubState running
    check "the status text says that there is nothing to do" \
        eventually property_begins StatusText Idle
    main_pid=$(property MainPID)
}

runs_as_told() {
    check "it runs as the user darkroom" process_says Uid "$(id -u darkroom)"
    check "it has no capabilities" process_says CapEff 0000000000000000
    check "it may not gain privileges" process_says NoNewPrivs 1
    check "it runs under a system call filter" process_says Seccomp 2
    check "it knows the watchdog's interval" \
        grep -qz '^WATCHDOG_USEC=60000000' "/proc/$main_pid/environ"
}

process_says() { # KEY FIRST-VALUE
    local value
    value=$(sed -n "s/^$1:[[:space:]]*\([^[:space:]]*\).*/\1/p" "/proc/$main_pid/status")
    [ "$value" = "$2" ] || { echo "$1 is $value, not $2"; return 1; }
}

processes_a_manifest() {
    submit holiday.yaml <<'END'
images:
  - name: sepia
    source: galaxy.png
    filters: [sepia]
  - name: absent
    source: no-such-picture.png
  - name: outside
    source: ../../etc/os-release
  - name: small
    from: sepia
    filters:
      - resize: {width: 64}
END
    check "a manifest is processed" eventually batch_is holiday completedWithErrors
    check "its outputs are pictures" are_pictures "$spool"/outbox/holiday/{sepia,small}.png
    check "its outputs are for the group to read, and for nobody else" \
        output_is "640 darkroom:darkroom" "$spool/outbox/holiday/sepia.png"
    check "nothing is left in active/" is_empty "$spool/active"
}

are_pictures() {
    local file
    for file in "$@"; do
        [ "$(head -c 8 "$file" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] ||
            { echo "$file is not a PNG"; return 1; }
    done
}

output_is() {
    local found
    found=$(stat --format '%a %U:%G' "$2")
    [ "$found" = "$1" ] || { echo "$2: $found, not $1"; return 1; }
}

is_empty() { [ -z "$(ls -A "$1")" ] || { ls -lA "$1"; return 1; }; }

tells_the_journal() {
    local records=/tmp/records.json
    records_of holiday >$records
    check "one query follows a manifest from claimed" \
        a_line_has <(head -n 1 $records) "\"MESSAGE_ID\":\"$claimed\""
    check "... to finished" a_line_has <(tail -n 1 $records) "\"MESSAGE_ID\":\"$finished\"" \
        '"DARKROOM_STATE":"completedWithErrors"' '"DARKROOM_USEC":"'
    local key
    for key in MESSAGE MESSAGE_ID PRIORITY SYSLOG_IDENTIFIER CODE_FILE CODE_LINE CODE_FUNC; do
        check "every record has $key" every_line_has "\"$key\":" $records
    done
    check "SYSLOG_IDENTIFIER is the daemon's name" \
        every_line_has '"SYSLOG_IDENTIFIER":"darkroomd"' $records
    check "a record tells of the image that was filtered" \
        a_line_has $records "$filtered" '"DARKROOM_IMAGE":"sepia"' \
        '"DARKROOM_STATE":"filtered"' '"DARKROOM_USEC":"' '"DARKROOM_BYTES":"'
    check "a record tells of the image that failed, and why" \
        a_line_has $records "$failed" '"DARKROOM_IMAGE":"absent"' \
        '"DARKROOM_ERROR":"source-missing"' '"DARKROOM_STEP":"'
    check "... and of the one that was outside of sources.roots" \
        a_line_has $records "$failed" '"DARKROOM_IMAGE":"outside"' \
        '"DARKROOM_ERROR":"source-forbidden"'
    check "the daemon's every record has its fields" nothing_else_is_said
}

# What a library says by syslog or on standard error would be a record without a kind.
nothing_else_is_said() {
    every_line_has '"MESSAGE_ID":' <(
        journalctl --output json --no-pager "_SYSTEMD_UNIT=$unit" _EXE=/usr/sbin/darkroomd)
}

every_line_has() { # TEXT FILE
    local lines
    lines=$(cat "$2")
    [ -n "$lines" ] || { echo "no records"; return 1; }
    ! grep --fixed-strings --invert-match --regexp "$1" <<<"$lines"
}

a_line_has() { # FILE TEXT...
    local file=$1 text lines
    shift
    lines=$(cat "$file")
    for text in "$@"; do lines=$(grep --fixed-strings --regexp "$text" <<<"$lines"); done
    [ -n "$lines" ] || { echo "no record has all of: $*"; cat "$file"; return 1; }
}

pauses_and_resumes() {
    check "systemctl kill -s USR1 is accepted" systemctl kill --signal USR1 "$unit"
    check "the status text says Paused" eventually property_begins StatusText "Paused (SIGUSR1)"
    submit later.json <<<'{"images": [{"name": "later", "source": "moon.png"}]}'
    check "the pause is in the journal" eventually journal_has "$paused"
    check "a manifest is taken in meanwhile" eventually batch_is later pending
    check "systemctl restart" systemctl restart "$unit"
    check "it is still paused after the restart" \
        eventually property_begins StatusText "Paused (SIGUSR1)"
    check "the manifest still waits" batch_is later pending
    check "systemctl kill -s USR2 is accepted" systemctl kill --signal USR2 "$unit"
    check "the manifest is processed" eventually batch_is later completed
    check "the resumption is in the journal" eventually journal_has "$resumed"
    check "the status text says Idle" eventually property_begins StatusText Idle
}

reloads() {
    configure debug
    check "systemctl reload" systemctl reload "$unit"
    check "it is active after the reload" eventually property_is SubState running
    check "the reload is in the journal" eventually journal_has "$configured" "read again"
    configure loud
    local before
    before=$(property MainPID)
    check "systemctl reload with a wrong configuration" systemctl reload "$unit"
    check "the refusal is in the journal, with the wrong value" eventually journal_has "$refused" loud
    check "it goes on with the old configuration" property_is MainPID "$before"
    configure info
}

# journal_has MESSAGE_ID [TEXT]: whether this start of the unit has a record of that kind.
journal_has() {
    local messages
    journalctl --sync
    messages=$(journalctl --output cat --no-pager "_SYSTEMD_UNIT=$unit" "MESSAGE_ID=$1")
    [ -n "$messages" ] && grep -q -e "${2:-}" <<<"$messages" && return
    journalctl --no-pager --unit "$unit" --lines 10
    return 1
}

satisfies_the_watchdog() {
    mkdir -p /run/systemd/system/$unit.d
    printf '[Service]\nWatchdogSec=1\n' >/run/systemd/system/$unit.d/watchdog.conf
    systemctl daemon-reload
    check "restarts with a watchdog of one second" systemctl restart "$unit"
    local first
    first=$(property WatchdogTimestampMonotonic)
    check "keeps the watchdog content" eventually watchdog_heard_after "$first"
    check "... without having been restarted by it" property_is NRestarts 0
    rm /run/systemd/system/$unit.d/watchdog.conf
    systemctl daemon-reload
    check "restarts with its own watchdog" systemctl restart "$unit"
}

# Two seconds of pings after the first: the watchdog would have struck by then.
watchdog_heard_after() {
    [ "$(property WatchdogTimestampMonotonic)" -gt $(($1 + 2000000)) ]
}

comes_back_after_a_crash() {
    check "is killed" systemctl kill --signal KILL "$unit"
    check "systemd starts it again" eventually property_is NRestarts 1
    check "... and it is ready" eventually property_is SubState running
}

stops() {
    check "systemctl stop" systemctl stop "$unit"
    check "it is inactive" property_is ActiveState inactive
    check "it ended well" property_is Result success
    check "its exit status is 0" property_is ExecMainStatus 0
    check "it says so in the journal" eventually journal_has "$stopped"
}

main
