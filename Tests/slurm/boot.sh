#!/usr/bin/env bash
# boot.sh [--bind FROM=TO]... COMMAND [ARGUMENT]...
#
# Boots a real Slurm of two nodes in namespaces of its own, runs COMMAND in there as root and leaves no trace. It takes
# about three seconds. Both nodes, n1 and n2, are this machine with two processors each, so every path is shared between
# them, as on a cluster with a shared file system. /run is an empty file system in memory, where all state lies; FROM is
# visible in it at TO. The network has nothing but a loopback interface.
#
# COMMAND finds SLURM_CONF set, so sbatch, squeue and scontrol work. When it ends, or this script is killed in any way,
# the kernel ends every process in there and forgets the mounts.
#
# Exit status: the command's; 125 if Slurm did not come up (its logs are then printed); 64 for a wrong command line.
# Needs root, Debian's slurm-wlm and munge, and a kernel that lets it mount and make namespaces.
set -u -o pipefail

readonly FOLDER=/run/slurm-test
readonly NODES=(n1 n2)
export SLURM_CONF=$FOLDER/slurm.conf

main() {
    if [ "${1:-}" = --inside ]; then
        shift
        inside "$@"
    else
        outside "$@"
    fi
}

# --- The host's side -------------------------------------------------------------------------

# Waits for the other half of this script, which is process 1 of its namespace. It dies with this one (pdeathsig), and
# what it has started dies with it.
outside() {
    [ $# -gt 0 ] || { echo "usage: boot.sh [--bind FROM=TO]... COMMAND [ARGUMENT]..." >&2; exit 64; }
    trap 'end 130' INT
    trap 'end 143' TERM HUP
    setpriv --pdeathsig KILL \
        unshare --mount --propagation private --pid --mount-proc --net --uts --ipc --fork --kill-child=KILL \
        bash "${BASH_SOURCE[0]}" --inside "$@" <&0 &
    starter=$!
    wait "$starter"
}

end() {
    kill -KILL "$starter" 2>/dev/null
    wait "$starter" 2>/dev/null
    exit "$1"
}

# --- The side of Slurm -----------------------------------------------------------------------

inside() {
    local from to
    hostname cluster
    # Before /run is covered: what lies in it may be wanted.
    exec {old}</run
    mount -t tmpfs -o nosuid,mode=755 tmpfs /run
    while [ "${1:-}" = --bind ]; do
        from=${2%%=*} to=${2#*=}
        [[ $from != /run/* ]] || from=/proc/self/fd/$old${from#/run}
        mkdir -p "$to" && mount --bind "$from" "$to" || exit 125
        shift 2
    done
    exec {old}<&-
    mkdir "$FOLDER"
    make_network
    start_munge
    write_configuration
    start_daemons
    "$@"
    # Process 1 takes all others along.
    exit
}

# A network of one interface, lo, by ioctl(2), for there need be no ip(8): SIOCSIFFLAGS with IFF_UP, IFF_LOOPBACK and
# IFF_RUNNING, then SIOCSIFADDR. Slurm asks the resolver for addresses of families that the machine has, for which
# loopback addresses do not count, so lo gets another one (RFC 5737).
make_network() {
    perl -e '
        socket(my $socket, 2, 2, 0) or die "socket: $!\n";
        my $up = pack("a16 s x22", "lo", 0x49);
        ioctl($socket, 0x8914, $up) or die "lo: $!\n";
        my $address = pack("a16 S n C4 x16", "lo:1", 2, 0, 192, 0, 2, 1);
        ioctl($socket, 0x8916, $address) or die "lo:1: $!\n";' || exit 125
    echo "127.0.0.1 localhost cluster" >"$FOLDER/hosts"
    mount --bind "$FOLDER/hosts" /etc/hosts || exit 125
}

start_munge() {
    mkdir "$FOLDER/munge"
    head -c 1024 /dev/urandom >"$FOLDER/munge.key"
    chmod 600 "$FOLDER/munge.key"
    chown munge "$FOLDER/munge.key" "$FOLDER/munge"
    setpriv --reuid munge --regid munge --clear-groups "$(command -v munged)" --force \
        --key-file "$FOLDER/munge.key" --socket "$FOLDER/munge/socket" --pid-file "$FOLDER/munge/pid" \
        --seed-file "$FOLDER/munge/seed" --log-file "$FOLDER/munge/log" 2>"$FOLDER/munge.log" || did_not_boot
}

# Short intervals, so that nobody waits for a scheduler, and nodes as they are written here, whatever the machine has;
# otherwise what an administrator begins with.
write_configuration() {
    local node port=7001
    mkdir "$FOLDER/state"
    {
        cat <<CONF
ClusterName=test
SlurmctldHost=cluster(127.0.0.1)
SlurmctldPort=7000
AuthType=auth/munge
AuthInfo=socket=$FOLDER/munge/socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$FOLDER/state
SlurmdSpoolDir=$FOLDER/spool-%n
SlurmctldPidFile=$FOLDER/slurmctld.pid
SlurmdPidFile=$FOLDER/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
JobCompType=jobcomp/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SlurmdParameters=config_overrides
CONF
        for node in "${NODES[@]}"; do
            echo "NodeName=$node NodeHostname=cluster NodeAddr=127.0.0.1 Port=$port CPUs=2 RealMemory=500 State=UNKNOWN"
            port=$((port + 1))
        done
        echo "PartitionName=test Nodes=$(IFS=,; echo "${NODES[*]}") Default=YES MaxTime=INFINITE State=UP"
    } >"$SLURM_CONF"
}

start_daemons() {
    local node started=$SECONDS
    slurmctld -D >"$FOLDER/slurmctld.log" 2>&1 </dev/null &
    for node in "${NODES[@]}"; do slurmd -D -N "$node" >"$FOLDER/slurmd-$node.log" 2>&1 </dev/null & done
    until [ "$(sinfo --noheader --format %D --states idle 2>/dev/null)" = "${#NODES[@]}" ]; do
        # It takes two seconds, but a machine may have much else to do.
        ((SECONDS - started < 600)) || did_not_boot
        sleep 0.1
    done
}

did_not_boot() {
    echo "boot.sh: Slurm did not come up" >&2
    tail -n 20 "$FOLDER"/*.log | sed 's/^/    /' >&2
    exit 125
}

main "$@"
