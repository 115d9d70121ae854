# shellcheck shell=bash
# How a release is built, wherever one is: by etc/package.sh, and by Tests/run.sh, which thus tests what is
# packaged and builds it once. Sourced in the repository's top folder; does nothing by itself.

# A folder of its own, for the package manager builds one thing at a time in each.
readonly RELEASE=.build-release

# Swift's libraries are linked in, for Debian has no package of them; all others stay shared. Nothing of the result
# may depend on where it was built: paths are mapped, and the linker leaves out the symbols of the object files.
readonly RELEASE_OPTIONS=(
    --configuration release --scratch-path "$RELEASE" --static-swift-stdlib --disable-local-rpath
    -debug-info-format none
    -Xswiftc -file-prefix-map -Xswiftc "$PWD=." -Xcc "-ffile-prefix-map=$PWD=."
    -Xlinker --strip-all -Xlinker --build-id=sha1 -Xlinker -z -Xlinker relro -Xlinker -z -Xlinker now
)

build_release() { # PRODUCT
    swift build "${RELEASE_OPTIONS[@]}" --product "$1"
}

# Prints the folder of what has been built.
release_products() {
    swift build "${RELEASE_OPTIONS[@]}" --show-bin-path
}

# Makes the package manager take the versions of the dependencies that are written down in etc/dependencies.json,
# not the newest: the same commit would give another program tomorrow. After `swift package update`, copy its
# Package.resolved there.
pin_dependencies() {
    dependencies_are_pinned || cp etc/dependencies.json Package.resolved
}

# The hash of the package's manifest, which the package manager keeps up to date, is not of interest.
dependencies_are_pinned() {
    [ -e Package.resolved ] &&
        [ "$(grep -v '"originHash"' Package.resolved)" = "$(grep -v '"originHash"' etc/dependencies.json)" ]
}
