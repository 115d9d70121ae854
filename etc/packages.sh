# shellcheck shell=bash
# Functions that find missing Debian packages and install them, for etc/try.sh, etc/package.sh and Tests/run.sh.
#
# They look for the thing that is needed (a pkg-config file, a program), not for the package. So any nginx is accepted,
# and another distribution needs no Debian package if all things are there.

# Prints the missing packages for a build, one per line.
missing_build_packages() {
    have pkg-config || echo pkg-config
    pkg-config --exists libcurl 2>/dev/null || echo libcurl4-openssl-dev
    pkg-config --exists libsystemd 2>/dev/null || echo libsystemd-dev
    pkg-config --exists libpng 2>/dev/null || echo libpng-dev
    pkg-config --exists libcrypto 2>/dev/null || echo libssl-dev
    pkg-config --exists libjpeg 2>/dev/null || echo libjpeg62-turbo-dev
    pkg-config --exists libdeflate 2>/dev/null || echo libdeflate-dev
    # The libraries of the codec programs, and of their confinement.
    pkg-config --exists libwebp libwebpdemux libwebpmux 2>/dev/null || echo libwebp-dev
    pkg-config --exists libtiff-4 2>/dev/null || echo libtiff-dev
    compgen -G '/usr/include/gif_lib.h' >/dev/null || echo libgif-dev
    pkg-config --exists libheif 2>/dev/null || echo libheif-dev
    pkg-config --exists libjxl 2>/dev/null || echo libjxl-dev
    pkg-config --exists lcms2 2>/dev/null || echo liblcms2-dev
    pkg-config --exists libseccomp 2>/dev/null || echo libseccomp-dev
    # What a Swift toolchain takes from the system when it fetches packages, compiles C and links.
    have git || printf '%s\n' git ca-certificates
    [ -e /usr/include/stdlib.h ] || echo libc6-dev
    compgen -G '/usr/include/c++/*' >/dev/null || echo libstdc++-12-dev
    toolchain_links || printf '%s\n' binutils libcurl4 libncurses6 \
        libsqlite3-0 libxml2 tzdata
}

# Prints the packages that the tests need beyond those.
missing_test_packages() {
    have nginx || echo nginx-light
    have openssl || echo openssl
    have sha256sum || echo coreutils
    have jq || echo jq
    # The manual's pages are formatted, and its examples run.
    have man || echo man-db
    have groff || echo groff-base
    have valgrind || echo valgrind
    # The headers with which the C sources are compiled for arm64, without running them.
    [ -e /usr/aarch64-linux-gnu/include/stdlib.h ] || echo libc6-dev-arm64-cross
    have dpkg-shlibdeps || echo dpkg-dev
    have lintian || echo lintian
    # The shells that are to take the completions.
    have zsh || echo zsh
    have fish || echo fish
    # It reads the metadata of results.
    have exiftool || echo libimage-exiftool-perl
    # With it, Tests/run.sh installs scikit-image.
    judges /usr/bin/python3 || /usr/bin/python3 -c "import venv, ensurepip" 2>/dev/null || echo python3-venv
    # The pages of batches are opened in it.
    have chromium || echo chromium
    # It makes a page of pictures, as the cookbook shows.
    have make || echo make
    # One of the ways to run shards.
    have parallel || echo parallel
    # The test under a booted systemd is for root; without root there is no use in its packages.
    [ "$(id -u)" -eq 0 ] || return 0
    have systemd-analyze || echo systemd
    have unshare || echo util-linux
    have mount || echo mount
    have mkfs.ext4 || echo e2fsprogs
    # So are the roots in which the package is installed.
    have mmdebstrap || echo mmdebstrap
    # So is the one under a booted Slurm.
    have slurmctld || echo slurm-wlm
    have munged || echo munge
}

# Prints the packages that `Tests/run.sh suite` needs beyond those of the tests.
missing_suite_packages() {
    python3 -c "import venv, ensurepip" 2>/dev/null || echo python3-venv
}

# Prints the packages that making a Debian package needs beyond those for building.
missing_package_packages() {
    missing_build_packages
    have dpkg-shlibdeps || echo dpkg-dev
    have strip || echo binutils
}

# Prints the packages that the benchmark needs to have peers.
missing_benchmark_packages() {
    [[ $(PATH=$PATH:/sbin ldconfig -p 2>/dev/null) == *libvips.so.42* ]] || echo libvips42
    have convert || echo imagemagick
    have make || echo make
    have strace || echo strace
    python3 -c "import venv, ensurepip" 2>/dev/null || echo python3-venv
}

# Installs the packages named on standard input, one per line; reports an error and returns 1 if it cannot.
install_packages() {
    local packages output as_root=()
    mapfile -t packages
    [ "${#packages[@]}" -gt 0 ] || return 0
    if ! have apt-get; then
        echo "These packages (by their names in Debian) are missing: ${packages[*]}" >&2
        return 1
    fi
    if [ "$(id -u)" -ne 0 ]; then
        if ! have sudo; then
            echo "These Debian packages are missing: ${packages[*]}" >&2
            echo "There is no sudo. Install them as root, or run this script as root." >&2
            return 1
        fi
        as_root=(sudo)
    fi
    echo "Installing Debian packages: ${packages[*]}"
    # The lists of one update are new enough for the whole script.
    [ -n "${lists_are_new:-}" ] || "${as_root[@]}" apt-get update -qq || return 1
    lists_are_new=1
    output=$(install_only "${packages[@]}" 2>&1) || {
        printf '%s\n' "$output" "apt-get could not install: ${packages[*]}" >&2
        return 1
    }
}

# Installs packages without what Debian does besides. It would start their services; the nginx of the tests is started by
# the tests, so the system's own need not run. And it would make the index of manual pages anew, which takes as long as all
# the rest; a timer of man-db does so each day.
install_only() ( # PACKAGE...
    readonly policy=/usr/sbin/policy-rc.d index=/var/lib/man-db/auto-update
    undo=()
    trap 'for step in "${undo[@]}"; do "${as_root[@]}" $step; done' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    if [ ! -e "$policy" ]; then
        undo+=("rm -f $policy")
        printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
        "${as_root[@]}" chmod 755 "$policy"
    fi
    if [ -e "$index" ]; then
        undo+=("touch $index")
        "${as_root[@]}" rm "$index"
    fi
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends "$@"
)

# Reports an error and returns 1 if there is no Swift 6.3 or newer.
require_swift() {
    local version
    if ! have swift; then
        echo "There is no swift in PATH. Install a toolchain of Swift 6.3 or newer (swift.org/install)." >&2
        return 1
    fi
    version=$(swift --version 2>&1) || { echo "$version" >&2; return 1; }
    version=$(sed -n 's/.*Swift version \([0-9]*\.[0-9]*\).*/\1/p' <<<"$version" | head -n 1)
    if [ "$(printf '%s\n' 6.3 "$version" | sort -V | head -n 1)" != 6.3 ]; then
        echo "This is Swift $version. A toolchain of Swift 6.3 or newer is needed." >&2
        return 1
    fi
}

# Whether a program is there; those of administrators are not in everybody's PATH.
have() {
    PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null 2>&1
}

# Whether a Python has what judges the similarity of results: scikit-image.
judges() { "$1" -c "import skimage.metrics" 2>/dev/null; }

# Whether the compiler finds all its shared libraries.
toolchain_links() {
    have swift || return 0
    local bin libraries
    bin=$(dirname "$(readlink -f "$(command -v swift)")")
    libraries=$(ldd "$bin"/{swift-frontend,swift-build,swift-format,clang,lld} 2>/dev/null)
    [[ $libraries != *"not found"* ]]
}
