#!/usr/bin/env bash
# journal.sh REPOSITORY STAGE
#
# What darkroomd says in the journal of the systemd that runs: queries by each field, the catalog's words, the story
# of a manifest over a crash, a reload, stops of each kind, and many manifests and images at once. See lib.sh.
set -u -o pipefail

readonly repository=$1 stage=$2
# shellcheck source=Tests/systemd/lib.sh
. "$repository/Tests/systemd/lib.sh"

main() {
    read_events
    install_darkroomd
    check "systemctl start returns" systemctl start "$unit"
    [ "$failures" -eq 0 ] || return 1
    tells_a_story
    answers_queries
    explains_itself
    tells_of_pauses
    tells_a_story_over_a_crash
    tells_each_image_for_debugging
    tells_what_a_reload_changes
    tells_stops_apart
    tells_why_it_cannot_start
    sums_up_bursts
    every_record_has_its_fields
    conclude
}

readonly tiny=iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==

# The id of each kind of record: `id batchClaimed`, as the sources have it.
declare -A ids=()
read_events() {
    local name id
    while read -r name id; do ids[$name]=$id; done < <(
        sed -n 's/^ *case \([A-Za-z]*\) = "\([0-9a-f]\{32\}\)"$/\1 \2/p' \
            "$repository/Sources/Core/Log/Event.swift")
    check "the kinds of records are known" test "${#ids[@]}" -gt 50
}

id() { echo "${ids[$1]}"; }

# The kinds of a batch's records, in their order, one a line, without those that come every minute: on a slow machine
# there are some.
kinds_of() { # BATCH
    local name key
    declare -A names=()
    for key in "${!ids[@]}"; do names[${ids[$key]}]=$key; done
    journalctl --sync
    journalctl --output json --output-fields MESSAGE_ID --no-pager --unit "$unit" "DARKROOM_BATCH=$1" |
        sed -n 's/.*"MESSAGE_ID":"\([0-9a-f]*\)".*/\1/p' |
        while IFS= read -r name; do echo "${names[$name]}"; done | grep -vx batchProgressed
}

story_is() { # BATCH KIND...
    local batch=$1 found
    shift
    found=$(kinds_of "$batch" | tr '\n' ' ')
    [ "${found% }" = "$*" ] || { echo "$batch: $found"; messages "DARKROOM_BATCH=$batch"; return 1; }
}

# The messages of the records that match, a line each.
messages() { # MATCH...
    journalctl --sync
    journalctl --output cat --no-pager --unit "$unit" "$@"
}

says() { # TEXT MATCH...
    local text=$1 lines
    shift
    lines=$(messages "$@")
    grep -q --fixed-strings -e "$text" <<<"$lines" || { echo "'$text' is not in: $lines"; return 1; }
}

not() { ! "$@"; }

says_not() { ! says "$@" >/dev/null; }

# --- One manifest ----------------------------------------------------------------------------

tells_a_story() {
    submit holiday.yaml <<'EOF'
images:
  - {name: sepia, source: galaxy.png, filters: [sepia]}
  - {name: absent, source: no-such-picture.png}
  - {name: made, from: absent, filters: []}
  - {name: forbidden, source: "http://ann:secret@127.0.0.1:9/x.png?token=secret"}
EOF
    check "a manifest is processed" eventually batch_is holiday completedWithErrors
    check "its story is in the journal, without what went well" eventually story_begins_and_ends
    check "... who dropped it, and how long it lay there" says "4 images" "MESSAGE_ID=$(id batchClaimed)"
    check "... dropped by a user" says "submitted by user" "MESSAGE_ID=$(id batchClaimed)"
    check "... what failed, and why" says "no-such-picture.png" "MESSAGE_ID=$(id imageFailed)"
    check "... what failed with another, and with which code" \
        says "absent, which has failed (source-missing)" DARKROOM_IMAGE=made
    check "... how it ended, with each code's number" \
        says "1 filtered, 3 failed (" "MESSAGE_ID=$(id batchFinished)"
    check "no secret of a URL is told" says_not secret "DARKROOM_BATCH=holiday"
    journalctl --no-pager --unit "$unit" --output short-precise DARKROOM_BATCH=holiday >/tmp/story
}

story_begins_and_ends() {
    local kinds
    kinds=$(kinds_of holiday)
    [ "$(head -n 2 <<<"$kinds" | tr '\n' ' ')" = "batchClaimed batchBegun " ] &&
        [ "$(tail -n 1 <<<"$kinds")" = batchFinished ] && [ "$(wc -l <<<"$kinds")" -eq 6 ] && return
    echo "$kinds"
    return 1
}

# Each field finds the records that it is in, and only those.
answers_queries() {
    local query
    for query in BATCH=holiday IMAGE=absent STATE=failed STEP=wait ERROR=source-missing \
        FILE=holiday.yaml COUNT=4 FAILED=3 HOST=127.0.0.1:9 ATTEMPT=1; do
        check "a query by DARKROOM_$query finds something" finds "DARKROOM_$query"
    done
    check "the manifest's size is a field" finds \
        "DARKROOM_BYTES=$(stat --format %s "$spool/private/holiday.yaml")"
    check "who dropped it is a field" field_is_a_number DARKROOM_USER batchClaimed
    check "how long it lay in the inbox is a field" field_is_a_number DARKROOM_USEC batchClaimed
    check "how long it took is a field" field_is_a_number DARKROOM_USEC batchFinished
    check "failed images are warnings" priority_is 4 imageFailed
    check "a manifest with failures is one, too" priority_is 4 batchFinished
    check "what is done to each image is not told at this level" nothing_found imageFiltered
}

finds() { [ -n "$(messages "$@")" ] || { echo "nothing has $*"; return 1; }; }

nothing_found() { [ -z "$(messages "MESSAGE_ID=$(id "$1")")" ]; }

field_is_a_number() { # FIELD KIND
    local values
    values=$(journalctl --output json --no-pager --unit "$unit" "MESSAGE_ID=$(id "$2")")
    grep -q "\"$1\":\"[0-9][0-9]*\"" <<<"$values" || { echo "$values"; return 1; }
}

priority_is() { # NUMBER KIND
    every_line_has "\"PRIORITY\":\"$1\"" <(
        journalctl --output json --no-pager --unit "$unit" "MESSAGE_ID=$(id "$2")")
}

explains_itself() {
    local text=/tmp/explained key
    journalctl --sync
    journalctl --catalog --no-pager --unit "$unit" >$text
    check "journalctl -x explains a claim" a_line_has $text "Subject: Manifest taken from the inbox"
    check "... with the record's fields" a_line_has $text "holiday.yaml, with 4 images, is now the batch"
    check "... and says what can be done about a failure" a_line_has $text "holiday.retry"
    check "... and where more is written" a_line_has $text "man:darkroomd(8)"
    check "no reference is left standing" nothing_left_of @DARKROOM_ $text
    for key in "${!ids[@]}"; do
        journalctl --list-catalog "${ids[$key]}" >/dev/null 2>&1 || echo "$key"
    done >/tmp/unexplained
    check "each kind is in the catalog" is_empty_file /tmp/unexplained
}

nothing_left_of() { ! grep --fixed-strings -e "$1" "$2"; }

is_empty_file() { [ ! -s "$1" ] || { cat "$1"; return 1; }; }

# What concerns every manifest in work is in the story of each.
tells_of_pauses() {
    filters_one_at_a_time
    many_images 2000 moon.png sepia | submit pausing.json
    check "a manifest is in work" eventually has_finished_some pausing
    check "it is paused in the middle" systemctl kill --signal USR1 "$unit"
    check "the pause is in its story" eventually finds "MESSAGE_ID=$(id paused)" DARKROOM_BATCH=pausing
    configure
    check "the service is restarted" systemctl restart "$unit"
    check "it waits again" eventually property_begins StatusText "Paused: 1 batch"
    check "it goes on" systemctl kill --signal USR2 "$unit"
    check "the manifest is finished" eventually batch_is pausing completed
    check "its story has the pause, the stop and the start in their order" eventually story_is pausing \
        batchClaimed batchBegun paused stopping batchResumed resumed batchBegun batchFinished
}

# So that a manifest with thousands of images is in the middle for seconds, however many processors there are. Whatever
# starts after the next `configure` has them all again, for the rest.
filters_one_at_a_time() {
    configure "filters: {concurrency: 1}"
    check "systemctl reload" systemctl reload "$unit"
}

# --- Over a crash ----------------------------------------------------------------------------

tells_a_story_over_a_crash() {
    # Many enough that some are left when it is killed.
    filters_one_at_a_time
    many_images 2000 galaxy.png sepia | submit long.json
    check "a long manifest is in work" eventually has_finished_some long
    configure
    check "it is killed in the middle" systemctl kill --signal KILL "$unit"
    check "... and finished by the next process" eventually batch_is long completed
    check "the story goes over the crash" eventually crash_story
    check "... and says how much was left" says "of 2000 images done" "MESSAGE_ID=$(id batchResumed)"
    check "... and that it continues" says "long continues" "MESSAGE_ID=$(id batchBegun)"
}

crash_story() {
    local kinds
    # Those that were being filtered are told of, too; how many is chance.
    kinds=$(kinds_of long | grep -v imageSuspected | tr '\n' ' ')
    [ "$kinds" = "batchClaimed batchBegun batchResumed batchBegun batchFinished " ] && return
    echo "$kinds"
    return 1
}

has_finished_some() { grep -q '"filtered" *: *[1-9]' "$spool/outbox/$1/status.json"; }

many_images() { # COUNT SOURCE FILTER
    local index
    echo "{\"filters\": [\"$3\"], \"images\": ["
    for ((index = 1; index < $1; index++)); do echo "{\"name\": \"i$index\", \"source\": \"$2\"},"; done
    echo "{\"name\": \"i$index\", \"source\": \"$2\"}]}"
}

# --- Configuration and stops -----------------------------------------------------------------

tells_each_image_for_debugging() {
    configure "log: {level: debug}"
    check "systemctl reload" systemctl reload "$unit"
    check "the level has changed" eventually says "log.level: info → debug" "MESSAGE_ID=$(id configured)"
    submit close.json <<<'{"images": [{"name": "near", "source": "moon.png", "filters": ["sepia"]}]}'
    check "a manifest is processed" eventually batch_is close completed
    check "with log.level: debug each image is told of" eventually story_is close \
        batchClaimed batchBegun imageDownloaded imageFiltered batchFinished
    check "... with its fields" a_line_has <(records_of close) '"DARKROOM_IMAGE":"near"' \
        '"DARKROOM_STATE":"filtered"' '"DARKROOM_STEP":"filter"' '"DARKROOM_USEC":"' '"DARKROOM_BYTES":"'
}

tells_what_a_reload_changes() {
    configure "downloads: {proxy: 'http://ann:secret@proxy:3128', perHost: 3}" \
        "sources: {roots: [/srv/pictures, /srv/none]}"
    # One key twice is a mistake.
    check "systemctl reload fails" not systemctl reload "$unit"
    check "a bad file is refused, with its place" eventually \
        says "/etc/darkroom/darkroomd.yaml:" "MESSAGE_ID=$(id reloadRefused)"
    printf '%s\n' "downloads: {proxy: 'http://ann:secret@proxy:3128', perHost: 3}" \
        "sources: {roots: [/srv/pictures, /srv/none]}" >/etc/darkroom/darkroomd.yaml
    check "systemctl reload" systemctl reload "$unit"
    check "a reload tells each key that has changed" eventually \
        says "downloads.perHost: 6 → 3" "MESSAGE_ID=$(id configured)"
    check "... and no password" says_not secret "MESSAGE_ID=$(id configured)"
    check "... and warns of a folder that is not there" eventually \
        finds "MESSAGE_ID=$(id rootMissing)" DARKROOM_FILE=/srv/none
    printf '%s\n' "durability: process" "log: {level: loud}" "batches: {window: 0}" \
        >/etc/darkroom/darkroomd.yaml
    check "systemctl reload fails" not systemctl reload "$unit"
    check "a refusal names every problem" eventually \
        says "darkroomd.yaml:3: batches.window" "MESSAGE_ID=$(id reloadRefused)"
    check "... the other one, too" says "darkroomd.yaml:2: log.level" "MESSAGE_ID=$(id reloadRefused)"
    configure "durability: process"
    check "systemctl reload" systemctl reload "$unit"
    check "what needs a restart is said" eventually \
        says "a change of durability (full → process) requires a restart" \
        "MESSAGE_ID=$(id reloadRefused)"
    check "systemctl restart" systemctl restart "$unit"
}

# A picture that takes long enough for what follows, also on a fast machine.
submit_a_slow_one() { # NAME
    submit "$1.json" <<<'{"images": [{"name": "slow", "source": "galaxy.png",
        "filters": [{"resize": {"width": 12000, "height": 12000, "fit": "fill"}}, {"blur": {"sigma": 200}}]}]}'
    check "a slow picture is being filtered" eventually is_filtering "$1"
}

# Its status would not do: it is seldom written, and may be that of a former process. This one is writing the picture.
is_filtering() {
    [ -n "$(find "/proc/$(property MainPID)/fd" -lname "*/$1/output-0")" ]
}

tells_stops_apart() {
    submit_a_slow_one first
    check "systemctl stop is asked for" systemctl stop --no-block "$unit"
    check "it waits for what runs" eventually says "1 operation finishing" "MESSAGE_ID=$(id stopping)"
    check "a second SIGTERM" systemctl kill --signal TERM "$unit"
    check "it says that it does not wait any more" eventually finds "MESSAGE_ID=$(id stopHurried)"
    check "it stops" eventually property_is ActiveState inactive
    configure "durability: process" "stop: {timeout: 0.2s}"
    check "systemctl start" systemctl start "$unit"
    check "the picture is done again" eventually is_filtering first
    check "systemctl stop" systemctl stop "$unit"
    check "it says that stop.timeout was over" eventually finds "MESSAGE_ID=$(id stopTimedOut)"
    check "it ended well" property_is Result success
    # Nobody waits for that picture.
    systemctl start "$unit"
    setpriv --reuid submitter --regid submitter --groups darkroom touch "$spool/inbox/first.cancel"
    check "a control file's act is in the story" eventually finds "MESSAGE_ID=$(id batchCancelled)" DARKROOM_BATCH=first
    check "the batch is cancelled" eventually batch_is first cancelled
}

tells_why_it_cannot_start() {
    systemctl stop "$unit"
    configure "log: {level: loud}"
    # The journal is late. It must still find out whose record it is.
    systemctl kill --signal STOP systemd-journald
    systemctl start --no-block "$unit"
    sleep 1
    systemctl kill --signal CONT systemd-journald
    check "a start that fails is a record like any other" eventually \
        says "log.level" "MESSAGE_ID=$(id notStarted)" DARKROOM_ERROR=configuration
    # The record comes before the process ends. A start until then would be the one that fails.
    check "the unit has failed" eventually property_is ActiveState failed
    configure "durability: process"
    systemctl reset-failed "$unit"
    check "systemctl start" systemctl start "$unit"
}

# --- Many at once ----------------------------------------------------------------------------

sums_up_bursts() {
    local count=5000 records
    # One pixel.
    base64 -d >/srv/pictures/tiny.png <<<"$tiny"
    # They are all there when it starts.
    systemctl stop "$unit"
    journalctl --sync
    journalctl --quiet --lines 1 --output cat --cursor-file /tmp/cursor >/dev/null
    check "$count manifests are dropped" drop_many "$count"
    many_images 20000 no-such-picture.png sepia | submit failing.json
    check "systemctl start" systemctl start "$unit"
    check "they are all processed" eventually all_finished "$count"
    check "a manifest whose 20000 images fail is, too" eventually batch_is failing completedWithErrors
    # Tells what has been collected to be summed up.
    check "systemctl stop" systemctl stop "$unit"
    journalctl --sync
    records=$(journalctl --output json --output-fields MESSAGE_ID --no-pager "_SYSTEMD_UNIT=$unit" \
        --cursor-file /tmp/cursor | wc -l)
    check "the journal has thrown no record away" nothing_suppressed
    check "each manifest's claim is found by its ID" all_found batchClaimed "$count"
    check "each manifest's end is found by its ID" all_found batchFinished "$count"
    # How many depends on the time, for some are told each second.
    check "it took few records" test "$records" -lt $((count * 3 / 2))
    check "of the failed images of one manifest some are told" test \
        "$(messages "MESSAGE_ID=$(id imageFailed)" DARKROOM_BATCH=failing | wc -l)" -eq 20
    check "... and the rest is summed up by their codes" \
        says "20000 failed (20000 source-missing)" "MESSAGE_ID=$(id batchFinished)" DARKROOM_BATCH=failing
    echo "      $records records of $((count * 3)) events and 20000 failures"
}

drop_many() { # COUNT
    setpriv --reuid submitter --regid submitter --groups darkroom bash -c '
        umask 022
        for ((index = 1; index <= $2; index++)); do
            echo "{\"images\": [{\"name\": \"a\", \"source\": \"tiny.png\", \"filters\": []}]}" >"$1/tmp/m$index.json"
        done
        find "$1/tmp" -name "m*.json" -print0 | xargs -0 mv -t "$1/inbox"' - "$spool" "$1"
}

all_finished() { # COUNT
    local left
    left=$(find "$spool/inbox" "$spool/active" -mindepth 1 -maxdepth 1 -name 'm[0-9]*' | wc -l)
    [ "$left" -eq 0 ] || { echo "$left are left"; return 1; }
}

# systemd's own id for "some records were suppressed".
nothing_suppressed() {
    local found
    found=$(journalctl --output cat --no-pager MESSAGE_ID=a596d6fe7bfa4994828e72309e95d61e)
    [ -z "$found" ] || { echo "$found"; return 1; }
}

all_found() { # KIND COUNT
    local found
    found=$({
        journalctl --output export --no-pager "MESSAGE_ID=$(id "$1")"
        journalctl --output export --no-pager "MESSAGE_ID=$(id summedUp)" "DARKROOM_EVENT=$1"
    } | grep --text '^DARKROOM_BATCH=m[0-9]*$' | sort -u | wc -l)
    [ "$found" -eq "$2" ] || { echo "$found of $2"; return 1; }
}

every_record_has_its_fields() {
    local key records=/tmp/all
    journalctl --output json --no-pager "_SYSTEMD_UNIT=$unit" _EXE=/usr/bin/darkroom >$records
    for key in MESSAGE MESSAGE_ID PRIORITY SYSLOG_IDENTIFIER CODE_FILE CODE_LINE CODE_FUNC; do
        check "every record has $key" every_line_has "\"$key\":" $records
    done
}

main
