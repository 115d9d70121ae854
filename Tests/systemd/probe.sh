#!/usr/bin/env bash
# probe.sh FINDINGS
#
# DownloadAttempts, from inside a service's sandbox, what an attacker who has taken over the daemon would, and writes a line
# `NAME yes` or `NAME no` for each attempt into the file FINDINGS: whether it was possible. service.sh runs it as the first
# command of the real unit, and compares. Nothing that it tries is harmful where it is possible, for it runs inside
# boot.sh.
set -u

# try NAME COMMAND [ARGUMENT]...
try() {
    local name=$1 verdict=no
    shift
    ! "$@" >/dev/null 2>&1 || verdict=yes
    echo "$name $verdict"
}

# can_open FAMILY TYPE: a socket of this address family, by its number in Linux.
can_open() { perl -e 'socket(my $s, $ARGV[0] + 0, $ARGV[1] + 0, 0) or exit 1' "$1" "$2"; }

# A page that can be written and run: by mmap(2), or made so afterwards by mprotect(2).
can_map_code() {
    perl -e 'my $p = syscall(9, 0, 4096, $ARGV[0] + 0, 0x22, -1, 0); exit 1 if $p == -1; exit 0 if $ARGV[0] != 3;
        exit(syscall(10, $p, 4096, 5) == 0 ? 0 : 1)' "$1"
}

# The first of any processes but those of this sandbox.
sees_process_1() { [ -e /proc/1 ]; }

runs_copy() { # FOLDER
    cp /bin/true "$1/probe-program" && chmod 700 "$1/probe-program" && "$1/probe-program"
    local status=$?
    rm -f "$1/probe-program"
    return $status
}

# Of a file of one's own in the spool.
changes() { # COMMAND [ARGUMENT]...
    local file=$spool/tmp/probe-file status
    : >"$file" || return
    "$@" "$file"
    status=$?
    rm -f "$file"
    return $status
}

is_empty() { [ -z "$(ls -A "$1" 2>/dev/null)" ]; }
sees() { [ -e "$1" ]; }
lists() { ls "$1"; }
writes() { : >"$1"; }

probe() {
    try write-spool writes "$spool/tmp/probe-write"
    rm -f "$spool/tmp/probe-write"
    try write-cache writes "$CACHE_DIRECTORY/probe-write"
    rm -f "$CACHE_DIRECTORY/probe-write"
    local folder
    for folder in / /etc /etc/darkroom /usr/bin /var/lib /srv/pictures /run /sys /dev /dev/shm /dev/mqueue; do
        try "write-$folder" writes "$folder/probe-write"
    done
    try see-home lists /home/alice
    try see-root lists /root
    try see-tmp sees /tmp/outside
    try see-var sees /var/lib/dpkg
    try see-run sees /run/dbus
    try see-other-spool sees /var/spool/darkroom/inbox
    try family-unix can_open 1 1
    try family-inet can_open 2 1
    try family-inet6 can_open 10 1
    try family-netlink can_open 16 3
    try family-packet can_open 17 3
    try family-alg can_open 38 5
    try family-vsock can_open 40 1
    try namespace-user unshare --user true
    try namespace-mount unshare --mount true
    try namespace-net unshare --net true
    if [ "$(uname -m)" = x86_64 ]; then
        try map-readable can_map_code 1
        try map-code can_map_code 7
        try map-made-code can_map_code 3
    fi
    try setuid changes chmod 4755
    try setgid changes chmod 2755
    try own-mode changes chmod 600
    try chgrp changes chgrp darkroom
    try run-from-spool runs_copy "$spool/tmp"
    try run-from-tmp runs_copy /tmp
    try see-process-1 sees_process_1
    try see-memory-of-machine sees /proc/meminfo
    try see-tunables sees /proc/sys/kernel
    try device-null sees /dev/null
    try device-kmsg sees /dev/kmsg
    try device-mem sees /dev/mem
    try device-tty writes /dev/console
    try mknod changes sh -c 'mknod "$0-device" c 1 3'
    try mount mount -t tmpfs tmpfs /tmp
    try hostname hostname elsewhere
    try clock date --set '2001-01-01'
    try realtime chrt --fifo 1 true
    try personality setarch --addr-no-randomize true
    try signal-others kill -0 1
}

readonly findings=$1
readonly spool=${findings%/tmp/*}
probe >"$findings"
