# shellcheck shell=bash
# What the tests under a booted systemd share. Sourced by each of them, as
#
#   NAME.sh REPOSITORY STAGE
#
# after it has set `repository` and `stage`. Tests/run.sh boots a system of its own for each script that lies
# beside this file (boot.sh), so none finds what another has left, and none may be run on a machine in use:
# they add users, units and configuration.
#
# STAGE holds the built darkroom, in codecs/ the codec programs, in lib/ the shared libraries that the system does not
# have, and in packages/ the Debian packages that have been built, if any.
#
# A script prints a line for each check, `ok`, `FAIL` or `skip` with what it is about, and ends with `conclude`.

# shellcheck disable=SC2154 # Who sources this has set them.
readonly repository stage

# Which service is asked after, and where its spool is. A test of another one has locals of these names.
unit=darkroomd.service
spool=/var/spool/darkroom
# Seconds that `eventually` tries: far above what anything takes on a busy machine.
readonly deadline=600
# shellcheck source=Tests/reporting.sh
. "$repository/Tests/reporting.sh"

# --- Waiting ---------------------------------------------------------------------------------

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

# --- The package -----------------------------------------------------------------------------

# A container may forbid its packages to start services, or leave out their documentation. No check needs the index of
# manual pages, which takes seconds to bring up to date at each installation.
allow_packages() {
    rm -f /usr/sbin/policy-rc.d /var/lib/man-db/auto-update
    grep --files-with-matches --recursive --null '^path-exclude' /etc/dpkg/dpkg.cfg.d | xargs --null rm -f
}

# --- The service -----------------------------------------------------------------------------

# Puts everything where a package puts it, with source roots and a submitter for the tests.
install_darkroomd() {
    local file
    install -m 755 "$stage/darkroom" /usr/bin/darkroom
    ln -sf ../bin/darkroom /usr/sbin/darkroomd
    install -D -m 755 -t /usr/lib/darkroom/codecs "$stage"/codecs/*
    if compgen -G "$stage/lib/*" >/dev/null; then
        install -m 644 "$stage"/lib/* /usr/local/lib/
        ldconfig
    fi
    for file in "$repository"/systemd/*.service; do
        install -D -m 644 "$file" "/usr/lib/systemd/system/${file##*/}"
    done
    install -D -m 644 "$repository/systemd/darkroomd.sysusers.conf" \
        /usr/lib/sysusers.d/darkroomd.conf
    install -D -m 644 "$repository/systemd/darkroomd.tmpfiles.conf" \
        /usr/lib/tmpfiles.d/darkroomd.conf
    file=$repository/systemd/darkroomd.catalog
    if [ -e "$file" ]; then
        install -D -m 644 "$file" /usr/lib/systemd/catalog/darkroomd.catalog
        check "the catalog is taken in" journalctl --update-catalog
    fi
    check "systemd-sysusers makes the user" systemd-sysusers darkroomd.conf
    check "systemd-tmpfiles makes the spool" systemd-tmpfiles --create darkroomd.conf
    useradd --no-create-home submitter
    mkdir -p /etc/darkroom /srv/pictures
    cp -r "$repository/etc/samples/pictures/." /srv/pictures/
    configure
    systemctl daemon-reload
}

# shellcheck disable=SC2120 # The scripts that source this give it lines.
# configure [LINE]...: writes the configuration: local sources from /srv/pictures, and what is given.
configure() {
    printf '%s\n' "sources: {roots: [/srv/pictures]}" "$@" >/etc/darkroom/darkroomd.yaml
}

# drop_in NAME [LINE]...: changes the unit, in its section [Service], until the system is switched off.
drop_in() {
    local name=$1
    shift
    mkdir -p "/run/systemd/system/$unit.d"
    printf '%s\n' "[Service]" "$@" >"/run/systemd/system/$unit.d/$name.conf"
    systemctl daemon-reload
}

# Takes such a change back.
drop_out() {
    rm "/run/systemd/system/$unit.d/$1.conf"
    systemctl daemon-reload
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

batch_is() { # ID STATE, a basic regular expression
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

# --- What came of it -------------------------------------------------------------------------

are_pictures() {
    local file
    for file in "$@"; do
        [ "$(head -c 8 "$file" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] ||
            { echo "$file is not a PNG"; return 1; }
    done
}

# modes_are MODE FOLDER...: of the spool and its folders, which are darkroom's.
modes_are() {
    local wrong=0 found
    while [ $# -gt 0 ]; do
        found=$(stat --format '%a %U:%G' "$spool$2")
        [ "$found" = "$1 darkroom:darkroom" ] || { echo "$spool$2: $found, not $1"; wrong=1; }
        shift 2
    done
    return $wrong
}

is_empty() { [ -z "$(ls -A "$1")" ] || { ls -lA "$1"; return 1; }; }

# journal_has MESSAGE_ID [TEXT]: whether this start of the unit has a record of that kind.
journal_has() {
    local messages
    journalctl --sync
    messages=$(journalctl --output cat --no-pager "_SYSTEMD_UNIT=$unit" "MESSAGE_ID=$1")
    [ -n "$messages" ] && grep -q -e "${2:-}" <<<"$messages" && return
    journalctl --no-pager --unit "$unit" --lines 10
    return 1
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
