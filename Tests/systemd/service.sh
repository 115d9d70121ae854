#!/usr/bin/env bash
# service.sh REPOSITORY STAGE
#
# The units under the systemd that runs: the daemon does its whole job inside the sandbox, and what the sandbox takes
# away is gone; further spools; readiness, reload, watchdog, stop in the middle of the work, exit codes. See lib.sh.
set -u -o pipefail

repository=$1 stage=$2
# shellcheck source=Tests/systemd/lib.sh
. "${BASH_SOURCE[0]%/*}/lib.sh"
# The kinds of records that are looked for, as Sources/Core/Log/Event.swift has them.
readonly event=7d6e6b1c0f5d4d0e9a3f2b8c51a0e0
readonly watching=${event}08 refused=${event}44 suspected=${event}50 stuck=${event}51 not_started=${event}0e
# Images of a batch that is stopped or killed in the middle.
readonly configured=${event}04
readonly many=500
readonly origin=/srv/origin metrics=/var/lib/prometheus/node-exporter

main() {
    install_darkroomd
    units_are_right
    serve_pictures
    starts_ready
    [ "$failures" -eq 0 ] || return 1
    does_its_whole_job
    knows_its_submitters
    is_confined
    names_what_it_does_not_see
    takes_from_a_hot_folder
    has_its_limits
    sees_its_limits_among_many_mounts
    serves_further_spools
    reloads_whole_or_not_at_all
    stops_in_the_middle
    asks_for_time_to_stop
    is_killed_in_the_middle
    outlasts_long_work
    is_restarted_when_a_worker_hangs
    is_restarted_when_it_does_not_turn
    tells_why_it_ended
    conclude
}

# --- The units ---------------------------------------------------------------------------------

units_are_right() {
    local name
    for name in darkroomd.service darkroomd@prints.service; do
        check "$name is valid" systemd-analyze verify --man=no --recursive-errors=no "$name"
    done
    for name in darkroomd.service darkroomd@.service; do
        check "the exposure of $name is at most 1.1" is_little_exposed "$name"
    done
    check "the template is the service but for its names" templates_agree
}

is_little_exposed() {
    local output
    output=$(systemd-analyze security --offline=true --threshold=11 "$repository/systemd/$1" 2>&1) && return
    tail -n 1 <<<"$output"
    return 1
}

# All settings but those that name the spool, the configuration, or the instance.
templates_agree() {
    diff <(settings_of darkroomd.service) <(settings_of darkroomd@.service)
}

settings_of() {
    grep -v -e '^#' -e '^$' -e '^ExecStartPre=' -e '^AssertPathExists=' "$repository/systemd/$1" |
        sed -e 's/ --spool [^ ]*//' -e 's/-%i//g' -e 's,\([= ]\)-/,\1/,' -e 's/ %i$//' -e 's/%i\.yaml/darkroomd.yaml/'
}

# --- Readiness ---------------------------------------------------------------------------------

starts_ready() {
    check "systemctl start returns" systemctl start "$unit"
    check "the inbox is watched then" watches_the_inbox
    # Nothing is waited for in between.
    submit first.json <<<'{"images": [{"name": "first", "source": "moon.png"}]}'
    check "a manifest dropped right after the start is processed" eventually batch_is first completed
    check "the watch is in the journal" eventually journal_has "$watching"
}

watches_the_inbox() { grep -q '^inotify ' "/proc/$(property MainPID)"/fdinfo/*; }

# --- The whole job -----------------------------------------------------------------------------

# An nginx on loopback, with and without TLS, whose certificate is signed by nobody the system knows.
serve_pictures() {
    mkdir -p $origin /tmp/nginx $metrics
    cp "$repository"/etc/samples/pictures/*.png $origin/
    chown darkroom: $metrics
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost,IP:127.0.0.1 -keyout /tmp/nginx/key.pem \
        -out /etc/darkroom/ca.pem 2>/tmp/nginx/openssl.log
    chmod 644 /etc/darkroom/ca.pem
    cat >/tmp/nginx/nginx.conf <<END
user root;
pid /tmp/nginx/pid;
error_log /tmp/nginx/error.log;
events {}
http {
    access_log /tmp/nginx/access.log;
    client_body_temp_path /tmp/nginx/body;
    proxy_temp_path /tmp/nginx/proxy;
    fastcgi_temp_path /tmp/nginx/fastcgi;
    uwsgi_temp_path /tmp/nginx/uwsgi;
    scgi_temp_path /tmp/nginx/scgi;
    server {
        listen 127.0.0.1:8080;
        listen 127.0.0.1:8443 ssl;
        ssl_certificate /etc/darkroom/ca.pem;
        ssl_certificate_key /tmp/nginx/key.pem;
        root $origin;
        location / { add_header Cache-Control "public, max-age=600"; }
        location /slow/ { alias $origin/; limit_rate 4k; }
        location /private/ {
            if (\$http_authorization != "Bearer sesame") { return 403; }
            alias $origin/;
        }
    }
}
END
    check "nginx serves pictures" nginx -c /tmp/nginx/nginx.conf -e /tmp/nginx/error.log
    printf '%s\n' 'http://127.0.0.1:8080: {Authorization: Bearer sesame}' >/etc/darkroom/headers.yaml
    chmod 600 /etc/darkroom/headers.yaml
    configure_fully
    drop_in job LoadCredential=headers:/etc/darkroom/headers.yaml "BindPaths=$metrics"
}

configure_fully() { # [LINE]...
    configure "downloads: {allowNetworks: [127.0.0.0/8], caFile: /etc/darkroom/ca.pem}" \
        "metrics: {textfile: $metrics/darkroom.prom, interval: 1s}" "$@"
}

does_its_whole_job() {
    submit job.yaml <<'END'
images:
  local: {source: moon.png, filters: [sepia]}
  http: {source: "http://127.0.0.1:8080/comet.png", filters: [mono]}
  https: {source: "https://127.0.0.1:8443/galaxy.png", filters: [{blur: {sigma: 2}}]}
  private: {source: "http://127.0.0.1:8080/private/nebula.png", filters: []}
  jpeg: {source: cluster.png, filters: [], output: {format: jpeg, quality: 90}}
  small: {from: jpeg, filters: [{resize: {width: 64}}]}
END
    check "local, HTTP, HTTPS, a credential's header, PNG and JPEG work in the sandbox" \
        eventually batch_is job completed
    check "the JPEG is one" begins_with ffd8ff "$spool/outbox/job/jpeg.jpg"
    check "what was made of it is a picture" are_pictures "$spool"/outbox/job/{small,private}.png
    submit again.yaml <<'END'
images: {http: {source: "http://127.0.0.1:8080/comet.png", filters: [invert]}}
END
    check "what was fetched is fetched again" eventually batch_is again completed
    check "... from the cache" grep -q '"cache" *: *"hit"' "$spool/outbox/again/status.json"
    check "the metrics are written" eventually grep -q '^darkroom_up{.*} 1$' "$metrics/darkroom.prom"
    check "... for another user to read" test "$(stat --format %a "$metrics/darkroom.prom")" = 644
    sandboxed_self_test
    # Finished entries are looked at two seconds after the start.
    configure_fully "retention: {age: 1s}"
    check "restarts with a retention of a second" systemctl restart "$unit"
    check "... which removes what is finished" eventually is_gone "$spool/outbox/job"
    configure_fully
    check "reloads without it" systemctl reload "$unit"
    check "nobody else than the daemon had to be started" property_is NRestarts 0
}

begins_with() { # HEX FILE
    [[ $(od -An -tx1 -N8 "$2" | tr -d ' \n') = "$1"* ]]
}

is_gone() { [ ! -e "$1" ]; }

# The self-test kills daemons of its own, which it starts from the sandbox.
sandboxed_self_test() {
    drop_in self-test "TimeoutStartSec=300" RootDirectoryStartOnly=no \
        "ExecStartPre=/usr/sbin/darkroomd --self-test $spool --kills 2"
    check "the self-test finds nothing wrong in the sandbox" systemctl restart "$unit"
    drop_out self-test
}

# Whose manifest it is, and whose control file, the daemon has to see from inside the sandbox.
knows_its_submitters() {
    useradd --no-create-home other
    check "is paused, to have a manifest wait" systemctl kill --signal USR1 "$unit"
    check "... which it says" eventually property_begins StatusText "Paused"
    submit mine.json <<<'{"images": ["moon.png"]}'
    check "the manifest waits" eventually batch_is mine pending
    check "its status has its owner" grep -q "\"uid\" *: *$(id -u submitter)\b" "$spool/outbox/mine/status.json"
    give other mine.cancel
    check "another user's control file is refused" eventually journal_has "$refused" \
        "belongs to user $(id -u other), but the manifest belongs to user $(id -u submitter)"
    check "... and does nothing" batch_is mine pending
    give submitter mine.hold
    check "one of its owner acts" eventually batch_is mine held
    give submitter mine.release
    check "... and the next one" eventually batch_is mine pending
    check "resumes" systemctl kill --signal USR2 "$unit"
    check "the manifest is done" eventually batch_is mine completed
}

give() { # USER FILE
    # shellcheck disable=SC2016  # $1 is the inner shell's.
    setpriv --reuid "$1" --regid "$1" --groups darkroom bash -c ': >"$1"' - "$spool/inbox/$2"
}

# --- The sandbox -------------------------------------------------------------------------------

is_confined() {
    install -m 755 "$repository/Tests/systemd/probe.sh" /usr/local/sbin/probe
    useradd --create-home alice
    touch /tmp/outside
    drop_in probe RootDirectoryStartOnly=no "ExecStartPre=/usr/local/sbin/probe $spool/tmp/findings"
    check "restarts with a probe before the daemon" systemctl restart "$unit"
    drop_out probe
    local findings=$spool/tmp/findings name
    while read -r name; do may "$name" yes; done <<'END'
write-spool a file in the spool can be written
write-cache a file in the cache can be written
family-unix AF_UNIX can be used
family-inet AF_INET can be used
family-inet6 AF_INET6 can be used
own-mode the mode of an own file can be changed
device-null /dev/null is there
map-readable memory can be mapped
END
    while read -r name; do may "$name" no; done <<'END'
write-/ nothing can be written into /
write-/etc ... /etc
write-/etc/darkroom ... /etc/darkroom
write-/usr/bin ... /usr/bin
write-/var/lib ... /var/lib
write-/srv/pictures ... a source root
write-/run ... /run
write-/sys ... /sys
write-/dev ... /dev
write-/dev/shm ... /dev/shm
write-/dev/mqueue ... /dev/mqueue
see-home home folders are not seen
see-root root's folder is not seen
see-tmp other programs' temporary files are not seen
see-var other services' data is not seen
see-run other services' sockets are not seen
family-netlink AF_NETLINK is refused
family-packet AF_PACKET is refused
family-alg AF_ALG is refused
family-vsock AF_VSOCK is refused
namespace-user no user namespace can be made
namespace-mount no mount namespace can be made
namespace-net no network namespace can be made
map-code no memory can be written and run
map-made-code written memory cannot be made to run
setuid no file can be made setuid
setgid no file can be made setgid
chgrp no file can be given to others
run-from-spool no program runs from the spool
run-from-tmp no program runs from /tmp
see-process-1 /proc shows no other processes
see-memory-of-machine /proc shows nothing of the machine
see-tunables /proc shows no kernel settings
device-kmsg there is no /dev/kmsg
device-mem there is no /dev/mem
device-tty the console cannot be written
mknod no device can be made
mount nothing can be mounted
hostname the machine's name cannot be changed
clock the clock cannot be set
realtime there is no realtime scheduling
personality the personality cannot be changed
signal-others other processes get no signals
END
}

may() { # "NAME WHAT" VERDICT
    local name=${1%% *} what=${1#* }
    if ! grep -q "^$name " "$findings" && [ "$(uname -m)" != x86_64 ]; then
        echo "skip  $what: the probe has no way to try it on $(uname -m)"
    else
        check "$what" found "$name" "$2"
    fi
}

found() { # NAME VERDICT
    local line
    line=$(grep "^$1 " "$findings") || { echo "the probe did not try $1"; return 1; }
    [ "$line" = "$1 $2" ] || { echo "$line"; return 1; }
}

# --- What the sandbox hides --------------------------------------------------------------------

# A folder that is there, and that the service does not see: the message has the lines that open it.
names_what_it_does_not_see() {
    local pictures=/home/alice/pictures elsewhere=/data/spool lines
    install -D -m 644 /srv/pictures/moon.png $pictures/moon.png
    chmod 755 /home/alice
    printf '%s\n' "sources: {roots: [$pictures]}" >/etc/darkroom/darkroomd.yaml
    check "--check-config warns of a source root in a home" says "BindReadOnlyPaths=$pictures" \
        darkroomd --check-config
    check "restarts with such a source root" systemctl restart "$unit"
    submit hidden.json <<<"{\"images\": [{\"name\": \"a\", \"source\": \"$pictures/moon.png\"}]}"
    check "its picture is missing" eventually batch_is hidden completedWithErrors
    lines=$(sed -n 's/.*: add \(.*\) to a drop-in (systemctl edit darkroomd).*/\1/p' "$spool/outbox/hidden/status.json" | head -n 1)
    check "the message names the lines" test "$lines" = "ProtectHome=read-only and BindReadOnlyPaths=$pictures"
    check "... with the code of before" grep -q '"code" *: *"source-missing"' "$spool/outbox/hidden/status.json"
    drop_in home "${lines%% and *}" "${lines##* and }"
    check "restarts with these lines" systemctl restart "$unit"
    give submitter hidden.retry
    check "the picture is done" eventually batch_is hidden completed
    check "no other home is seen" nothing_in_root /home/submitter /home/other
    check "--check-config has nothing to warn of then" says_not warning darkroomd --check-config
    drop_out home

    printf '%s\n' "spool: $elsewhere" >/etc/darkroom/darkroomd.yaml
    install -d -o darkroom -g darkroom -m 750 $elsewhere
    check "--check-config warns of a spool elsewhere" says "BindPaths=$elsewhere" darkroomd --check-config
    check "the service does not start on it" fails systemctl restart "$unit"
    check "the journal names the line" eventually journal_has "$not_started" "BindPaths=$elsewhere"
    drop_in elsewhere "BindPaths=$elsewhere"
    check "it starts with that line" systemctl restart "$unit"
    check "... there" test -d $elsewhere/active
    drop_out elsewhere
    configure_fully
    check "restarts on its own spool" systemctl restart "$unit"
}

# A hot folder that the service does not see: with the drop-in that --check-config prints, it takes its pictures.
takes_from_a_hot_folder() {
    local scans=/data/scans lines
    install -d -o darkroom -g darkroom -m 755 $scans
    mkdir -p /etc/darkroom/recipes
    echo 'filters: {resize: 20}' >/etc/darkroom/recipes/tiny.yaml
    printf '%s\n' "folders: [{path: $scans, recipe: tiny, originals: move}]" >/etc/darkroom/darkroomd.yaml
    check "restarts with a hot folder" systemctl restart "$unit"
    check "... that it does not see" eventually folder_is missing
    lines=$(darkroomd --check-config 2>&1 >/dev/null | sed -n 's/^darkroomd:     //p')
    check "--check-config prints the drop-in" test "$lines" = "[Service]"$'\n'"BindPaths=$scans"
    mkdir -p "/run/systemd/system/$unit.d"
    printf '%s\n' "$lines" >"/run/systemd/system/$unit.d/scans.conf"
    systemctl daemon-reload
    check "--check-config has nothing to print then" says_not '[Service]' darkroomd --check-config
    check "restarts with the drop-in" systemctl restart "$unit"
    check "the folder is watched" eventually folder_is watching
    install -m 644 /srv/pictures/moon.png $scans/.moon
    mv $scans/.moon $scans/moon.png
    check "a picture in it has its answer" eventually answer_has moon.png
    check "... with the original" eventually answer_has moon.original.png
    check "... which is not in the folder any more" eventually is_empty $scans
    check "... and is what it was" cmp /srv/pictures/moon.png "$spool"/outbox/scans-*/moon.original.png
    drop_out scans
    rm -r /etc/darkroom/recipes/tiny.yaml
    configure_fully
    check "restarts without it" systemctl restart "$unit"
}

folder_is() { grep -q "\"state\" *: *\"$1\"" "$spool/folders.json"; }

answer_has() { compgen -G "$spool/outbox/scans-*/$1" >/dev/null; }

says() { # TEXT COMMAND [ARGUMENT]...
    local text=$1 output
    shift
    output=$("$@" 2>&1)
    grep -q -F -e "$text" <<<"$output" || { echo "$output"; return 1; }
}

says_not() { ! says "$@" >/dev/null; }

# Whether these are not in the daemon's root folder.
nothing_in_root() {
    local main_pid folder
    main_pid=$(property MainPID)
    for folder in "$@"; do
        [ ! -e "/proc/$main_pid/root$folder" ] || { echo "$folder is there"; return 1; }
    done
}

# --- Limits ------------------------------------------------------------------------------------

has_its_limits() {
    local main_pid
    main_pid=$(property MainPID)
    check "it may open 8192 files" grep -q '^Max open files *8192 *8192 ' "/proc/$main_pid/limits"
    check "it goes before others when memory is short" grep -qx 200 "/proc/$main_pid/oom_score_adj"
    check "its tasks are limited" property_is TasksMax 2048
    check "its memory is limited" is_percentage MemoryMax 75
    check "... and it is slowed down before that" is_percentage MemoryHigh 60
}

is_percentage() { # PROPERTY PERCENTAGE
    local value memory
    value=$(property "$1")
    memory=$(awk '/^MemTotal:/ {printf "%.0f", $2 * 1024}' /proc/meminfo)
    # In the machine's pages, and systemd may take a limit of its own group for the machine.
    [ "$value" -gt 0 ] && [ "$value" -le $((memory * $2 / 100 + 4096)) ] ||
        { echo "$1 is $value, of $memory"; return 1; }
}

# The table of mounts has many pages, and what the daemon needs is anywhere in it.
sees_its_limits_among_many_mounts() {
    local number lines=() group
    mkdir -p /data/unseen
    for number in {1..600}; do
        mkdir "/data/folder-$number"
        lines+=("BindReadOnlyPaths=/data/folder-$number")
    done
    drop_in many MemoryMax=400M MemoryHigh=infinity "${lines[@]}"
    sed -i 's|^sources:.*|sources: {roots: [/srv/pictures, /data/folder-600, /data/unseen]}|' /etc/darkroom/darkroomd.yaml
    check "restarts with six hundred folders" systemctl restart "$unit"
    check "... whose table of mounts is long" test "$(wc -c <"/proc/$(property MainPID)/mountinfo")" -gt 60000
    check "... and sees the last of them" eventually has "$spool/queue.json" '"readableRoots"[^]]*"/data/folder-600"'
    check "... and not what is not bound" lacks "$spool/queue.json" '"readableRoots"[^]]*"/data/unseen"'
    group=/sys/fs/cgroup$(property ControlGroup)
    if [ -e "$group/memory.max" ]; then
        check "... with half of its memory for pictures" eventually journal_has "$configured" "memory: 200 MiB"
    else
        echo "skip  ... with half of its memory for pictures: version 2 of control groups does not count memory here"
    fi
    drop_out many
    configure_fully
    check "restarts without them" systemctl restart "$unit"
}

# has FILE PATTERN: of the whole text.
has() { grep -qzP "$2" "$1"; }

lacks() { ! has "$@"; }

# --- Further spools ----------------------------------------------------------------------------

serves_further_spools() {
    local main_pid
    main_pid=$(property MainPID)
    : >/etc/darkroom/prints.yaml
    local unit=darkroomd@prints.service spool=/var/spool/darkroom-prints
    configure_prints
    check "a second daemon starts" systemctl start "$unit"
    check "its spool is for the submitters, as the first one" modes_are \
        750 "" 3770 /tmp 3770 /inbox 700 /active 750 /outbox
    drop_in probe RootDirectoryStartOnly=no ExecStartPre= "ExecStartPre=/usr/local/sbin/probe $spool/tmp/findings"
    check "it restarts with a probe before it" systemctl restart "$unit"
    submit prints.yaml <<'END'
images:
  local: {source: moon.png, filters: [sepia]}
  private: {source: "http://127.0.0.1:8080/private/nebula.png", filters: [mono]}
END
    check "it processes a manifest, with a credential of its own" eventually batch_is prints completed
    check "it has a cache of its own" test -n "$(ls -A /var/cache/darkroom-prints)"
    local findings=$spool/tmp/findings
    may "see-other-spool it does not see the first spool" no
    may "write-spool it writes into its own" yes
    check "its status is its own" eventually property_begins StatusText "Idle; 1 batch finished"
    check "it stops" systemctl stop "$unit"
    drop_out probe
    unit=darkroomd.service
    check "the first daemon went on meanwhile" property_is MainPID "$main_pid"
}

configure_prints() {
    printf '%s\n' "sources: {roots: [/srv/pictures]}" "downloads: {allowNetworks: [127.0.0.0/8]}" \
        >/etc/darkroom/prints.yaml
    install -m 600 /etc/darkroom/headers.yaml /etc/darkroom/headers-prints.yaml
    drop_in job LoadCredential=headers:/etc/darkroom/headers-prints.yaml
}

# --- Reload ------------------------------------------------------------------------------------

reloads_whole_or_not_at_all() {
    local main_pid
    main_pid=$(property MainPID)
    configure_fully "manifests: {maxImages: 1}" "log: {level: loud}"
    check "systemctl reload fails for a bad configuration" fails systemctl reload "$unit"
    check "the status text says that it was refused" eventually status_has "configuration was refused"
    submit two.json <<<'{"images": [{"name": "a", "source": "moon.png"}, {"name": "b", "source": "moon.png"}]}'
    check "nothing of it holds" eventually batch_is two completed
    configure_fully "manifests: {maxImages: 1}"
    check "systemctl reload takes a good one" systemctl reload "$unit"
    check "the status text is as before" eventually status_lacks "refused"
    submit more.json <<<'{"images": [{"name": "a", "source": "moon.png"}, {"name": "b", "source": "moon.png"}]}'
    check "it holds" eventually batch_is more rejected
    configure_fully
    check "... until the next one" systemctl reload "$unit"
    check "all that by one process" property_is MainPID "$main_pid"
}

fails() { ! "$@"; }
status_has() { [[ $(property StatusText) = *"$1"* ]]; }
status_lacks() { ! status_has "$1"; }

# --- Stop, kill --------------------------------------------------------------------------------

# submit_work NAME COUNT SOURCE: a manifest of so many images of one source.
submit_work() {
    local number
    {
        echo "images:"
        for ((number = 0; number < $2; number++)); do
            echo "  i$number: {source: \"$3\", filters: [{resize: {width: 400}}, {blur: {sigma: 2}}]}"
        done
    } | submit "$1.yaml"
}

# begin_work NAME: a manifest that is in the middle for seconds, however many processors there are, for its images are
# filtered one at a time. What starts next has all processors for the rest.
begin_work() {
    configure_fully "filters: {concurrency: 1}"
    check "images are filtered one at a time" systemctl reload "$unit"
    submit_work "$1" $many galaxy.png
    check "a batch is in the middle" eventually is_in_the_middle "$1"
    configure_fully
}

stops_in_the_middle() {
    begin_work long
    check "systemctl stop" systemctl stop "$unit"
    check "it ended well" property_is Result success
    check "... with exit status 0" property_is ExecMainStatus 0
    check "the batch was not finished" is_in_the_middle long
    check "systemctl start" systemctl start "$unit"
    check "the batch is finished after the next start" eventually batch_is long completed
    check "each picture of it is there" has_pictures long $many
}

is_in_the_middle() {
    local status=$spool/outbox/$1/status.json
    grep -q '^  "state" *: *"processing"' "$status" && compgen -G "$spool/outbox/$1/*.png" >/dev/null &&
        [ "$(find "$spool/outbox/$1" -name '*.png' | wc -l)" -lt $many ]
}

has_pictures() { # ID COUNT
    local count
    count=$(find "$spool/outbox/$1" -name '*.png' | wc -l)
    [ "$count" -eq "$2" ] || { echo "$count pictures, not $2"; return 1; }
}

# The unit's time to stop is shorter than what runs takes, which is moving: a download of twelve seconds or more.
asks_for_time_to_stop() {
    drop_in stop TimeoutStopSec=6
    submit_work slow 1 http://127.0.0.1:8080/slow/moon.png
    check "a slow download runs" eventually batch_is slow processing
    check "systemctl stop waits for it, having asked for more time" lasts 7 systemctl stop "$unit"
    check "nobody had to kill it" property_is Result success
    drop_out stop
    check "systemctl start" systemctl start "$unit"
    check "the rest is done after the next start" eventually batch_is slow completed
}

lasts() { # SECONDS COMMAND [ARGUMENT]...
    local least=$1 started=$SECONDS
    shift
    "$@" || return
    ((SECONDS - started >= least)) || { echo "only $((SECONDS - started)) s"; return 1; }
}

is_killed_in_the_middle() {
    local restarts
    restarts=$(property NRestarts)
    begin_work killed
    check "kill -9" systemctl kill --signal KILL "$unit"
    check "systemd starts it again" eventually property_is NRestarts $((restarts + 1))
    check "the batch is finished by the new one" eventually batch_is killed completed
    check "each picture of it is there" has_pictures killed $many
}

# --- The watchdog ------------------------------------------------------------------------------

# A watchdog of ten seconds, which is much longer than a thread waits for a processor; a download that takes longer, and
# a picture that does.
outlasts_long_work() {
    drop_in watchdog WatchdogSec=10
    check "restarts with a watchdog of ten seconds" systemctl restart "$unit"
    submit legal.yaml <<'END'
images:
  slow: {source: "http://127.0.0.1:8080/slow/nebula.png", filters: []}
  large: {source: galaxy.png, filters: [{resize: {width: 6000}}, {blur: {sigma: 30}}, flip]}
END
    check "a slow download and a large picture are finished" eventually batch_is legal completed
    # Its end is told a moment after its status says so.
    check "... in more than ten seconds" eventually took_longer legal 10000
    check "... without the watchdog" property_is NRestarts 0
    drop_out watchdog
}

# A batch, by its first and its last record in the journal.
took_longer() { # ID MILLISECONDS
    local times
    mapfile -t times < <(records_of "$1" | sed -n 's/.*"__REALTIME_TIMESTAMP":"\([0-9]*\)".*/\1/p')
    ((times[-1] - times[0] > $2 * 1000)) || { echo "${times[*]}"; return 1; }
}

# One worker that hangs, while others move.
is_restarted_when_a_worker_hangs() {
    # The status text says so after 15 to 20 seconds of stillness, and the watchdog strikes ten seconds later at the
    # earliest, which is time enough to see it.
    drop_in hang WatchdogSec=16 Environment=DARKROOM_FAULT=decode=i7:hang
    check "restarts with a picture that will hang" systemctl restart "$unit"
    submit_work trip 20 moon.png
    check "all others are finished" eventually has_pictures trip 19
    # The daemon that hangs keeps its environment; the next one has it not.
    drop_out hang
    check "the status text says what makes no progress" \
        eventually status_has "the picture i7 of trip has made no progress for"
    check "the watchdog strikes" eventually property_is NRestarts 1
    check "the daemon had said so" eventually journal_has "$stuck" "i7 of trip has made no progress"
    check "the picture is suspected" eventually journal_has "$suspected" "i7 was being filtered.*watchdog"
    check "no other is" records_are 1 "$suspected"
    check "the work goes on to its end" eventually batch_is trip completed
    check "each picture is there" has_pictures trip 20
}

# records_are COUNT MESSAGE_ID [TEXT]: of the process that runs now.
records_are() {
    local messages
    journalctl --sync
    messages=$(journalctl --output cat --no-pager "MESSAGE_ID=$2" \
        "_SYSTEMD_INVOCATION_ID=$(property InvocationID)" | grep -F -e "${3:-}")
    [ "$(grep -c . <<<"$messages")" -eq "$1" ] || { echo "$messages"; return 1; }
}

# The whole process stands still, with a picture in work, which is not to blame.
is_restarted_when_it_does_not_turn() {
    drop_in watchdog WatchdogSec=12
    check "restarts with a watchdog of twelve seconds" systemctl restart "$unit"
    begin_work still
    check "the process is stopped" systemctl kill --signal STOP "$unit"
    check "the watchdog strikes" eventually property_is NRestarts 1
    check "the work goes on to its end" eventually batch_is still completed
    check "no picture is suspected of it" records_are 0 "$suspected" "(watchdog"
    drop_out watchdog
}

# --- Exit codes --------------------------------------------------------------------------------

tells_why_it_ended() {
    check "systemctl stop" systemctl stop "$unit"
    configure_fully "nonsense: true"
    check "it does not start with a wrong configuration" fails systemctl start "$unit"
    ended_for_good 78 "a wrong configuration"
    check "the status text says what is wrong" status_has nonsense
    configure_fully

    drop_in usage ExecStart= "ExecStart=/usr/sbin/darkroomd --nonsense"
    check "it does not start with a wrong command line" fails systemctl start "$unit"
    ended_for_good 64 "a wrong command line"
    drop_out usage

    chown root:root $spool
    chmod 700 $spool
    check "it does not start on a spool of somebody else's" fails systemctl start "$unit"
    ended_for_good 77 "missing permissions"
    chown darkroom:darkroom $spool
    chmod 750 $spool

    mv $spool $spool.away
    check "it does not start without a spool" fails systemctl start "$unit"
    ended_for_good 226 "a missing folder"
    mv $spool.away $spool

    check "it starts when all is in order" systemctl start "$unit"
    check "a second daemon on the spool is refused" \
        exits_with 75 setpriv --reuid darkroom --regid darkroom --clear-groups darkroomd --spool $spool
    # Room for the spool's own folder, and for nothing in it.
    mount -t tmpfs -o nr_inodes=2 tmpfs /mnt
    check "a spool on a full disk is refused" exits_with 74 darkroomd --spool /mnt/spool
    umount /mnt
    # What cannot be put back is beyond the daemon; a new one makes it anew.
    rm -r $spool/active
    check "it ends when the spool falls apart" eventually property_is NRestarts 1
    check "... with exit status 71" eventually systemd_says "status=71"
    check "a new one puts it in order" eventually property_is SubState running
    submit last.json <<<'{"images": [{"name": "last", "source": "moon.png"}]}'
    check "... and works" eventually batch_is last completed
}

systemd_says() { # TEXT
    local lines
    journalctl --sync
    lines=$(journalctl --no-pager --unit "$unit" _PID=1)
    grep -q --fixed-strings -e "$1" <<<"$lines" || { echo "$lines"; return 1; }
}

ended_for_good() { # STATUS WHY
    check "$2 ends it with $1" property_is ExecMainStatus "$1"
    check "... and nobody tries again" property_is ActiveState failed
}

exits_with() { # STATUS COMMAND [ARGUMENT]...
    local expected=$1 status=0
    shift
    "$@" || status=$?
    [ "$status" -eq "$expected" ] || { echo "exit status $status"; return 1; }
}

main
