#!/usr/bin/env bash
# Builds Darkroom and runs its tests:
#   bash Tests/run.sh [lint|unit|exact|instructions|e2e|faults|tsan|fuzz|outside|package|releases|systemd|slurm|suite]...
#
# Without arguments, everything but `suite`, which reads the test pictures of another project and downloads them first.
# FUZZ_SECONDS is how long each of Tests/fuzz runs, by itself 15 for a codec and 5 for others; FAULT_KILLS how often a
# daemon is killed at a random moment, 100 by itself; DAMAGED_PICTURES how many of each codec a daemon gets, 100 by itself;
# MANY_PICTURES how many sound ones go through one daemon, 2000 by itself. With REPRODUCE=1, the Debian package is built
# again in another folder and compared byte for byte, which takes as long as a release.
# Missing Debian packages are installed, with sudo where this is not root; scikit-image, from Python's index, only in .build.
# The last line sums up: N passed, N failed, N skipped. Exits 1 if anything failed.
#
# Most tests wait, for daemons and for the disk. So several parts go on beside each other. What only needs processors has
# a lower priority. Each line begins with the minutes and seconds since the start.
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
# shellcheck source=etc/packages.sh
. etc/packages.sh
# shellcheck source=etc/release.sh
. etc/release.sh
# shellcheck source=Tests/Codecs/build.sh
. Tests/Codecs/build.sh

readonly LOGS=.build/test-logs
# One for release, without optimisation: in a build for debugging the parser of command lines checks the definition of each
# command at each start, which takes longer than most of them. A report names lines; more for a debugger would take longer
# to build. For the last option see Package.swift.
readonly TSAN=.build-tsan TSAN_BUILD=(
    --configuration release --scratch-path .build-tsan --sanitize=thread -Xcc -O1 -Xswiftc -Onone -Xswiftc -enable-testing
    -Xswiftc -gline-tables-only -Xswiftc -no-emit-module-separately-wmo -Xswiftc -use-ld=lld
)
readonly PACKAGES=.build/packages
# The programs as they are packaged, which the tests start: Swift's libraries are in the program, so it starts in half the
# time, and the codec programs need none.
readonly LINKED=$RELEASE/linked
passed=0 failed=0 skipped=0
# What goes on beside, by its name: the process, which leads a group of its own.
declare -A beside=()
# What is in memory for the folders of tests: these, or the image that they are in.
memory_folder=
# What starts tests with mounts of their own.
apart=()

main() {
    local part
    parts=("$@")
    [ $# -gt 0 ] || parts=(lint unit exact instructions e2e faults tsan fuzz outside package releases systemd slurm)
    for part in "${parts[@]}"; do
        case $part in
            lint | unit | exact | instructions | e2e | faults | tsan | fuzz | outside | package | releases | systemd | slurm | suite) ;;
            *) echo "usage: bash Tests/run.sh [lint|unit|exact|instructions|e2e|faults|tsan|fuzz|outside|package|releases|systemd|slurm|suite]..." >&2; exit 64 ;;
        esac
    done
    prepare || { failed=1; sum_up; }
    trap clean_up EXIT
    if [ "${#parts[@]}" -gt 1 ]; then
        # The programs need nothing of what is installed for the tests, which takes one processor.
        ! needs_tested || start_beside programs normal build_tested unit
        install_test_packages || { failed=1; sum_up; }
        # What is booted mostly waits. The thread sanitizer takes longest: its build, and then its tests, one at a time.
        start_beside booted normal booted_parts
        start_beside quiet normal quiet_parts
        ! needs_tested || join_beside programs
        start_beside tsan normal run_when_built tsan
        run unit
        start_beside outside idle run outside
        ! needs_tested || start_beside exact idle run exact
        start_beside faults normal run faults suite
        run e2e
        start_beside fuzz low run_when_built fuzz
        join_beside faults
        join_beside booted
        join_beside tsan
        join_beside quiet
        join_beside outside
        ! needs_tested || join_beside exact
        join_beside fuzz
    else
        install_test_packages || { failed=1; sum_up; }
        run "${parts[0]}"
    fi
    sum_up
}

# Does those of the parts that are wanted.
run() {
    local part
    for part in "$@"; do
        ! is_wanted "$part" || "part_$part"
    done
}

is_wanted() { [[ " ${parts[*]} " == *" $1 "* ]]; }

booted_parts() {
    await_tested
    ! needs_packages || build_packages systemd
    run systemd slurm releases
}

# First what the others wait for; then what needs nothing of the build that the tests wait for.
quiet_parts() {
    ! is_wanted tsan || build_tsan
    take_priority idle
    ! is_wanted fuzz || build_fuzz
    run lint instructions
    await_tested
    # One builds in the folder of the release at a time.
    ! needs_packages || await_beside booted packages
    ! { is_wanted systemd || is_wanted slurm; } || await_beside booted tested
    run package
    # No other part has built its program.
    needs_tested || run exact
}

# run_when_built PART: one that the quiet parts build.
run_when_built() {
    ! is_wanted "$1" || await_beside quiet "$1"
    run "$1"
}

# Whether a part needs the programs that are built with the tests.
needs_tested() { is_wanted unit || is_wanted e2e || is_wanted faults || is_wanted suite; }

needs_packages() { { is_wanted systemd || is_wanted releases; } && ! why_no_systemd >/dev/null; }

prepare() {
    mkdir -p "$LOGS"
    rm -f "$LOGS"/{built,failed}-* "$LOGS"/{times,failures}
    install_packages < <(missing_build_packages) || return 1
    require_swift || return 1
    pin_dependencies || return 1
    # Debian keeps nginx and systemd's tools where only administrators have their PATH.
    PATH=$PATH:/usr/sbin:/sbin
}

install_test_packages() {
    install_packages < <(missing_test_packages; ! is_wanted suite || missing_suite_packages) || return
    ! is_wanted unit || install_judge
}

# Debian's scikit-image needs 50 packages that nothing else here does. So it comes from Python's index; from Debian where
# the index, or that Python, has none.
install_judge() {
    judges .build/judge/bin/python || judges /usr/bin/python3 || make_judge .build/judge ||
        install_packages < <(echo python3-skimage)
}

make_judge() { # FOLDER
    rm -rf "$1"
    /usr/bin/python3 -m venv "$1" && "$1/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-compile \
        --only-binary :all: --require-hashes --requirement Tests/judge/requirements.txt && judges "$1/bin/python"
} >"$LOGS/judge.log" 2>&1

sum_up() {
    dearest
    # Once more, for the end of a long output is what is read first.
    cat "$LOGS/failures" 2>/dev/null
    echo "$passed passed, $failed failed, $skipped skipped"
    [ "$failed" -eq 0 ]
    exit
}

# --- Beside each other -------------------------------------------------------------------------

# start_beside NAME PRIORITY COMMAND [ARGUMENT]...: begins something that counts and reports as parts do.
start_beside() {
    local name=$1 priority=$2
    shift 2
    rm -f "$LOGS/beside-$name".*
    # As a job of its own it is a process group, which can be ended whole.
    set -m
    (
        # What this has begun beside itself ends with it.
        trap 'trap - TERM; clean_up; exit 143' TERM
        take_priority "$priority"
        passed=0 failed=0 skipped=0
        "$@"
        echo "$passed $failed $skipped" >"$LOGS/beside-$name.counts"
    ) >"$LOGS/beside-$name.said" 2>&1 </dev/null &
    set +m
    beside[$name]=$!
}

# take_priority idle|low|normal: for this shell and all that it starts. A build that may wait is idle: a nice value does not
# slow it, for Swift's package manager gives itself one of its own.
take_priority() {
    case $1 in
        idle) chrt --idle --pid 0 "$BASHPID" 2>/dev/null || take_priority low ;;
        low) renice -n 5 -p "$BASHPID" >/dev/null ;;
        normal) ;;
    esac
}

# await_beside NAME BUILT: waits until it has come to build that, or has ended.
await_beside() {
    until [ -e "$LOGS/built-$2" ] || [ -e "$LOGS/failed-$2" ] || ! kill -0 "${beside[$1]}" 2>/dev/null; do sleep 1; done
}

# Waits for it, shows what it had to say, and adds what it counted.
join_beside() {
    local name=$1 counts=()
    wait "${beside[$name]}"
    unset "beside[$name]"
    cat "$LOGS/beside-$name.said"
    { read -r -a counts <"$LOGS/beside-$name.counts"; } 2>/dev/null || counts=(0 1 0)
    passed=$((passed + counts[0]))
    failed=$((failed + counts[1]))
    skipped=$((skipped + counts[2]))
}

clean_up() {
    local name
    for name in "${!beside[@]}"; do kill -TERM -- "-${beside[$name]}" 2>/dev/null; done
    [ -z "$memory_folder" ] || drop_memory_folder
}

# Runs tests that are not about the disk. Their folders are in memory, for a disk would have to make and to remove tens of
# thousands of small files.
in_memory() {
    if make_memory_folder 4096; then with_folders_in "$memory_folder" "$@"; else "$@"; fi
}

# Runs the tests of the real daemon. Where an image can be mounted, their folders are in one of ext4 in memory, which only
# they see. It has a journal: ext4 without one gives out no inode that was removed lately, and looks at each of those for
# every new file.
on_image() {
    local apart=()
    if ! make_memory_folder 8192 || ! make_image; then
        say e2e "no image can be mounted in memory: the folders are on the disk"
        "$@"
        return
    fi
    # Once it is mounted it needs no name, and nothing is left of it however the tests end.
    # shellcheck disable=SC2016 # The shell that mounts it expands them.
    apart=(unshare --mount bash -c
        'mount -o loop "$1/image" "$1/disk" && rm "$1/image" && chmod 1777 "$1/disk" && shift && exec "$@"' bash "$memory_folder")
    with_folders_in "$memory_folder/disk" "$@"
}

# make_memory_folder MEGABYTES: fails if there is less room, or if no program may be started from there.
make_memory_folder() {
    local memory=/dev/shm room options
    room=$(df --output=avail --block-size=1M "$memory" 2>/dev/null | tail -n 1)
    options=$(findmnt --noheadings --output OPTIONS --target "$memory" 2>/dev/null)
    [ -w "$memory" ] && [ "${room:-0}" -ge "$1" ] && [[ ,$options, != *,noexec,* ]] || return
    memory_folder=$(mktemp -d "$memory/darkroom.XXXXXX") || return
    # Other users submit from there, too.
    chmod 1777 "$memory_folder" || { drop_memory_folder; return 1; }
}

# Makes the image, and tries whether it can be mounted. If not, removes the folder.
make_image() {
    mkdir "$memory_folder/disk" && truncate --size 4G "$memory_folder/image" && mkfs.ext4 -q -F "$memory_folder/image" &&
        unshare --mount mount -o loop "$memory_folder/image" "$memory_folder/disk" && return
    drop_memory_folder
    return 1
} 2>/dev/null

with_folders_in() { # FOLDER COMMAND [ARGUMENT]...
    local -x TMPDIR=$1
    local status
    shift
    "$@"
    status=$?
    drop_memory_folder
    return "$status"
}

# Removes it, but nothing that a killed test has left mounted there.
drop_memory_folder() {
    rm -rf --one-file-system "$memory_folder"
    memory_folder=
}

# --- Reporting -------------------------------------------------------------------------------

say() {
    printf '%2d:%02d %-8s %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$1" "$2"
    [[ $2 != FAILED* ]] || remember_failure <<<"$1 $2"
}

# Notes lines for the end; of something that failed as a whole, not more than can be read.
remember_failure() { head -n 10 | cut -c 1-200 >>"$LOGS/failures"; }

# check PART WHAT COMMAND [ARGUMENT]...: counts one check; shows the end of its output if it failed.
check() {
    local part=$1 what=$2
    shift 2
    clocked "$part" "$@" >"$LOGS/$part.log" 2>&1
    judge "$part" "$what" $?
}

# Tells which parts took the processors longest, and how long they took beside others.
dearest() {
    [ -e "$LOGS/times" ] || return
    awk '{ used[$3] += $1; took[$3] += $2 } END { for (part in used) print used[part], took[part], part }' "$LOGS/times" |
        sort -rn | head -n 12 | while read -r used took part; do say time "$used s of processors, $took s long: $part"; done
}

# clocked PART COMMAND [ARGUMENT]...: runs it, and notes what it took of the processors.
clocked() {
    local part=$1 status user system real TIMEFORMAT='%0U %0S %0R'
    shift
    # A shell of its own: one that goes on beside may end in between, and would count.
    { time ("$@" 2>&3); } 3>&2 2>"$LOGS/time-$part"
    status=$?
    read -r user system real <"$LOGS/time-$part"
    echo "$((user + system)) $real $part" >>"$LOGS/times"
    rm -f "$LOGS/time-$part"
    return "$status"
}

# judge PART WHAT STATUS: the same for a command that has ended and whose output is in the part's log.
judge() {
    local part=$1 what=$2 status=$3 log=$LOGS/$1.log
    if [ "$status" -eq 0 ]; then
        passed=$((passed + 1))
        return 0
    fi
    failed=$((failed + 1))
    say "$part" "FAILED: $what (all of it in $log)"
    tail -n 60 "$log" | sed 's/^/    /'
    return 1
}

# once NAME COMMAND [ARGUMENT]...: builds something once in a run, for all parts that need it. Where it has failed it is
# not tried again, and has been told of and counted.
once() {
    local name=$1
    shift
    [ ! -e "$LOGS/built-$name" ] || return 0
    [ ! -e "$LOGS/failed-$name" ] || return 1
    if "$@"; then
        touch "$LOGS/built-$name"
    else
        touch "$LOGS/failed-$name"
        return 1
    fi
}

# A build, too, counts if it fails; it is no test that could pass.
build() {
    local part=$1
    shift
    check "$part-build" "$@" || return
    passed=$((passed - 1))
}

# --- The parts -------------------------------------------------------------------------------

part_lint() {
    local before=$failed script page
    check lint "swift format" swift format lint --strict --recursive --parallel \
        Package.swift Sources Tests
    while IFS= read -r script; do
        check lint "bash -n $script" bash -n "$script"
        ! have shellcheck || check lint "shellcheck $script" shellcheck --external-sources --severity=warning "$script"
    done < <(scripts)
    for page in etc/man/*.[1-9]; do
        check lint "man --warnings $page" formats_cleanly "$page"
        ! have mandoc || check lint "mandoc -T lint $page" mandoc -T lint -W warning "$page"
    done
    check lint "comments and documents use the words of the table" bash Tests/words.sh
    check lint "folders of a target use each other one way" bash Tests/uses.sh
    check lint "only Picture has public declarations" only_picture_is_public
    check lint "files are read to their end, and arguments come from main" no_reader_of_foundation
    [ ! -e .git ] || check lint "nothing else is in the top folder" top_folder_is_tidy
    check lint "C compiles for arm64" compile_for_arm64
    [ "$failed" -ne "$before" ] || say lint "sources, scripts and manual pages are clean"
}

scripts() {
    printf '%s\n' .ci/run etc/*.sh etc/debian/{postinst,prerm,postrm} etc/slurm/*.sbatch Tests/*.sh Tests/*/*.sh
}

# Whether a page has a name and a line for apropos, and groff nothing to say of it.
formats_cleanly() {
    local warnings
    lexgrog "$1" || return
    warnings=$(LC_ALL=C.UTF-8 MANROFFSEQ='' man --warnings -E UTF-8 -l -Tutf8 -Z "$1" 2>&1 >/dev/null) || return
    [ -z "$warnings" ] || { printf '%s\n' "$warnings"; return 1; }
}

# Whether no other target shows anything to other packages, and none what it imports. Tests/fuzz/heads.swift is a program
# whose entry point libFuzzer looks for.
only_picture_is_public() {
    local found words='import|extension|final|static|class|struct|enum|actor|protocol|typealias|func|var|let|init|subscript'
    words+='|package|internal|private|indirect|mutating|consuming|borrowing|override|convenience|required|nonisolated|macro'
    found=$(
        grep -rnE "(^|[[:space:]])(public|open)[[:space:]]+($words)" --include='*.swift' Sources Tests |
            grep -vE '^Sources/Picture/|^Tests/fuzz/heads\.swift:|:[[:space:]]*//'
        grep -rnE '@_exported' --include='*.swift' Sources Tests
    )
    [ -z "$found" ] || { printf '%s\n' "$found"; return 1; }
}

# Whether Sources reads no file with Foundation, which takes a short read for the end: a page of a file of the kernel, or
# what is in a pipe. WholeFile and Directory read to the end, and have a limit. Swift reads arguments from /proc, which a
# chroot may lack; CDarkroomEntry has those of main().
no_reader_of_foundation() {
    local found words='(Data|String|NSData|NSString|NSDictionary|NSArray)\(contentsOf|contentsOfFile:|\.contents\(atPath:'
    words+='|readToEnd|readDataToEndOfFile|availableData|read\(upToCount:|readData\(ofLength:|FileHandle\(|InputStream\(|readLine\('
    words+='|CommandLine\.|\.processInfo\.arguments'
    found=$(grep -rnE "$words" --include='*.swift' Sources | grep -vE ':[[:space:]]*//')
    [ -z "$found" ] || { printf '%s\n' "$found"; return 1; }
}

# Whether no product of a compiler, nor anything else by mistake, has been committed.
top_folder_is_tidy() {
    local found known='\.ci|\.gitignore|\.swift-format|Package\.swift|README\.md|Sources|Tests|etc|systemd'
    found=$(git ls-files | cut -d/ -f1 | sort -u | grep -vxE "$known")
    [ -z "$found" ] || { printf '%s\n' "$found"; return 1; }
}

# The C sources against Debian's headers for arm64. Headers of the libraries are the same for each architecture, except
# the folders where Debian keeps libjpeg's configuration and those of libcurl.
compile_for_arm64() {
    local target headers=$LOGS/arm64 libc=/usr/aarch64-linux-gnu/include
    mkdir -p "$headers"
    cp -r "/usr/include/$(uname -m)-linux-gnu/"{jconfig.h,curl} "$headers/" || return 1
    for target in CPixels CDeflate CJpeg CCurl CShims CCodecWire CCodec CodecBMP CEntry; do
        clang_of_swift --target=aarch64-linux-gnu -std=gnu11 -fsyntax-only -Wall -Wextra -Werror \
            -nostdlibinc -isystem "$libc" -idirafter /usr/include -idirafter "$headers" \
            -ISources/CPixels/include -ISources/CDeflate/include -ISources/CJpeg/include -ISources/CShims/include \
            -ISources/CCurl/include -ISources/CEntry/include -ISources/CCodecWire/include -ISources/CCodec/include \
            Sources/"$target"/*.c ||
            return 1
    done
}

# Many compute without a pause. If all began at once, one that waits would have its turn after all the others.
part_unit() {
    local -x SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=16
    build_tested unit && in_memory run_suites unit "$RELEASE" '^Darkroom[A-Za-z]*Tests\.'
}

# Colour filters for every colour there is, in a build for release; and under sanitizers the paths of each
# kernel against each other at odd sizes, and the codecs with samples of each kind.
part_exact() {
    local kernels=.build/kernels-sanitized name sanitized=(Sources/CPixels/*.c) optimised=(Sources/CPixels/*.c)
    if [ -e "$LOGS/built-tested" ] || build exact build build_release exact; then
        run_lines exact "checks of every colour" "$(tested_products)/exact"
    fi
    # What the package manager and the fuzzers have compiled by the same options is not compiled again.
    [ ! -e "$LOGS/built-tested" ] || optimised=("$(tested_products)"/CDarkroomPixels.build/*.o)
    [ -z "${beside[quiet]:-}" ] || ! is_wanted fuzz || await_beside quiet fuzz
    if [ -e "$LOGS/built-fuzz" ]; then
        sanitized=("${sanitized[@]/#"Sources/CPixels/"/.build/fuzz/objects/}")
        sanitized=("${sanitized[@]/%.c/.o}")
    fi
    if build exact-kernels build clang_of_swift -std=c11 -O1 -gline-tables-only -Wall -Wextra -Werror -fuse-ld=lld \
        -fsanitize=address,undefined -fno-sanitize-recover=all -ISources/CPixels/include \
        Tests/callgrind/*.c "${sanitized[@]}" -lm -o "$kernels"; then
        run_lines exact-kernels "kernels the same in scalar, AVX2 and AVX-512" "$kernels" compare
    fi
    if build exact-colours build clang_of_swift -std=gnu11 -O2 -Wall -Wextra -Werror -ISources/CPixels/include \
        Tests/Colour/lcms2.c "${optimised[@]}" -llcms2 -lm -o .build/colours; then
        run_lines exact-colours "conversions of colours beside lcms2" .build/colours
    fi
    for name in "${CODECS[@]}"; do
        if build "exact-$name" build build_codec_test clang_of_swift "$name" Tests/Codecs/check.c ".build/codec-$name-sanitized" \
            -O1 -fno-sanitize-recover=undefined -fsanitize=address,undefined; then
            run_lines "exact-$name" "samples of the codec $name" ".build/codec-$name-sanitized"
        fi
    done
}

part_instructions() {
    local clang
    clang=$(clang_of_swift -print-prog-name=clang)
    run_lines instructions "instruction counts" bash Tests/callgrind/count.sh "$clang" .build/callgrind
}

part_e2e() {
    local -x TEST_DARKROOM=$PWD/$LINKED/darkroom TEST_DARKROOMD=$PWD/$LINKED/darkroomd
    build_tested e2e && on_image run_suites e2e "$RELEASE" '^EndToEndTests\.'
}

# The daemon's self-test, as an administrator may run it, with more kills; then calls that fail, full disks
# and trouble with the inbox.
part_faults() {
    local programs=$PWD/$LINKED shim=$PWD/.build/faults-shim.so codec_shim=$PWD/.build/faults-codec-shim.so work apart=()
    build_tested faults || return
    build faults "Tests/Faults/shim.c" clang_of_swift -std=gnu11 -Wall -Wextra -Werror -O1 -shared -fPIC -o "$shim" \
        Tests/Faults/shim.c || return
    build faults "Tests/Faults/codec_shim.c" clang_of_swift -std=gnu11 -Wall -Wextra -Werror -O1 -shared -fPIC \
        -o "$codec_shim" Tests/Faults/codec_shim.c || return
    work=$(mktemp -d)
    # In a namespace of its own nothing stays mounted, however it ends.
    if unshare --mount true 2>/dev/null; then apart=(unshare --mount); fi
    # One daemon is killed after the other, which leaves room for others that wait.
    start_beside kills normal run_lines faults-kills "checks by darkroomd --self-test" \
        "$programs/darkroomd" --self-test "$work" --kills "${FAULT_KILLS:-100}"
    run_lines faults "kinds of faults" "${apart[@]}" "$(tested_products)/faults" \
        --darkroomd "$programs/darkroomd" --shim "$shim" --codec-shim "$codec_shim" --folder "$work"
    codec_pictures "$programs" "$work"
    join_beside kills
    grep -h '^ok .*, lost [0-9]' "$LOGS"/faults{-kills,}.log | sed 's/^ok */               /'
    rm -rf "$work"
}

# Damaged pictures of each codec, beside sound ones; then many sound ones.
codec_pictures() { # PROGRAMS WORK
    local name tools=$2/tools
    mkdir "$tools"
    build faults "Tests/Codecs/mutate.c" clang_of_swift -std=gnu11 -Wall -Wextra -Werror -O1 -o "$tools/mutate" \
        Tests/Codecs/mutate.c || return
    for name in "${CODECS[@]}"; do
        build faults "samples of $name" build_codec_test clang_of_swift "$name" Tests/Codecs/check.c "$tools/check-$name" -O1 ||
            return
    done
    run_lines faults-pictures "checks of a daemon with damaged pictures" \
        bash Tests/Codecs/daemon.sh "$1" "$tools" "$PWD/etc/samples/pictures/moon.png" "${DAMAGED_PICTURES:-100}"
    run_lines faults-many "checks of a daemon with many pictures" \
        bash Tests/Codecs/many.sh "$1" "$tools" "$PWD/etc/samples/pictures/moon.png" "${MANY_PICTURES:-2000}"
}

part_tsan() {
    local scratch=$TSAN reports=$LOGS/tsan-reports
    build_tsan || return
    rm -rf "$reports"
    mkdir -p "$reports"
    run_under_sanitizer
    check tsan-reports "no race is reported" no_reports "$reports"
}

build_tsan() { once tsan tsan_suites; }

# The files of tests that are not run under it.
tests_left_out() { bash Tests/tagged.sh concurrency --others | paste -sd :; }

tsan_suites() {
    local -x DARKROOM_TESTS_LEFT_OUT
    DARKROOM_TESTS_LEFT_OUT=$(tests_left_out)
    build_suites tsan "${TSAN_BUILD[@]}" &&
        build tsan "Tests/tsan/mutex.c" clang_of_swift -std=c11 -Wall -Wextra -Werror -O1 \
            -shared -fPIC -o "$TSAN/mutex.so" Tests/tsan/mutex.c
}

# Every process, the tests' and each daemon, writes what the sanitizer has to say into a file of its
# own. One test at a time: they depend on each other's speed enough as it is.
run_under_sanitizer() {
    local -x LD_PRELOAD=$PWD/$scratch/mutex.so
    # Swift's own report of a crash would wait for ever for a process that the sanitizer has stopped.
    local -x SWIFT_BACKTRACE=enable=no
    local -x TSAN_OPTIONS="halt_on_error=0 exitcode=66 log_path=$PWD/$reports/process"
    local -x DARKROOM_TESTS_LEFT_OUT
    local tests
    DARKROOM_TESTS_LEFT_OUT=$(tests_left_out)
    tests=$(bash Tests/tagged.sh concurrency) || { check tsan-tests "the tests to run are known" false; return; }
    in_memory run_suites tsan "$TSAN" "$tests" --no-parallel
}

no_reports() { [ -z "$(ls -A "$1")" ] || { cat "$1"/*; return 1; }; }

# Each C file of Tests/fuzz is a program that throws made-up inputs at the C parts, built for the
# purpose with the sanitizers, codec.c once for each codec; the Swift file does so to what reads response
# heads and hosts. An input that breaks one is left in .build/fuzz, as is all that it has learned (corpus/),
# from where the next run goes on. There are as many at a time as there are processors; beside other parts they have
# what these leave.
part_fuzz() {
    local work=.build/fuzz name before=$failed at_a_time
    local -A running=()
    build_fuzz
    at_a_time=$(nproc)
    # The longest first, so that no processor waits for one of them at the end.
    for name in "${CODECS[@]/#/codec-}" Tests/fuzz/*.{c,swift}; do
        name=$(basename "${name%.*}")
        [ -x "$work/$name" ] || continue
        [ ${#running[@]} -lt "$at_a_time" ] || await_fuzzer
        start_fuzzer "$name"
    done
    while [ ${#running[@]} -gt 0 ]; do await_fuzzer; done
    [ "$failed" -ne "$before" ] || say fuzz "nothing was found"
}

start_fuzzer() { # NAME
    local dictionary=() seeds=() seconds=5 memory=2048
    mkdir -p "$work/corpus/$1"
    [[ $1 != codec-* ]] || seconds=15
    # libheif makes the canvas of an overlay before its pictures: gigabytes, which the limit of a child refuses.
    [ "$1" != codec-heif ] || { seeds=(Tests/Codecs/heic); memory=4096; }
    [ ! -e "Tests/fuzz/$1.dict" ] || dictionary=(-dict="Tests/fuzz/$1.dict")
    # Swift's own report of a crash would wait for the process that libFuzzer has stopped.
    SWIFT_BACKTRACE=enable=no "$work/$1" "${dictionary[@]}" -max_total_time="${FUZZ_SECONDS:-$seconds}" -max_len=20000 -timeout=20 \
        -rss_limit_mb="$memory" -artifact_prefix="$work/$1-" "$work/corpus/$1" "${seeds[@]}" >"$LOGS/fuzz-$1.log" 2>&1 &
    running[$!]=$1
}

# Waits until one of those that run has ended, and tells what it found.
await_fuzzer() {
    local process name status log
    # The shell forgets for `wait -n` what ended before it is called, but not for a process that is named.
    while :; do
        for process in "${!running[@]}"; do
            kill -0 "$process" 2>/dev/null || break 2
        done
        sleep 0.2
    done
    wait "$process"
    status=$?
    name=${running[$process]} log=$LOGS/fuzz-${running[$process]}.log
    unset "running[$process]"
    if [ "$status" -ne 0 ] && is_of_a_library "$log"; then
        say fuzz "$name: a mistake of a library, which the confinement is for (all of it in $log)"
        status=0
    fi
    judge "fuzz-$name" "Tests/fuzz/$name" "$status" &&
        say fuzz "$name: $(sed -n 's/^Done \([0-9]*\) runs in \([0-9]*\) .*/\1 inputs in \2 s/p' "$log")"
}

# is_of_a_library LOG: whether the first function of a report that is ours or one of a codec's library is of the library, and
# no memory of ours is in the report.
is_of_a_library() {
    local their='/lib(webp|heif|tiff|gif|jxl|de265|dav1d|aom|x265|jpeg|zstd|lzma|jbig)[^/]*\.so'
    ! grep -qE '^failed: |in codec_allocate ' "$1" &&
        grep -E '^ +#[0-9]+ ' "$1" | grep -m 1 -E "/(Sources|Tests)/|$their" | grep -qE "$their"
}

build_fuzz() { once fuzz fuzz_programs; }

fuzz_programs() {
    local work=.build/fuzz source name
    local flags=(-std=gnu11 -Wall -Wextra -Werror -gline-tables-only -O1 -fno-sanitize-recover=undefined
        -ISources/CShims -ISources/CShims/include -ISources/CPixels -ISources/CPixels/include
        -ISources/CDeflate/include -ISources/CJpeg/include -ISources/CCodec -ISources/CCodec/include
        -ISources/CCodecWire/include)
    rm -rf "$work/objects"
    mkdir -p "$work/objects"
    build fuzz "the C parts, with sanitizers" fuzz_objects || return
    for source in Tests/fuzz/*.c; do
        name=$(basename "$source" .c)
        rm -f "$work/$name"
        [ "$name" != codec ] || continue
        build fuzz "$source" clang_of_swift "${flags[@]}" -fsanitize=fuzzer,address,undefined \
            "$source" "$work"/objects/*.o -o "$work/$name" -lpng16 -lz -ljpeg -ldeflate
    done
    for name in "${CODECS[@]}"; do
        rm -f "$work/codec-$name"
        build fuzz "Tests/fuzz/codec.c for $name" build_codec_test clang_of_swift "$name" Tests/fuzz/codec.c "$work/codec-$name" \
            -O1 -fno-sanitize-recover=undefined -fsanitize=fuzzer,address,undefined
    done
    rm -f "$work/heads"
    build fuzz Tests/fuzz/heads.swift fuzz_heads "$work/heads"
}

# The Swift files that need nothing but each other, so that the sanitizer sees them alone: those of Core as a module,
# for the others import it.
fuzz_heads() {
    local core=Sources/Core fetch=Sources/Fetch module=.build/fuzz/core
    local flags=(-swift-version 6 -warnings-as-errors -package-name darkroom -parse-as-library -O
        "-sanitize=fuzzer,address")
    mkdir -p "$module"
    swiftc "${flags[@]}" -module-name DarkroomCore -whole-module-optimization \
        -emit-module -emit-module-path "$module/DarkroomCore.swiftmodule" \
        -emit-object -o "$module/core.o" $core/{BinaryInteger+Digits,ByteString,CalendarDay,Hexadecimal,PercentEncoding,RedactedURL,String+Printable,UInt8+Digit}.swift || return
    swiftc "${flags[@]}" -use-ld=lld -module-name heads -I "$module" "$module/core.o" \
        $fetch/{HTTPDate,HTTPField,HTTPStatus,EntityTag,ContentRange,RetryAfter,CacheControl}.swift \
        $fetch/{ResponseHead,IPAddress,IPNetwork,AddressRules,HostName,HostRules,TextProblem}.swift \
        $fetch/{URLAuthority,Origin,ContentCoding,RedirectTarget,ReceivedCookies}.swift \
        Tests/fuzz/heads.swift -o "$1"
}

fuzz_objects() {
    local source
    for source in Sources/CShims/*.c Sources/CPixels/*.c Sources/CDeflate/*.c Sources/CJpeg/*.c Sources/CCodecWire/{loaded,quality}.c; do
        clang_of_swift "${flags[@]}" -fsanitize=fuzzer-no-link,address,undefined -c "$source" \
            -o "$work/objects/$(basename "$source" .c).o" || return
    done
}

# The test pictures of Pillow, as Pillow reads them. What it downloads stays in .build/suite.
part_suite() {
    build_tested suite && run_lines suite "pictures of the tests of Pillow" \
        bash Tests/suite/check.sh "$PWD/$LINKED/darkroom" "$PWD/.build/suite"
}

# Picture as another package sees it. It is built in the folder of the release, where the tests' build has compiled it.
part_outside() {
    await_tested
    run_lines outside "checks of a package from outside" bash Tests/outside/check.sh .build/outside
}

# The Debian package, held against what it should be and against one of the same sources: packed again from the same
# programs, or built elsewhere.
part_package() {
    local again packages make=package_again
    build_packages package || return
    [ -z "${REPRODUCE:-}" ] || make=package_elsewhere
    again=$(mktemp -d)
    if build package "again" "$make" "$again"; then
        mapfile -t packages < <(printf '%s\n' "$PACKAGES"/darkroom_*.deb | grep -v '+upgrade_')
        run_lines package "checks of the Debian packages" \
            bash Tests/package/check.sh "$PWD/${packages[0]}" "$again/${packages[0]##*/}" "$PWD"
    fi
    rm -rf "$again"
}

# The packages in roots of the releases that they are for.
part_releases() {
    local reason packages
    if reason=$(why_no_systemd); then
        leave_out releases "$reason"
        return
    fi
    build_packages releases || return
    mapfile -t packages < <(printf '%s\n' "$PACKAGES"/darkroom_*.deb | grep -v '+upgrade_')
    run_lines releases "checks of the packages on Debian 12 and 13" \
        bash Tests/package/releases.sh "$PWD/${packages[0]}" etc/Containerfile
}

# Compressing takes longest of all, and gives the same for the same. So what would be compressed is compared.
package_again() { DARKROOM_IS_COMPILED=1 DPKG_DEB_COMPRESSOR_TYPE=none bash etc/package.sh --output "$1"; }

build_packages() { once packages both_packages "$1"; } # PART

# The packages, and those of the same programs with a higher version for them to be upgraded to.
both_packages() { # PART
    local packages version
    local -x DARKROOM_IS_COMPILED=
    [ ! -e "$LOGS/built-tested" ] || DARKROOM_IS_COMPILED=1
    rm -rf "$PACKAGES"
    mkdir -p "$PACKAGES"
    build "$1" etc/package.sh bash etc/package.sh --output "$PACKAGES" || return
    packages=("$PACKAGES"/darkroom_*.deb)
    version=$(dpkg-deb --field "${packages[0]}" Version)
    # Nobody keeps this one, so no time is spent on its size.
    build "$1" "etc/package.sh --version" env DPKG_DEB_COMPRESSOR_TYPE=none \
        bash etc/package.sh --output "$PACKAGES" --version "$version+upgrade"
}

# Copies the sources, changes that are not committed included, and builds the package there.
package_elsewhere() {
    local -x SOURCE_DATE_EPOCH
    SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
    mkdir "$1/sources"
    git ls-files --cached --others --exclude-standard -z |
        xargs --null cp --parents --target-directory "$1/sources" &&
        bash "$1/sources/etc/package.sh" --output "$1"
}

part_systemd() {
    local reason
    if reason=$(why_no_systemd); then
        leave_out systemd "$reason"
        return
    fi
    build_tested systemd || return
    local stage script name
    stage=$(mktemp -d)
    stage_programs "$stage" darkroom
    mkdir "$stage/codecs"
    build systemd "the codec programs" build_codecs "$stage/codecs" || return
    build_packages systemd || return
    cp -r "$PACKAGES" "$stage/packages"
    # They mostly wait, so the longest go on beside the others.
    start_beside service normal under_systemd service
    start_beside codecs normal under_systemd codecs
    for script in Tests/systemd/*.sh; do
        name=$(basename "$script" .sh)
        case $name in boot | lib | probe | service | codecs) continue ;; esac
        under_systemd "$name"
    done
    join_beside service
    join_beside codecs
    rm -rf "$stage"
}

# Runs one of Tests/systemd in a system of its own, so that none finds what another has left.
under_systemd() { # NAME
    run_lines "systemd-$1" "checks under a booted systemd" \
        bash Tests/systemd/boot.sh --bind "$PWD" --bind "$stage" \
        bash "$PWD/Tests/systemd/$1.sh" "$PWD" "$stage"
}

# Shards on a cluster: by etc/slurm/darkroom.sbatch on a real Slurm, and as pods of Kubernetes and GNU parallel run
# them.
part_slurm() {
    local reason stage
    build_tested slurm || return
    stage=$(mktemp -d)
    stage_programs "$stage" darkroom starfield darkroom-codec-webp
    run_lines slurm-pods "checks of shards without Slurm" bash Tests/slurm/pods.sh "$PWD" "$stage"
    if reason=$(why_no_slurm); then
        leave_out slurm "$reason"
    else
        run_lines slurm "checks under a booted Slurm" \
            bash Tests/slurm/boot.sh --bind "$PWD=/run/repository" --bind "$stage=/run/stage" \
            bash /run/repository/Tests/slurm/test.sh /run/repository /run/stage
    fi
    rm -rf "$stage"
}

# Prints why there can be no Slurm of our own here; returns 1 if there can.
why_no_slurm() {
    local program
    if [ "$(id -u)" -ne 0 ]; then
        echo "booting a Slurm needs root"
        return
    fi
    for program in slurmctld slurmd sbatch munged; do
        have "$program" || { echo "there is no $program (slurm-wlm, munge)"; return; }
    done
    unshare --mount --pid --net --uts --ipc --fork true 2>/dev/null && return 1
    echo "the kernel lets this root make no namespaces (a container without privileges?)"
}

# leave_out PART WHY: on a machine that is there for testing, a test left out is a failure.
leave_out() {
    if [ "${CI:-}" = true ]; then
        failed=$((failed + 1))
        say "$1" "FAILED: it cannot be run here: $2"
    else
        skipped=$((skipped + 1))
        say "$1" "skipped: $2"
    fi
}

# run_lines PART WHAT COMMAND [ARGUMENT]...: runs something that prints a line for each check, which
# begins with `ok`, `FAIL` or `skip`, and counts them.
run_lines() {
    local part=$1 what=$2 log=$LOGS/$1.log ok bad left_out status
    shift 2
    clocked "$part" "$@" >"$log" 2>&1
    status=$?
    ok=$(grep -c '^ok ' "$log")
    bad=$(grep -c '^FAIL ' "$log")
    left_out=$(grep -c '^skip ' "$log")
    # A run that broke off, or that checked nothing, has failed whatever it printed.
    if [ "$bad" -eq 0 ] && { [ "$status" -ne 0 ] || [ "$ok" -eq 0 ]; }; then bad=1; fi
    passed=$((passed + ok))
    failed=$((failed + bad))
    skipped=$((skipped + left_out))
    grep '^skip ' "$log" | while IFS= read -r line; do say "$part" "skipped: ${line#skip }"; done
    if [ "$bad" -gt 0 ]; then
        say "$part" "FAILED: $bad $what (all of it in $log)"
        grep '^FAIL ' "$log" | remember_failure
        grep -v '^ok ' "$log" | tail -n 80 | sed 's/^/    /'
    else
        say "$part" "$ok $what passed"
    fi
}

# Prints why there can be no systemd of our own here; returns 1 if there can.
why_no_systemd() {
    if [ "$(id -u)" -ne 0 ]; then
        echo "booting a systemd needs root"
    elif ! unshare --mount --pid --uts --ipc --cgroup --net --fork true 2>/dev/null; then
        echo "the kernel lets this root make no namespaces (a container without privileges?)"
    else
        return 1
    fi
}

# stage_programs FOLDER PROGRAM...: copies programs, and the shared libraries of the Swift toolchain to which some are
# linked.
stage_programs() {
    local folder=$1 program library
    shift
    mkdir "$folder/lib"
    chmod 755 "$folder"
    for program in "$@"; do
        cp "$(tested "$program")" "$folder/"
        ldd "$(tested "$program")" | sed -n 's/.*=> \(.*\) (0x.*/\1/p' | while IFS= read -r library; do
            case $library in
                /lib/* | /usr/lib/* | /lib64/*) ;;
                *) cp "$library" "$folder/lib/" ;;
            esac
        done
    done
}

# --- Swift Testing ---------------------------------------------------------------------------

build_tested() { once tested build_and_link "$1"; } # PART

build_and_link() { # PART
    build_suites "$1" "${RELEASE_OPTIONS[@]}" && build "$1" "the programs, as they are packaged" link_tested
}

link_tested() {
    local name
    rm -rf "$LINKED"
    mkdir "$LINKED" && link_release "$LINKED/darkroom" && ln "$LINKED"/darkroom{,d} && mkdir "$LINKED/codecs" &&
        build_codecs "$LINKED/codecs" || return
    for name in "$LINKED/codecs"/*; do mv "$name" "$LINKED/darkroom-codec-${name##*/}"; done
    rmdir "$LINKED/codecs"
    # What only tests use.
    ln "$RELEASE"/release/{darkroom-codec-bad,libclockshim.so,libshareshim.so} "$LINKED/"
}

# Beside other parts: the first of those builds it.
await_tested() {
    if needs_tested; then
        until [ -e "$LOGS/built-tested" ] || [ -e "$LOGS/failed-tested" ]; do sleep 1; done
    fi
}

# The package manager for a build whose tests are not optimised, see Package.swift.
swift_for_tests() { DARKROOM_TESTS_UNOPTIMIZED=1 swift "$@"; }

# Prints the folder of what the package manager has built.
tested_products() { echo "$PWD/$RELEASE/release"; }

# Prints the path of a program: as it is packaged, or a tool.
tested() { [ ! -e "$LINKED/$1" ] && echo "$(tested_products)/$1" || echo "$PWD/$LINKED/$1"; }

# build_suites PART [OPTION]...: builds all programs and tests.
build_suites() {
    local part=$1
    shift
    build "$part" "build" build_tests "$@"
}

# run_suites PART FOLDER FILTER [OPTION]...: runs the suites that are built in a folder and whose names match, and counts.
# `swift test` would plan the build once more before it starts the same program with the same options.
run_suites() {
    local part=$1 tests=$PWD/$2/release/darkroomPackageTests.xctest filter=$3
    shift 3
    local log=$LOGS/$part.log results=$LOGS/$part.xml
    rm -f "$results"
    # Where something hangs, that is to be told of, too. For a terminal it would print colours.
    clocked "$part" "${apart[@]}" timeout --kill-after=30 3000 env --unset=TERM "$tests" \
        --testing-library swift-testing --filter "$filter" --xunit-output "$results" "$@" >"$log" 2>&1
    local status=$?
    count_results "$part" "$status" "$log" "$results"
}

# A warning in C is no error to the package manager, in Swift it is one by Package.swift.
build_tests() {
    local output
    output=$(swift_for_tests build --build-tests --disable-index-store "$@" 2>&1)
    local status=$?
    printf '%s\n' "$output"
    [ "$status" -eq 0 ] && ! grep -q "^$PWD/\(Sources\|Tests\)/.*warning:" <<<"$output"
}

# Reads the totals from the JUnit file that Swift Testing writes: a run that crashed has none.
count_results() {
    local part=$1 status=$2 log=$3 results=$4
    local total bad left_out good
    total=$(attribute tests "$results")
    left_out=$(attribute skipped "$results")
    # Its attribute `failures` counts issues, of which a test may have several.
    bad=$(grep -A 1 '<testcase ' "$results" 2>/dev/null | grep -c '<failure')
    if [ "${total:-0}" -eq 0 ]; then
        failed=$((failed + 1))
        say "$part" "FAILED: no test ended (exit status $status, all of it in $log)"
        tail -n 60 "$log" | sed 's/^/    /'
        return
    fi
    # Tests that were skipped are not among its `tests`.
    good=$((total - bad))
    if [ "$status" -ne 0 ] && [ "$bad" -eq 0 ]; then bad=1 good=$((good - 1)); fi
    passed=$((passed + good))
    failed=$((failed + bad))
    skipped=$((skipped + left_out))
    if [ "$bad" -gt 0 ]; then
        say "$part" "FAILED: $bad of $total tests (exit status $status, all of it in $log)"
        grep '^✘ Test .* recorded' "$log" | remember_failure
        grep -E '^(✘|.*: error: |.*WARNING: ThreadSanitizer)' "$log" | cut -c 1-400 | head -n 80 |
            sed 's/^/    /'
    else
        say "$part" "$good tests passed$([ "$left_out" -eq 0 ] || echo ", $left_out skipped")"
    fi
}

attribute() {
    [ ! -e "$2" ] || sed -n "s/.*<testsuite .* $1=\"\([0-9]*\)\".*/\1/p" "$2"
}

main "$@"
