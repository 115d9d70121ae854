#!/usr/bin/env bash
# boot.sh [--bind DIR]... COMMAND [ARGUMENT]...
#
# Boots a real systemd as process 1 of namespaces of its own, over a copy-on-write view of this
# machine's root, runs COMMAND in there, switches it off and leaves no trace. The whole takes about
# half a second. DIR is visible inside at the same path, live and writable; everything else that is
# written inside goes to memory and is gone with it.
#
# Exit status: the command's; 125 if the system did not come up (its console is then printed);
# 64 for a wrong command line. Needs root, and a kernel that lets it mount and make namespaces.
set -euo pipefail

readonly UNSHARE=(unshare --mount --pid --uts --ipc --cgroup --net)
readonly ENTER=(nsenter --mount --pid --uts --ipc --cgroup --net --root)
# Lies in the new system's /run: whoever sees it is past the change of root.
readonly MARKER=/run/darkroom-boot

main() {
    case ${1:-} in
        --outside) shift && outside "$@" ;;
        --inside) shift && inside "$@" ;;
        *) enter_private_mounts "$@" ;;
    esac
}

# --- The host's side -------------------------------------------------------------------------

# Goes on in a mount namespace of its own, so that no mount made here is seen by the host or
# outlives this script, however it ends.
enter_private_mounts() {
    work=$(mktemp -d "${TMPDIR:-/tmp}/darkroom-boot.XXXXXX")
    export work
    exec unshare --mount --propagation private bash "$0" --outside "$@"
}

outside() {
    binds=()
    while [ "${1:-}" = --bind ]; do
        binds+=("$(readlink -f "$2")")
        shift 2
    done
    [ $# -gt 0 ] || { echo "usage: boot.sh [--bind DIR]... COMMAND [ARGUMENT]..." >&2; exit 64; }

    trap switch_off EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    make_cgroup
    mkdir "$work/root"
    start_system
    wait_until_up

    local status=0
    "${ENTER[@]}" --target "$system" env --chdir=/ "$@" || status=$?
    exit "$status"
}

# A cgroup for the new system, which will take it for the root of the tree. The hierarchy is mounted
# afresh, because the host may have it elsewhere (hybrid), read-only or not at all.
make_cgroup() {
    local own
    mkdir "$work/cgroups"
    mount -t cgroup2 cgroup2 "$work/cgroups"
    own=$(sed -n 's/^0:://p' /proc/self/cgroup)
    cgroup=$work/cgroups${own%/}/${work##*/}
    mkdir "$cgroup"
}

# Starts the other half of this script as process 1. It dies with this one (pdeathsig), and what it
# has started dies with it, being in its process namespace.
start_system() {
    (
        echo "$BASHPID" >"$cgroup/cgroup.procs"
        exec setpriv --pdeathsig KILL "${UNSHARE[@]}" --fork --kill-child=KILL \
            bash "$0" --inside "${binds[@]}"
    ) </dev/null >"$work/console" 2>&1 &
    starter=$!
}

wait_until_up() {
    local state started=$SECONDS
    until is_up; do
        kill -0 "$starter" 2>/dev/null || did_not_boot "its first process ended"
        # It takes half a second, but a machine may have much else to do.
        ((SECONDS - started < 600)) || did_not_boot "systemd did not answer within ten minutes"
        sleep 0.02
    done
    state=$("${ENTER[@]}" --target "$system" systemctl is-system-running --wait 2>&1) ||
        did_not_boot "$state"
}

is_up() {
    system=$(cat "/proc/$starter/task/$starter/children" 2>/dev/null) && system=${system% } && [ -n "$system" ] &&
        "${ENTER[@]}" --target "$system" test -e "$MARKER" -a -S /run/systemd/private 2>/dev/null
}

did_not_boot() {
    echo "boot.sh: the system did not come up: $1" >&2
    sed 's/^/    /' "$work/console" >&2
    exit 125
}

switch_off() {
    trap '' INT TERM HUP
    set +e
    if [ -n "${starter:-}" ]; then
        # systemd(1): SIGRTMIN+4 starts poweroff.target.
        kill -s RTMIN+4 "${system:-$starter}" 2>/dev/null
        for ((tries = 0; tries < 200; tries++)); do
            kill -0 "$starter" 2>/dev/null || break
            sleep 0.05
        done
        kill -s KILL "$starter" 2>/dev/null
        wait "$starter" 2>/dev/null
    fi
    [ -z "${cgroup:-}" ] || find "$cgroup" -depth -type d -exec rmdir {} \; 2>/dev/null
    umount "$work/cgroups" 2>/dev/null
    rm -rf --one-file-system "$work"
}

# --- The new system's side -------------------------------------------------------------------

inside() {
    root=$work/root
    overlay_root
    mount_kernel_filesystems
    make_devices
    hide_units
    local directory
    for directory in "$@"; do
        mkdir -p "$root$directory"
        mount --bind "$directory" "$root$directory"
    done
    touch "$root$MARKER"
    change_root
}

# The machine's root with everything that is written going to a tmpfs. Other file systems mounted
# below the root do not show through, which is what --bind is for.
overlay_root() {
    local upper=$work/upper directory
    mkdir "$upper"
    mount -t tmpfs -o mode=755 darkroom-boot "$upper"
    mkdir "$upper/files" "$upper/work"
    mount -t overlay -o "lowerdir=/,upperdir=$upper/files,workdir=$upper/work" overlay "$root"
    for directory in run:755 dev:755 tmp:1777 var/tmp:1777 var/log:755; do
        mount -t tmpfs -o "nosuid,mode=${directory#*:}" tmpfs "$root/${directory%:*}"
    done
}

mount_kernel_filesystems() {
    mount -t proc -o nosuid,nodev,noexec proc "$root/proc"
    # Without this, systemd raises limits such as fs.file-max, and they are the host's.
    mount --bind "$root/proc/sys" "$root/proc/sys"
    mount -o remount,bind,ro "$root/proc/sys"
    mount -t sysfs -o nosuid,nodev,noexec,ro sysfs "$root/sys"
    mount -t cgroup2 -o nosuid,nodev,noexec cgroup2 "$root/sys/fs/cgroup"
}

make_devices() {
    local device link
    for device in null zero full random urandom tty; do
        touch "$root/dev/$device"
        mount --bind "/dev/$device" "$root/dev/$device"
    done
    mkdir "$root"/dev/{pts,shm}
    mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs "$root/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$root/dev/pts"
    ln -s pts/ptmx "$root/dev/ptmx"
    for link in fd: stdin:/0 stdout:/1 stderr:/2; do
        ln -s "/proc/self/fd${link#*:}" "$root/dev/${link%:*}"
    done
    touch "$root/dev/console"
    mount --bind "$work/console" "$root/dev/console"
}

# Leaves of the machine's units those that the journal needs. Every service wants sysinit.target and
# sockets.target, so emptying what these pull in is the least that keeps udev, modules, swap and
# the machine's own services from starting.
hide_units() {
    local units=$root/usr/lib/systemd directory socket
    for directory in "$root/etc/systemd/system" "$units/system-generators" \
        "$units"/system/{sysinit,sockets,timers}.target.wants; do
        mount -t tmpfs -o nosuid,mode=755 tmpfs "$directory"
    done
    ln -s ../systemd-journald.service "$units/system/sysinit.target.wants/"
    for socket in systemd-journald.socket systemd-journald-dev-log.socket; do
        ln -s "../$socket" "$units/system/sockets.target.wants/"
    done
    # The audit socket is one for the whole machine.
    ln -s /dev/null "$root/etc/systemd/system/systemd-journald-audit.socket"
    : >"$root/etc/fstab"
    mkdir -p "$root/etc/systemd/journald.conf.d"
    printf '[Journal]\nStorage=volatile\n' >"$root/etc/systemd/journald.conf.d/zz-darkroom-boot.conf"
}

change_root() {
    cd "$root"
    mkdir tmp/.old
    pivot_root . tmp/.old
    umount --lazy /tmp/.old
    rmdir /tmp/.old
    # Services get mounts of their own by propagation from the root.
    mount --make-rshared /
    exec chroot . /usr/bin/env --ignore-environment container=darkroom-boot LANG=C.UTF-8 \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        /lib/systemd/systemd --system --unit=basic.target --show-status=0 \
        </dev/null >/dev/console 2>&1
}

main "$@"
