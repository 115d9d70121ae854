#!/usr/bin/env bash
# command.sh REPOSITORY STAGE
#
# Uses the command of the Debian package as root, as members of the group and as a stranger. Runs inside boot.sh; see
# lib.sh. The package is in STAGE/packages.
set -u -o pipefail

readonly repository=$1 stage=$2
# shellcheck source=Tests/systemd/lib.sh
. "$repository/Tests/systemd/lib.sh"
# What the last command of `as` wrote.
readonly stdout=/tmp/stdout stderr=/tmp/stderr
home=/home/anna

main() {
    prepare
    [ "$failures" -eq 0 ] || return 1
    a_stranger_can_do_nothing
    a_member_submits
    pictures_of_a_home_are_sent_along
    only_root_pauses
    owners_rules_hold
    answers_are_repeated_and_removed
    the_journal_is_shown
    cron_submits
    without_a_daemon
    conclude
}

prepare() {
    local package user
    package=$(printf '%s\n' "$stage"/packages/darkroom_*.deb | sort --version-sort | tail -n 1)
    allow_packages
    check "the package is installed" dpkg --install "$package"
    for user in anna ben stranger; do useradd --create-home "$user"; done
    usermod --append --groups darkroom anna
    usermod --append --groups darkroom ben
    mkdir -p /srv/pictures "$home/photos"
    cp "$repository"/etc/samples/pictures/*.png /srv/pictures/
    cp /srv/pictures/galaxy.png "$home/photos/her galaxy.png"
    chown -R anna: "$home"
    chmod -R go-rwx "$home"
    printf 'sources: {roots: [/srv/pictures]}\n' >>/etc/darkroom/darkroomd.yaml
    check "the daemon is restarted" systemctl restart "$unit"
    check "the command is found" command -v darkroom
    check "it knows its version" darkroom --version
}

# as USER EXIT ARGUMENT...: runs darkroom, and compares its exit code.
as() {
    local user=$1 exit=$2 result
    shift 2
    setpriv --reuid "$user" --regid "$user" --init-groups env --chdir=/ HOME="/home/$user" \
        darkroom "$@" >$stdout 2>$stderr </dev/null
    result=$?
    [ "$result" -eq "$exit" ] && return
    echo "darkroom $* ended with $result, not $exit"
    cat $stdout $stderr
    return 1
}

says() { # FILE TEXT: the whole file
    [ "$(cat "$1")" = "$2" ] && return
    diff <(echo "$2") "$1"
    return 1
}

mentions() { # FILE TEXT
    grep --fixed-strings --quiet -e "$2" "$1" || { cat "$1"; return 1; }
}

a_stranger_can_do_nothing() {
    check "a stranger cannot list" as stranger 77 list
    check "... and is told the folder and the reason" mentions $stderr "$spool"
    check "a stranger cannot submit" as stranger 77 submit /srv/pictures/moon.png
    check "a stranger makes a manifest" as stranger 0 make /srv/pictures/moon.png --filter mono -o /tmp/stranger.yaml
    check "... and checks it" as stranger 0 check /tmp/stranger.yaml
}

a_member_submits() {
    check "a member submits and waits" as anna 0 submit --wait --name first \
        /srv/pictures/galaxy.png /srv/pictures/moon.png --filter sepia=0.8 --filter thumbnail=64 --format jpeg
    check "... and gets the ID" says $stdout first
    check "... and no complaint" says $stderr ""
    check "the results are there" test -s "$spool/outbox/first/galaxy.jpg"
    check "the member sees it" as anna 0 show first
    check "the daemon is running" as anna 0 status
    check "... by its first word" mentions $stdout running
    check "a manifest with an error is not submitted" as anna 65 submit -
    check "... and nothing of it is left" is_empty "$spool/tmp"
}

pictures_of_a_home_are_sent_along() {
    check "a picture in a home is refused" as anna 65 submit "$home/photos/her galaxy.png"
    check "... with the way to send it along" mentions $stderr --copy
    check "... before anything was dropped" is_empty "$spool/inbox"
    check "it is sent along" as anna 0 submit --copy --wait --name home "$home/photos/her galaxy.png" --filter mono
    check "... and filtered" are_pictures "$spool/outbox/home/her galaxy.png"
    check "... and nothing of it is left in tmp" is_empty "$spool/tmp"
    check "... nor in active" eventually is_empty "$spool/active"
}

only_root_pauses() {
    local process
    process=$(property MainPID)
    check "a member cannot pause" as anna 77 pause
    check "... and is told who may" says $stderr \
        "darkroom: Only root and darkroom may pause the daemon of $unit (process $process).
darkroom: sudo darkroom pause"
    check "root pauses" as root 0 pause
    check "... which is said" says $stdout paused
    check "the status says it" as anna 0 status
    check "... by its first word" mentions $stdout paused
    check "a manifest is taken in the meantime" as anna 0 submit --name later /srv/pictures/comet.png
    check "its wait has an end" as anna 75 wait later --timeout 1s
    check "a member cannot resume" as anna 77 resume
    check "root resumes" as root 0 resume
    check "... which is said" says $stdout running
    check "the manifest is done" as anna 0 wait later
}

owners_rules_hold() {
    check "a held batch" as anna 0 submit --hold --name hers /srv/pictures/nebula.png
    check "another member cannot cancel it" as ben 77 cancel hers
    check "... and is told whose it is" says $stderr \
        "darkroom: hers: you may not cancel it: it belongs to anna
darkroom: Only its owner, the owner of the spool and root may."
    check "another member cannot release it" as ben 77 release hers
    check "another member sees it" as ben 0 list
    check "... as held" mentions $stdout held
    check "its owner releases it" as anna 0 release hers --wait
    check "root cancels a batch of others" as anna 0 submit --hold --name stopped /srv/pictures/nebula.png
    check "... at once" as root 0 cancel stopped --wait
    check "... and its owner sees that" as anna 4 wait stopped
}

answers_are_repeated_and_removed() {
    check "what was cancelled is repeated" as anna 0 retry stopped --wait
    check "another member cannot remove it" as ben 77 remove stopped
    check "its owner removes it" as anna 0 remove stopped
    check "... and it is gone" test ! -e "$spool/outbox/stopped"
    check "what is gone is not found" as anna 66 show stopped
}

the_journal_is_shown() {
    journalctl --sync
    check "root reads the journal of a batch" as root 0 logs first
    check "... which has its records" mentions $stdout first
}

# cron has a short PATH, no terminal and no home folder as its current one.
cron_submits() {
    # shellcheck disable=SC2016  # $1 is the inner shell's.
    check "a job of cron submits and waits" setpriv --reuid anna --regid anna --init-groups \
        env --ignore-environment PATH=/usr/bin:/bin SHELL=/bin/sh \
        sh -c 'cd / && darkroom submit --wait --name nightly "$1" --filter mono >/dev/null' - /srv/pictures/moon.png
    check "... with its result" are_pictures "$spool/outbox/nightly/moon.png"
}

without_a_daemon() {
    check "the daemon is stopped" systemctl stop "$unit"
    check "the status says so" as anna 69 status
    check "... by its first word" mentions $stdout stopped
    check "the answers are listed" as anna 0 list --all
    check "... all of them" mentions $stdout nightly
    check "nobody submits by mistake" as anna 69 submit --name early /srv/pictures/moon.png
    check "... and nothing was dropped" is_empty "$spool/inbox"
    check "a manifest is dropped on demand" as anna 0 submit --anyway --name early /srv/pictures/moon.png
    check "nobody can pause" as root 69 pause
    check "the daemon is started" systemctl start "$unit"
    check "... and takes it" eventually batch_is early completed
}

main
