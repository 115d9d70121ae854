#!/usr/bin/env bash
# package.sh REPOSITORY STAGE
#
# Installs the Debian package and takes it through its life: a machine where no systemd runs, one whose policy
# starts nothing, installation, upgrade with work in flight, removal, return, purge; darkroom-heif goes along. Runs
# inside boot.sh, whose root, dpkg's database included, is gone afterwards; see lib.sh. In STAGE/packages are two builds,
# the second with a higher version.
set -u -o pipefail

readonly repository=$1 stage=$2
# shellcheck source=Tests/systemd/lib.sh
. "$repository/Tests/systemd/lib.sh"
readonly wants=/etc/systemd/system/multi-user.target.wants/darkroomd.service
readonly instance=darkroomd@prints.service notify=darkroom-notify.service
readonly images=150

main() {
    prepare
    installs_where_no_systemd_runs
    heeds_the_policy
    installs
    # Without a daemon, the rest would only wait in vain, check by check.
    [ "$failures" -eq 0 ] || return 1
    puts_everything_in_its_place
    serves_members_of_the_group
    runs_another_instance
    upgrades_with_work_in_flight
    keeps_what_was_disabled
    removes
    comes_back
    purges
    conclude
}

prepare() {
    local packages
    mapfile -t packages < <(printf '%s\n' "$stage"/packages/darkroom_*.deb | sort --version-sort)
    check "there are two packages" [ "${#packages[@]}" -eq 2 ]
    # In a folder that is on the root itself, where in_a_chroot finds them.
    first=/srv/packages/first.deb second=/srv/packages/second.deb
    mkdir -p /srv/packages /srv/pictures
    cp "${packages[0]}" $first
    cp "${packages[-1]}" $second
    cp "$stage/packages/darkroom-heif_${packages[0]##*/darkroom_}" $first-heif
    cp "$stage/packages/darkroom-heif_${packages[-1]##*/darkroom_}" $second-heif
    cp -r "$repository/etc/samples/pictures/." "$repository/Tests/package/pictures/." /srv/pictures/
    useradd --no-create-home submitter
    allow_packages
}

# --- Where nothing may be started --------------------------------------------------------------

installs_where_no_systemd_runs() {
    check "it is installed where no systemd runs" in_a_chroot dpkg --install "$first"
    check "... with its user" getent passwd darkroom
    check "... and its spool" in_a_chroot test -d "$spool/inbox"
    check "... enabled for the next start" in_a_chroot test -L "$wants"
    check "... and nothing is started" no_darkroomd_runs
    check "it is removed there" in_a_chroot dpkg --remove darkroom
    check "it is purged there" in_a_chroot dpkg --purge darkroom
    check "... and is enabled no more" in_a_chroot test ! -L "$wants"
}

# A view of this root without what is mounted in it, so without systemd's /run; dpkg's database is the same one.
in_a_chroot() {
    # shellcheck disable=SC2016  # $@ is the inner shell's.
    unshare --mount bash -c '
        mount --bind / /mnt && mount --bind /proc /mnt/proc && exec chroot /mnt "$@"' - "$@"
}

heeds_the_policy() {
    printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d
    chmod 755 /usr/sbin/policy-rc.d
    check "it is installed where policy-rc.d says no" dpkg --install "$first"
    check "... enabled" test -L "$wants"
    check "... and not started" property_is ActiveState inactive
    rm /usr/sbin/policy-rc.d
    check "it is purged at once" dpkg --purge darkroom
}

no_darkroomd_runs() { ! grep --no-messages --line-regexp darkroomd /proc/[0-9]*/comm; }

# --- Installed ---------------------------------------------------------------------------------

installs() {
    check "it is installed" dpkg --install "$first"
    check "dpkg finds its files as they should be" quiet dpkg --verify darkroom
    check "the unit is enabled" [ "$(systemctl is-enabled "$unit")" = enabled ]
    check "the daemon has been started" property_is ActiveState active
    check "it says that there is nothing to do" eventually property_begins StatusText Idle
    check "the notification of ends is disabled" [ "$(systemctl is-enabled $notify)" = disabled ]
    check "... and not started" of_notify property_is ActiveState inactive
    check "the spool's folders have their owners and modes" modes_are \
        750 "" 3770 /tmp 3770 /inbox 700 /active 750 /outbox
    check "the user can log in nowhere" user_is_locked
}

user_is_locked() {
    [ "$(getent passwd darkroom | cut -d : -f 7)" = /usr/sbin/nologin ] &&
        [[ $(getent shadow darkroom | cut -d : -f 2) = '!'* ]]
}

puts_everything_in_its_place() {
    local page
    while IFS= read -r page; do
        page=${page##*/}
        check "there is a manual page ${page%.*}(${page##*.})" finds_page "${page%.*}" "${page##*.}"
    done < <(compgen -G "$repository/etc/man/*.[1-8]")
    check "bash's completions are there" \
        grep -q 'complete .* darkroomd$' /usr/share/bash-completion/completions/darkroomd
    check "zsh's are" grep -q '^#compdef darkroomd' /usr/share/zsh/vendor-completions/_darkroomd
    check "fish's are" grep -q 'complete -c .*darkroomd' /usr/share/fish/vendor_completions.d/darkroomd.fish
    if [ -e "$repository/systemd/darkroomd.catalog" ]; then
        check "the journal's catalog has the daemon's records" \
            catalog_has "$(sed -n 's/^-- \([0-9a-f]\{32\}\).*/\1/p' "$repository/systemd/darkroomd.catalog" | head -n 1)"
    fi
}

finds_page() { # NAME SECTION
    ! command -v man >/dev/null || man --where "$2" "$1" || return
    gzip --test "/usr/share/man/man$2/$1.$2.gz"
}

catalog_has() { [ -n "$1" ] && journalctl --dump-catalog "$1"; }

# --- In use ------------------------------------------------------------------------------------

serves_members_of_the_group() {
    check "who is not in the group cannot submit" cannot_submit
    usermod --append --groups darkroom submitter
    # As an administrator does it: in the configuration file of the package.
    printf 'sources:\n  roots: [/srv/pictures]\nfilters:\n  concurrency: 1\n' >>/etc/darkroom/darkroomd.yaml
    check "the configuration is reloaded" systemctl restart "$unit"
    hand_in first.json <<<'{"images": [{"name": "galaxy", "source": "galaxy.png", "filters": ["sepia"]}]}'
    check "a manifest of a member of the group is answered" eventually batch_is first completed
    check "... and the member can read the picture" \
        as_submitter head -c 8 "$spool/outbox/first/galaxy.png"
    check "darkroom-heif is installed" dpkg --install $first-heif
    hand_in kinds.json <<<'{"images": ["gradient.webp", {"name": "avif", "source": "gradient.avif"}]}'
    check "WebP and AVIF are read" eventually batch_is kinds completed
}

as_submitter() { setpriv --reuid submitter --regid submitter --init-groups "$@"; }

cannot_submit() { ! as_submitter touch "$spool/inbox/refused.json" 2>/dev/null; }

hand_in() { # NAME, content on standard input
    # shellcheck disable=SC2016  # $1 and $2 are the inner shell's.
    as_submitter bash -c 'umask 022; cat >"$1/tmp/$2" && mv "$1/tmp/$2" "$1/inbox/$2"' - "$spool" "$1"
}

runs_another_instance() {
    printf 'sources: {roots: [/srv/pictures]}\n' >/etc/darkroom/prints.yaml
    check "another instance is enabled and started" systemctl enable --now "$instance"
    check "... with a spool of its own" test -d "$spool-prints/inbox"
    check "... and a cache" test -d /var/cache/darkroom-prints
    mkdir /var/cache/darkroom-elsewhere
    echo 'NOTIFY=--exec /usr/bin/true' >>/etc/darkroom/notify.conf
    check "the notification of ends is enabled and started" systemctl enable --now $notify
}

# --- Upgraded ----------------------------------------------------------------------------------

upgrades_with_work_in_flight() {
    local configured before main_pid instance_pid notify_pid slowing
    configured=$(md5sum </etc/darkroom/darkroomd.yaml)
    main_pid=$(property MainPID)
    instance_pid=$(of_instance property MainPID)
    notify_pid=$(of_notify property MainPID)
    long_manifest | hand_in long.json
    check "work is in flight" eventually has_pictures 3
    before=$(finished_pictures)
    slow_down &
    slowing=$!
    check "it is upgraded, and darkroom-heif with it" dpkg --install "$second" $second-heif
    check "the daemon is another one" property_is_not MainPID "$main_pid"
    check "... and active" property_is ActiveState active
    check "so is that of the other instance" of_instance property_is_not MainPID "$instance_pid"
    check "... which is active" of_instance property_is ActiveState active
    check "so is the notification" of_notify property_is_not MainPID "$notify_pid"
    check "... which is active" of_notify property_is ActiveState active
    # Which is pending until the new daemon has begun a picture.
    check "the work was in flight all the while" batch_is long '\(pending\|processing\)'
    check "the configuration is the administrator's" \
        [ "$(md5sum </etc/darkroom/darkroomd.yaml)" = "$configured" ]
    # The rest need not take as long.
    kill "$slowing"
    wait "$slowing"
    kill -CONT "$(property MainPID)"
    sed -i 's/concurrency: 1/concurrency: 0/' /etc/darkroom/darkroomd.yaml
    check "the rest is done on all processors" systemctl reload "$unit"
    check "the work is finished" eventually batch_is long completed
    check "... with every picture" has_pictures $images
    check "... those that were finished before being the same files" \
        still_are "$before"
    check "... in one answer" [ "$(printf '%s ' "$spool"/outbox/*/)" = "$spool/outbox/first/ $spool/outbox/kinds/ $spool/outbox/long/ " ]
    check "nothing is left in active/" eventually is_empty "$spool/active"
}

of_instance() { local unit=$instance; "$@"; }

of_notify() { local unit=$notify; "$@"; }

# Lets the daemon run a fifteenth of the time, so that its work outlasts the upgrade on a slow machine, too.
slow_down() {
    local pid
    while sleep 0.1; do
        pid=$(property MainPID)
        # Between the old daemon and the new one there is none.
        [ "${pid:-0}" -gt 1 ] || continue
        kill -STOP "$pid" && sleep 1.4
        kill -CONT "$pid"
    done 2>/dev/null
}

# Some ten seconds of work for one thread of a fast machine.
long_manifest() {
    local number separator=''
    printf '{"filters": [{"resize": {"width": 3400}}, {"blur": {"sigma": 20}}, {"resize": {"width": 100}}], "images": ['
    for ((number = 1; number <= images; number++)); do
        printf '%s{"name": "p%d", "source": "nebula.png"}' "$separator" "$number"
        separator=', '
    done
    printf ']}\n'
}

# Their names and which files they are, a line each.
finished_pictures() { find "$spool/outbox/long" -name '*.png' -printf '%f %i %T@\n' 2>/dev/null | sort; }

has_pictures() { [ "$(finished_pictures | wc -l)" -ge "$1" ] || { finished_pictures; return 1; }; }

still_are() {
    local lost
    lost=$(comm -23 <(echo "$1") <(finished_pictures))
    [ -z "$lost" ] || { echo "$lost"; return 1; }
}

property_is_not() { ! property_is "$@" >/dev/null || { echo "$1 is still $2"; return 1; }; }

keeps_what_was_disabled() {
    check "the unit is disabled and stopped by hand" systemctl disable --now "$unit"
    check "it is installed again" dpkg --install "$second"
    check "... and the unit is still disabled" test ! -e "$wants"
    check "... and not started" property_is ActiveState inactive
    check "it is enabled by hand" systemctl enable --now "$unit"
}

# --- Removed -----------------------------------------------------------------------------------

removes() {
    hand_in over.json <<<'{"images": [{"name": "moon", "source": "moon.png", "filters": ["mono"]}]}'
    check "a manifest is answered" eventually batch_is over completed
    check "the queues are paused" systemctl kill --signal USR1 "$unit"
    check "... and say so" eventually property_begins StatusText "Paused"
    hand_in waiting.json <<<'{"images": [{"name": "comet", "source": "comet.png", "filters": ["mono"]}]}'
    check "another one waits" eventually batch_is waiting pending
    check "it is removed" dpkg --remove darkroom darkroom-heif
    check "no daemon runs, of no instance either" no_darkroomd_runs
    check "the program is gone" test ! -e /usr/sbin/darkroomd
    check "... and the codec programs" test ! -e /usr/lib/darkroom
    check "systemd knows no unit any more" property_is LoadState not-found
    check "... nor that of the notification" of_notify property_is LoadState not-found
    check "the spool stays, with its answers" batch_is over completed
    check "... and the work that waits" test -d "$spool/active/waiting"
    check "the configuration stays" grep -q /srv/pictures /etc/darkroom/darkroomd.yaml
}

comes_back() {
    check "it is installed once more" dpkg --install "$second"
    check "the daemon runs" property_is ActiveState active
    check "... and so does the other instance" of_instance property_is ActiveState active
    check "it is still paused" eventually property_begins StatusText "Paused"
    check "it is resumed" systemctl kill --signal USR2 "$unit"
    check "what has waited is done" eventually batch_is waiting completed
}

purges() {
    local said
    said=$(dpkg --purge darkroom 2>&1)
    check "it is purged" grep -q '^Purging configuration files for darkroom' <<<"$said"
    check "the configuration is gone" test ! -e /etc/darkroom
    check "what was notified is gone" [ "$(compgen -G '/var/lib/darkroom*')$(compgen -G '/var/lib/private/darkroom*')" = "" ]
    check "the caches are gone" [ "$(printf '%s' /var/cache/darkroom*)" = /var/cache/darkroom-elsewhere ]
    check "nothing of the units is left" quiet find /etc/systemd/system /var/lib/systemd -name '*darkroom*'
    check "dpkg knows nothing of it" not_known
    check "the spool and its answers stay" batch_is waiting completed
    check "... and belong to the user, who stays" modes_are 750 /outbox
    check "it is said how to remove the spool" grep -Fq "rm -r '$spool'" <<<"$said"
    check "... and that of the instance" grep -Fq "rm -r '$spool-prints'" <<<"$said"
    check "... and that can be done" eval "$(sed -n 's/^  //p' <<<"$said")"
    check "... after which nothing is left" [ "$(compgen -G "$spool*")" = "" ]
}

not_known() { ! dpkg --status darkroom 2>/dev/null; }

main
