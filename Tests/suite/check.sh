#!/usr/bin/env bash
# Tests/suite/check.sh DARKROOM WORK: reads all pictures of the tests of Pillow with `DARKROOM filter`, and compares their
# pixels with those that Pillow reads. WORK keeps what is downloaded for the next run.
#
# Prints a line for each picture that Pillow reads: `ok`, or `FAIL` if it is refused or differs. `exceptions` names the
# pictures that may, and why. It needs python3 with venv, and the Python package index.
set -u -o pipefail

readonly DARKROOM=$1 WORK=$2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) || exit 1
# The pictures and the expected pixels are those of one version.
readonly VERSION=13.0.0 NUMPY=2.4.6

main() {
    mkdir -p "$WORK" || exit 1
    [ -e "$WORK/venv/ready" ] || make_environment || fail "a Python with Pillow cannot be made"
    [ -e "$WORK/pictures/ready" ] || fetch_pictures || fail "the source of Pillow cannot be fetched"
    "$WORK/venv/bin/python" "$here/compare.py" "$DARKROOM" "$WORK/pictures" "$here/exceptions"
}

fail() {
    echo "FAIL $1"
    exit 1
}

make_environment() {
    rm -rf "$WORK/venv"
    python3 -m venv "$WORK/venv" &&
        "$WORK/venv/bin/pip" install --quiet "pillow==$VERSION" "numpy==$NUMPY" && touch "$WORK/venv/ready"
}

fetch_pictures() {
    rm -rf "$WORK/source" "$WORK/pictures"
    mkdir -p "$WORK/pictures"
    "$WORK/venv/bin/pip" download --quiet --no-deps --no-binary pillow --dest "$WORK/source" "pillow==$VERSION" &&
        tar -xf "$WORK/source/pillow-$VERSION.tar.gz" --directory "$WORK/pictures" --strip-components=3 \
            --wildcards '*/Tests/images/*' && touch "$WORK/pictures/ready"
}

main
