#!/usr/bin/env bash
# releases.sh PACKAGE CONTAINERFILE: installs a built package, and those beside it, in a new root of each release of
# Debian that it is for, runs both names of the program there, and purges it. On the release of the Containerfile, its
# steps are taken, too.
#
# Needs root, mmdebstrap and nginx. Prints `ok`, `FAIL` or `skip` with what was checked, a line each, and exits 1 if
# anything failed.
set -u -o pipefail
self=$(readlink -f "${BASH_SOURCE[0]}") package=$(readlink -f "$1") containerfile=$(readlink -f "$2")
readonly self package containerfile
cd "${self%/*}" || exit 1

# Number and name. The package is built on the first one.
readonly releases=(12:bookworm 13:trixie)
readonly pictures=../../etc/samples/pictures
readonly packages=(darkroom darkroom-heif darkroom-jxl)
# shellcheck source=Tests/reporting.sh
. ../reporting.sh

main() {
    local release
    # The mounts for the roots end with this namespace.
    [ "${1:-}" = --inside ] ||
        exec unshare --mount --propagation private bash "$self" "$package" "$containerfile" --inside
    work=$(mktemp -d) || exit 1
    trap 'end' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    check "nginx serves pictures" serve
    port=$(cat "$work/nginx/port")
    for release in "${releases[@]}"; do
        root=$work/${release#*:} name="Debian ${release%:*}"
        if ! make_root "${release#*:}" >"$work/log" 2>&1; then
            echo "FAIL  $name: its root cannot be made"
            tail -n 20 "$work/log" | sed 's/^/      /'
            failures=$((failures + 1))
            continue
        fi
        [ "${release%:*}" != "$(release_of_container)" ] || takes_the_steps_of_the_container
        installs
        filters
        reads_what_is_installed
        is_a_daemon
        is_purged
    done
    conclude
}

end() {
    [ ! -e "$work/nginx/pid" ] || kill "$(<"$work/nginx/pid")"
    umount --recursive "$work"/*/{proc,dev,mnt} 2>/dev/null
    rm -rf --one-file-system "$work"
}

# On a port that is free: the programs in the roots are in the network of this machine.
serve() {
    local try port
    mkdir "$work/nginx"
    for try in 1 2 3 4 5 6 7 8 9; do
        port=$((20000 + RANDOM % 10000))
        cat >"$work/nginx/conf" <<END
user root;
pid $work/nginx/pid;
error_log $work/nginx/error.log;
events {}
http {
    access_log off;
    client_body_temp_path $work/nginx/body;
    proxy_temp_path $work/nginx/proxy;
    fastcgi_temp_path $work/nginx/fastcgi;
    uwsgi_temp_path $work/nginx/uwsgi;
    scgi_temp_path $work/nginx/scgi;
    server { listen 127.0.0.1:$port; root $PWD/$pictures; }
}
END
        nginx -c "$work/nginx/conf" -e "$work/nginx/error.log" 2>"$work/log" || continue
        echo "$port" >"$work/nginx/port"
        return
    done
    cat "$work/log"
    return 1
}

# --- Roots -------------------------------------------------------------------------------------

# The smallest root with apt, and the lists of packages; /mnt has samples and the package.
make_root() { # RELEASE
    mmdebstrap --mode=root --variant=minbase --skip=cleanup/apt/lists --include=ca-certificates "$1" "$root" &&
        mount --bind /proc "$root/proc" && mount --rbind /dev "$root/dev" && mount -t tmpfs tmpfs "$root/mnt" &&
        cp "$pictures"/*.png pictures/* "$root/mnt/" && copy_packages "$root/mnt" &&
        printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" && chmod 755 "$root/usr/sbin/policy-rc.d"
}

# Under the names that they have without version and architecture.
copy_packages() { # FOLDER
    local name
    for name in "${packages[@]}"; do
        cp "${package%/*}/${name}_${package##*/darkroom_}" "$1/$name.deb" || return
    done
}

inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }

# --- The package -------------------------------------------------------------------------------

installs() {
    check "$name: apt installs it" inside apt-get install --yes --no-install-recommends /mnt/darkroom.deb
    check "$name: dpkg finds its files as they should be" quiet inside dpkg --verify darkroom
    check "$name: both names are the program" same_version
    check "$name: its user and its spool are there" inside runuser --user darkroom -- test -w /var/spool/darkroom/inbox
    check "$name: systemd takes its units" quiet inside systemd-analyze verify --man=no \
        /lib/systemd/system/darkroomd.service /lib/systemd/system/darkroom-notify.service
}

same_version() { [ "$(inside darkroom --version)" = "darkroom $(inside darkroomd --version | cut -d ' ' -f 2)" ]; }

filters() {
    check "$name: a picture is filtered to a JPEG" \
        inside darkroom filter /mnt/comet.png -o /mnt/comet.jpg --filter resize=100 --format jpeg
    check "$name: ... which can be read" inside darkroom filter /mnt/comet.jpg -o /mnt/again.png
    check "$name: one is downloaded" inside darkroom run "http://127.0.0.1:$port/moon.png" --filter sepia \
        --set "downloads.allowNetworks=[127.0.0.0/8]" --output /mnt/moon
    check "$name: a host without an address is named" refuses_host
}

# The resolver of the release, which is not that of the one on which the program was built.
refuses_host() {
    local output
    output=$(inside darkroom run http://nowhere.invalid/a.png --set downloads.retries=0 --output /mnt/nowhere 2>&1)
    [[ $? -eq 3 && $output = *nowhere.invalid* ]] || { echo "$output"; return 1; }
}

# Pictures that are neither PNG nor JPEG, each in a process of its own. A kind whose package is not there is refused
# with the name of the package.
reads_what_is_installed() {
    local kind
    for kind in webp tiff gif bmp jpeg; do check "$name: $kind is read" reads "$kind"; done
    check "$name: AVIF needs darkroom-heif, it says" needs avif darkroom-heif
    check "$name: apt installs darkroom-heif" install_package darkroom-heif
    check "$name: AVIF is read" reads avif
    check "$name: JPEG XL needs darkroom-jxl, it says" needs jxl darkroom-jxl
    if inside apt-cache show libjxl0.7 >/dev/null 2>&1; then
        check "$name: apt installs darkroom-jxl" install_package darkroom-jxl
        check "$name: JPEG XL is read" reads jxl
    else
        # Each release has a libjxl of its own, so darkroom-jxl is for the one on which it was built.
        check "$name: apt says which libjxl is missing" says libjxl0.7 install_package darkroom-jxl
        check "$name: ... and leaves the others as they are" quiet inside apt-get check --quiet=2
    fi
    check "$name: a user without rights reads them" inside setpriv --reuid 10001 --regid 10001 --clear-groups \
        --no-new-privs sh -c 'darkroom filter /mnt/gradient.avif >/tmp/user.png && darkroom filter /mnt/gradient.webp >/tmp/user.png'
    check "$name: darkroom-heif is removed" inside apt-get remove --yes darkroom-heif
    check "$name: ... and AVIF needs it again" needs avif darkroom-heif
}

install_package() { inside apt-get install --yes --no-install-recommends "/mnt/$1.deb"; }

# As the file has been made.
reads() { # ENDING
    rm -f "$root/mnt/read.png"
    inside darkroom filter "/mnt/gradient.$1" -o /mnt/read.png && is_a_png "$root/mnt/read.png" 8 6
}

is_a_png() { # FILE WIDTH HEIGHT
    [ "$(od -An -tx1 -N24 "$1" | tr -d ' \n')" = "$(printf '89504e470d0a1a0a0000000d49484452%08x%08x' "$2" "$3")" ]
}

needs() { says "install the package $2" inside darkroom filter "/mnt/gradient.$1" -o /mnt/read.png; }

# Whether a command fails with these words.
says() { # WORDS COMMAND [ARGUMENT]...
    local words=$1 output
    shift
    output=$("$@" 2>&1)
    [[ $? -ne 0 && $output = *"$words"* ]] || { echo "$output"; return 1; }
}

# The name of the call decides, so this one is a daemon.
is_a_daemon() {
    check "$name: the configuration of the package is right" \
        inside darkroomd --config /etc/darkroom/darkroomd.yaml --check-config
    install -d -m 777 "$root/mnt/daemon"
    # shellcheck disable=SC2016  # $$ is the inner shell's.
    inside setpriv --reuid darkroom --regid darkroom --clear-groups sh -c 'echo $$ >/mnt/daemon/process; exec "$@"' - \
        darkroomd --set 'sources.roots=[/mnt]' --set cache.folder=/mnt/daemon/cache >"$work/daemon" 2>&1 &
    daemon=$!
    check "$name: the daemon filters a picture, and one in WebP" submits
    kill "$(<"$root/mnt/daemon/process")"
    # Not within a check, which waits in a process of its own.
    wait "$daemon"
    check "$name: SIGTERM ends it" [ $? -eq 0 ]
}

submits() {
    local started=$SECONDS
    until inside darkroom status >/dev/null 2>&1; do
        ((SECONDS - started < 600)) || { cat "$work/daemon"; return 1; }
        sleep 0.05
    done
    inside darkroom submit /mnt/galaxy.png /mnt/gradient.webp --filter mono --name galaxy --wait &&
        inside test -s /var/spool/darkroom/outbox/galaxy/galaxy.png \
            -a -s /var/spool/darkroom/outbox/galaxy/gradient.png
}

is_purged() {
    check "$name: it is purged" inside apt-get purge --yes darkroom
    check "$name: ... and both names are gone" inside test ! -e /usr/bin/darkroom -a ! -L /usr/sbin/darkroomd
}

# --- The container -----------------------------------------------------------------------------

# The release of the last stage: FROM …/debian:NUMBER-slim.
release_of_container() { sed -n 's/^FROM .*debian:\([0-9]*\).*/\1/p' "$containerfile" | tail -n 1; }

# The lines of the last stage, each continued one as a whole.
steps() { sed -n '/^FROM .*debian:/,$p' "$containerfile" | sed '/^#/d' | sed -e ':a' -e '/\\$/N; s/\\\n *//; ta'; }

# Each step of the last stage, in the root: what it runs, the user, and the program as this user gets it.
takes_the_steps_of_the_container() {
    local step before user='' entry='' arguments=''
    before=$(megabytes)
    mkdir "$root/package"
    copy_packages "$root/package"
    while IFS= read -r step; do
        case $step in
            FROM*) ;;
            RUN*) check "the container: ${step##* && } ends the step" inside sh -c "$(sed 's/^RUN *//; s/--mount=[^ ]* *//' <<<"$step")" ;;
            USER*) user=${step#USER } ;;
            ENTRYPOINT*) entry=$(jq -r '.[]' <<<"${step#ENTRYPOINT }") ;;
            CMD*) arguments=$(jq -r '.[]' <<<"${step#CMD }") ;;
            ?*) check "the container: the step '$step' is known" false ;;
        esac
    done < <(steps)
    rm -r "$root/package"
    check "the container: its program runs as its user" \
        inside setpriv --reuid "${user%:*}" --regid "${user#*:}" --clear-groups "$entry" "$arguments"
    install -d -o "${user%:*}" -g "${user#*:}" "$root/mnt/results"
    check "the container: it filters a picture of each kind" inside setpriv --reuid "${user%:*}" --regid "${user#*:}" \
        --clear-groups "$entry" run /mnt/comet.png /mnt/gradient.{webp,tiff,gif,bmp,avif,jxl,jpeg} --output /mnt/results
    before=$(($(megabytes) - before))
    check "the container: it takes at most 200 MB more than its base ($before)" [ "$before" -le 200 ]
    check "the container: the packages are removed for what follows" \
        inside apt-get purge --yes --auto-remove "${packages[@]}"
    check "... and the lists are there again" inside apt-get update
}

# Without what apt keeps, which an image of Debian is set up not to keep.
megabytes() {
    du --summarize --one-file-system --block-size=1000000 --exclude=var/cache/apt --exclude=var/lib/apt/lists "$root" |
        cut -f 1
}

main "${3:-}"
