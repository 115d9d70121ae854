#!/usr/bin/env bash
# notify.sh REPOSITORY STAGE
#
# darkroom-notify.service under the systemd that runs, with real programs and a real web server that fails, hangs, goes
# and comes back. See lib.sh.
set -u -o pipefail

repository=$1 stage=$2
# shellcheck source=Tests/systemd/lib.sh
. "${BASH_SOURCE[0]%/*}/lib.sh"
readonly notify=darkroom-notify.service state=/var/lib/private/darkroom-notify server=/tmp/server
readonly key=0123456789abcdef0123456789abcdef

main() {
    install_darkroomd
    install -m 755 "$stage/darkroom" /usr/bin/darkroom
    install -m 644 "$repository/etc/darkroom/notify.conf" /etc/darkroom/notify.conf
    unit_is_right
    is_off_until_it_is_told
    check "the daemon is started" systemctl start "$unit"
    begins_with_what_ends_now
    [ "$failures" -eq 0 ] || return 1
    calls_a_program
    is_confined
    tries_again
    calls_again_after_a_kill
    stops_after_the_call
    serve
    posts
    signs
    outlasts_the_server
    conclude
}

# The service under test is the one of `property` and the like.
of_notify() { local unit=$notify; "$@"; }

# configure_notify [LINE]...
configure_notify() { printf '%s\n' "$@" >/etc/darkroom/notify.conf; }

# --- The unit ----------------------------------------------------------------------------------

unit_is_right() {
    check "$notify is valid" systemd-analyze verify --man=no --recursive-errors=no $notify
    check "the exposure of $notify is at most 1.0" is_little_exposed
}

is_little_exposed() {
    local output
    output=$(systemd-analyze security --offline=true --threshold=10 "$repository/systemd/$notify" 2>&1) && return
    tail -n 1 <<<"$output"
    return 1
}

is_off_until_it_is_told() {
    check "it is disabled" [ "$(systemctl is-enabled $notify)" = disabled ]
    check "it does not start before somebody has said what to call" fails systemctl start $notify
    check "... because of its command line" of_notify property_is ExecMainStatus 64
    check "... which the journal says" journal_of_notify_has "needs --exec PROGRAM or --post URL"
    check "... and it is not restarted" of_notify property_is NRestarts 0
    systemctl reset-failed $notify
}

fails() { ! "$@" 2>/dev/null; }

journal_of_notify_has() { # TEXT [OPTION]...
    local text=$1 messages
    shift
    journalctl --sync
    messages=$(journalctl --output cat --no-pager --unit $notify "$@")
    grep --fixed-strings --quiet -e "$text" <<<"$messages" && return
    journalctl --no-pager --unit $notify --lines 20
    return 1
}

# --- Programs ----------------------------------------------------------------------------------

# What the program writes, it writes into the state folder.
hook() { # content on standard input
    { printf '#!/bin/bash\n'; cat; } >/usr/local/bin/hook
    chmod 755 /usr/local/bin/hook
}

reject() { # ID: a batch that ends at once
    submit "$1.json" <<<'{}'
    eventually batch_is "$1" rejected
}

calls_are() { # LINE...
    local found
    found=$(cat $state/calls 2>/dev/null)
    [ "$found" = "$(printf '%s\n' "$@")" ] || { echo "$found"; return 1; }
}

begins_with_what_ends_now() {
    reject before
    configure_notify 'NOTIFY=--retry-delay 100ms --exec /usr/local/bin/hook'
    hook <<'END'
echo "$DARKROOM_ID" >>"$STATE_DIRECTORY/calls"
END
    check "it is enabled and started" systemctl enable --now $notify
    check "it is ready then" of_notify property_is SubState running
    check "it says what it passes over" eventually journal_of_notify_has "1 batch that had ended before"
    check "it says that it waits" eventually of_notify property_is StatusText "Waiting for batches to end"
    reject after
    check "what ends from then on is called" eventually calls_are after
}

calls_a_program() {
    hook <<'END'
echo "$DARKROOM_ID $DARKROOM_STATE $DARKROOM_OUTBOX $(jq -r .id)" >>"$STATE_DIRECTORY/calls"
END
    rm $state/calls
    submit galaxy.json <<<'{"images": [{"name": "g", "source": "galaxy.png", "filters": ["mono"]}]}'
    eventually batch_is galaxy completed
    reject wrong
    check "the program has the batch in its environment and on its input" eventually calls_are \
        "galaxy completed $spool/outbox/galaxy galaxy" "wrong rejected $spool/outbox/wrong wrong"
    check "the journal has the results" eventually journal_of_notify_has "galaxy: completed, 1 image in" -p info
    check "... and nothing to look after" is_quiet
}

is_quiet() {
    local messages
    journalctl --sync
    messages=$(journalctl --output cat --no-pager --unit $notify -p warning _COMM=darkroom "_PID=$(of_notify property MainPID)")
    [ -z "$messages" ] || { echo "$messages"; return 1; }
}

is_confined() {
    hook <<'END'
{
    id --user --name
    touch "$DARKROOM_OUTBOX/x" "$STATE_DIRECTORY/../x" /usr/local/bin/x /etc/darkroom/x 2>/dev/null && echo writes
    cat /etc/darkroom/webhook.key /etc/shadow 2>/dev/null && echo reads
    ls -A /home /root "$DARKROOM_OUTBOX/../../active" 2>/dev/null && echo sees
    for folder in /tmp /var/tmp "$STATE_DIRECTORY"; do
        cp /bin/true "$folder/true" && "$folder/true" 2>/dev/null && echo "executes in $folder"
    done
    [ "$(grep -c '^CapEff:.*[1-9a-f]' /proc/self/status)" -eq 0 ] || echo privileged
    [ -z "${NOTIFY_SOCKET:-}" ] || echo notifies
} >"$STATE_DIRECTORY/sandbox" 2>&1
END
    echo $key >/etc/darkroom/webhook.key
    chmod 600 /etc/darkroom/webhook.key
    mkdir -p /home/anna
    reject confined
    check "the program has its own user, and can do nothing else" eventually says_only_its_name
    rm /etc/darkroom/webhook.key
}

says_only_its_name() { diff $state/sandbox <(echo darkroom-notify); }

tries_again() {
    hook <<'END'
echo "$DARKROOM_ID" >>"$STATE_DIRECTORY/calls"
[ "$DARKROOM_ID" != a ] || [ "$(grep -c a "$STATE_DIRECTORY/calls")" -ge 3 ]
END
    rm -f $state/calls
    reject a
    reject b
    check "a program that fails is called again, and the next end waits" eventually calls_are a a a b
    check "the journal has a warning" eventually journal_of_notify_has \
        "a: try 1 of 10 failed: /usr/local/bin/hook ended with exit code 1; the next one is in 100 ms" -p warning
}

calls_again_after_a_kill() {
    local before
    hook <<'END'
echo "$DARKROOM_ID" >>"$STATE_DIRECTORY/calls"
[ -e "$STATE_DIRECTORY/go" ] || sleep 1h
END
    rm -f $state/calls
    drop_in_notify RestartSec=100ms
    reject k
    check "the program runs" eventually calls_are k
    before=$(of_notify property MainPID)
    touch $state/go
    check "the service is killed" systemctl kill --kill-whom main --signal KILL $notify
    check "it calls again" eventually calls_are k k
    check "... as another process" [ "$(of_notify property MainPID)" != "$before" ]
    check "... and the former program is gone" fails pgrep --full 'sleep 1h'
    rm $state/go
}

drop_in_notify() { local unit=$notify; drop_in test "$@"; }

stops_after_the_call() {
    hook <<'END'
echo "$DARKROOM_ID" >>"$STATE_DIRECTORY/calls"
while ! [ -e "$STATE_DIRECTORY/go" ]; do sleep 0.05; done
echo done >>"$STATE_DIRECTORY/calls"
END
    rm -f $state/calls
    reject s
    check "the program runs" eventually calls_are s
    systemctl stop --no-block $notify
    check "the stop waits for it" eventually of_notify property_is SubState stop-sigterm
    touch $state/go
    check "it stops" eventually of_notify property_is ActiveState inactive
    check "... after the end of the program" calls_are s done
    check "... well" of_notify property_is Result success
    check "it is started again" systemctl start $notify
    reject t
    check "... and does not repeat what it has called" eventually calls_are s done t done
}

# --- Web servers -------------------------------------------------------------------------------

start_server() {
    systemd-run --quiet --unit hookserver nginx -p $server -c nginx.conf -g 'daemon off;'
    eventually test -s $server/pid
}

stop_server() {
    systemctl stop hookserver
    eventually test ! -e $server/pid
}

# answer STATUS: from now on.
answer() {
    stop_server
    sed -i "s/return [0-9]*;/return $1;/" $server/nginx.conf
    start_server
}

# A server behind a server, so that the first one reads the body and writes it down.
serve() {
    mkdir $server
    cat >$server/nginx.conf <<END
user root;
pid $server/pid;
error_log $server/error.log;
events {}
http {
    log_format hook escape=none '\$status \$http_webhook_id \$http_webhook_timestamp \$http_webhook_signature \$request_body';
    access_log off;
    client_body_temp_path $server/body;
    proxy_temp_path $server/proxy;
    fastcgi_temp_path $server/fastcgi;
    uwsgi_temp_path $server/uwsgi;
    scgi_temp_path $server/scgi;
    server {
        listen 127.0.0.1:8080;
        access_log $server/access.log hook;
        location /hook { proxy_pass http://127.0.0.1:8081; }
    }
    server {
        listen 127.0.0.1:8081;
        return 204;
    }
}
END
    check "a web server runs" start_server
}

# The IDs of the batches that were posted with such a status, in their order.
posted() { # STATUS
    sed -n "s/^$1 .*\"id\":\"\([^\"]*\)\".*/\1/p" $server/access.log | uniq | tr '\n' ' '
}

posted_is() { # STATUS IDS
    local found
    found=$(posted "$1")
    [ "$found" = "$2" ] || { echo "$found"; cat $server/access.log; return 1; }
}

posts() {
    configure_notify 'NOTIFY=--tries 0 --retry-delay 50ms --timeout 1s --allow-network 127.0.0.0/8 --post http://127.0.0.1:8080/hook'
    check "it is restarted for a web server" systemctl restart $notify
    reject p1
    reject p2
    check "the server is called" eventually posted_is 204 "p1 p2 "
    check "... without a signature" grep -q '^204 end_[0-9a-f]\{32\} [0-9]\{10\}  {' $server/access.log
}

signs() {
    echo $key >/etc/darkroom/webhook.key
    chmod 600 /etc/darkroom/webhook.key
    check "it is restarted with a key" systemctl restart $notify
    : >$server/access.log
    reject p3
    check "the server is called" eventually posted_is 204 "p3 "
    check "... with the right signature" is_signed
    check "the service cannot be asked for the key" fails grep -r $key /proc/"$(of_notify property MainPID)"/environ
}

is_signed() {
    local status id time signature body expected
    IFS=' ' read -r status id time signature body <$server/access.log
    expected=$(printf '%s.%s.%s' "$id" "$time" "$body" | openssl dgst -sha256 -hmac $key -binary | base64 --wrap 0)
    [ "$status $signature" = "204 v1,$expected" ] || { cat $server/access.log; return 1; }
}

outlasts_the_server() {
    : >$server/access.log
    answer 503
    reject q1
    check "a server that fails is asked again" eventually posted_is 503 "q1 "
    reject q2
    check "nobody else is told in the meantime" posted_is 503 "q1 "
    answer 204
    check "it gets all calls when it works again" eventually posted_is 204 "q1 q2 "

    systemctl kill --signal STOP hookserver
    reject q3
    check "a server that hangs is given up" eventually journal_of_notify_has "q3: try 1 failed: http://127.0.0.1:8080/hook: no answer within 1s"
    systemctl kill --signal CONT hookserver
    check "... and called again" eventually posted_ends_with q3

    stop_server
    reject q4
    check "a server that is down is missed" eventually journal_of_notify_has "q4: try 1 failed: "
    check "... which the status says" eventually of_notify property_begins StatusText "1 end to notify; q4 had "
    start_server
    check "... and called when it is back" eventually posted_ends_with q4
    check "the service was the same all the while" of_notify property_is NRestarts 0
    check "it stops" systemctl stop $notify
    check "... well" of_notify property_is Result success
}

posted_ends_with() { [[ $(posted 204) = *"$1 " ]] || { cat $server/access.log; return 1; }; }

main
