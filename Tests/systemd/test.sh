#!/usr/bin/env bash
# test.sh REPOSITORY STAGE
#
# Installs darkroomd as a package would and tries it under the systemd that runs: readiness, status
# text, pause and resume, reload, the journal's fields, the watchdog, restart and stop. See lib.sh.
set -u -o pipefail

repository=$1 stage=$2
# shellcheck source=Tests/systemd/lib.sh
. "${BASH_SOURCE[0]%/*}/lib.sh"
# The kinds of records that are looked for, as Sources/Core/Log/Event.swift has them.
readonly event=7d6e6b1c0f5d4d0e9a3f2b8c51a0e0
readonly stopped=${event}03 configured=${event}04 refused=${event}05
readonly paused=${event}06 resumed=${event}07
readonly claimed=${event}10 finished=${event}13
readonly failed=${event}22

main() {
    install_darkroomd
    is_installed
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
    conclude
}

# --- What is checked -------------------------------------------------------------------------

is_installed() {
    check "the spool's folders belong to darkroom and have their modes" modes_are \
        750 "" 3770 /tmp 3770 /inbox 700 /active 750 /outbox
    check "the unit is valid" \
        systemd-analyze verify --man=no --recursive-errors=no /usr/lib/systemd/system/$unit
    check "the unit's exposure is 1.1" exposure_is 1.1
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
    # The answer is complete a moment before the rest is cleared away, and that before it is told.
    check "nothing is left in active/" eventually is_empty "$spool/active"
    check "its end is in the journal" eventually journal_has "$finished"
}

output_is() {
    local found
    found=$(stat --format '%a %U:%G' "$2")
    [ "$found" = "$1" ] || { echo "$2: $found, not $1"; return 1; }
}

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
    check "a record tells of the image that failed, and why" \
        a_line_has $records "$failed" '"DARKROOM_IMAGE":"absent"' \
        '"DARKROOM_ERROR":"source-missing"' '"DARKROOM_STEP":"'
    check "... and of the one that was outside of sources.roots" \
        a_line_has $records "$failed" '"DARKROOM_IMAGE":"outside"' \
        '"DARKROOM_ERROR":"source-forbidden"'
    check "the daemon's every record has its fields" nothing_else_is_said
}

fails() { ! "$@"; }

# What a library says by syslog or on standard error would be a record without a kind.
nothing_else_is_said() {
    every_line_has '"MESSAGE_ID":' <(
        journalctl --output json --no-pager "_SYSTEMD_UNIT=$unit" _EXE=/usr/bin/darkroom)
}

pauses_and_resumes() {
    check "systemctl kill -s USR1 is accepted" systemctl kill --signal USR1 "$unit"
    check "the status text says Paused" eventually property_begins StatusText "Paused"
    submit later.json <<<'{"images": [{"name": "later", "source": "moon.png"}]}'
    check "the pause is in the journal" eventually journal_has "$paused"
    check "a manifest is taken in meanwhile" eventually batch_is later pending
    check "systemctl restart" systemctl restart "$unit"
    check "it is still paused after the restart" \
        eventually property_begins StatusText "Paused"
    check "the manifest still waits" batch_is later pending
    check "systemctl kill -s USR2 is accepted" systemctl kill --signal USR2 "$unit"
    check "the manifest is processed" eventually batch_is later completed
    check "the resumption is in the journal" eventually journal_has "$resumed"
    check "the status text says Idle" eventually property_begins StatusText Idle
}

reloads() {
    configure "log: {level: debug}"
    check "systemctl reload" systemctl reload "$unit"
    check "it is active after the reload" eventually property_is SubState running
    check "the reload is in the journal" eventually journal_has "$configured" "reloaded"
    configure "log: {level: loud}"
    local before
    before=$(property MainPID)
    check "systemctl reload fails with a wrong configuration" fails systemctl reload "$unit"
    check "the refusal is in the journal, with the wrong value" eventually journal_has "$refused" loud
    check "it goes on with the old configuration" property_is MainPID "$before"
    configure
}

satisfies_the_watchdog() {
    # Much longer than a daemon is still that only has to wait for a processor.
    drop_in watchdog WatchdogSec=10
    check "restarts with a watchdog of ten seconds" systemctl restart "$unit"
    local first
    first=$(property WatchdogTimestampMonotonic)
    check "keeps the watchdog content" eventually watchdog_heard_after "$first"
    check "... without having been restarted by it" property_is NRestarts 0
    drop_out watchdog
    check "restarts with its own watchdog" systemctl restart "$unit"
}

# A ping more than ten seconds after the first: without those in between, the watchdog would have struck by then.
watchdog_heard_after() {
    [ "$(property WatchdogTimestampMonotonic)" -gt $(($1 + 10000000)) ]
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
