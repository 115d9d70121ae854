#!/usr/bin/env bash
# Measures Darkroom beside libvips, ImageMagick and libpng: bash Tests/bench.sh [--pictures FOLDER] [--large]
# Measures what durability full costs against process: bash Tests/bench.sh durability
# Measures how good the time left in progress.json is: bash Tests/bench.sh estimate
# Measures what darkroom watch costs: bash Tests/bench.sh watch
# Measures how soon darkroom run has its first output, beside ImageMagick: bash Tests/bench.sh start
# Measures darkroom merge of a million images in a thousand shards: bash Tests/bench.sh merge
# Measures two shards beside one process with two threads: bash Tests/bench.sh shards
# Measures how soon few changed pictures of many are made again, beside make: bash Tests/bench.sh changed [--images N]
# Measures three sizes of a JPEG beside the largest alone: bash Tests/bench.sh variants [--picture PICTURE.jpg]
# Measures what the page of a batch costs: bash Tests/bench.sh page [--picture PICTURE.png] [--durability process]
# Measures the downloads beside curl --parallel: bash Tests/bench.sh fetch
# Or its compressions alone beside libpng: bash Tests/bench.sh compression [PICTURE.png]...
# Or its decoder for JPEG alone beside libjpeg-turbo: bash Tests/bench.sh jpeg PICTURE.jpg...
# Or the cost of a process for each picture: bash Tests/bench.sh codec PICTURE.webp...
#
# Installs what is missing, builds a release, and prints a table for each job: medians, ratios, bytes
# and peak memory. bash Tests/bench.sh --help has the options. A quiet machine gives steadier figures;
# the programs take turns, so that the ratios mean something on any.
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
# shellcheck source=../etc/packages.sh
. etc/packages.sh
# shellcheck source=../etc/release.sh
. etc/release.sh

install_packages < <(missing_build_packages; missing_benchmark_packages) || exit 1
require_swift || exit 1
clang=$(dirname "$(command -v swift)")/clang
[ -x "$clang" ] || clang=cc
if [ "${1:-}" = compression ]; then
    shift
    mkdir -p .build/benchmark
    "$clang" -std=gnu11 -Wall -Wextra -O2 -ISources/CDeflate/include -ISources/CPixels/include \
        -o .build/benchmark/compression Tests/Benchmark/compression.c Sources/CDeflate/*.c \
        Sources/CPixels/*.c -lpng16 -lz -ldeflate -lm || exit 1
    exec .build/benchmark/compression "$@"
fi
if [ "${1:-}" = jpeg ]; then
    shift
    mkdir -p .build/benchmark
    "$clang" -std=gnu11 -Wall -Wextra -O2 -ISources/CShims/include -ISources/CJpeg/include \
        -ISources/CPixels/include -ISources/CCodecWire/include -o .build/benchmark/jpeg Tests/Benchmark/jpeg.c \
        Sources/CShims/{jpeg_*,remarks}.c Sources/CJpeg/*.c Sources/CPixels/cpu.c Sources/CCodecWire/quality.c -ljpeg || exit 1
    exec .build/benchmark/jpeg "$@"
fi
if [ "${1:-}" = codec ]; then
    shift
    mkdir -p .build/benchmark
    build_codec webp .build/benchmark/darkroom-codec-webp || exit 1
    "$clang" -std=gnu11 -Wall -Wextra -O2 -ISources/CCodecWire/include -o .build/benchmark/codec Tests/Benchmark/codec.c \
        Sources/CCodecWire/*.c -lwebp || exit 1
    exec .build/benchmark/codec .build/benchmark/darkroom-codec-webp "$@"
fi
swift build -c release --product darkroomd --quiet || exit 1
swift build -c release --product darkroom --quiet || exit 1
swift build -c release --product benchmark --quiet || exit 1
products=$(swift build -c release --product benchmark --show-bin-path) || exit 1
case "${1:-}" in changed | durability | estimate | fetch | merge | page | shards | variants | watch) exec "$products/benchmark" "$@" ;; esac
"$clang" -std=gnu11 -Wall -Wextra -O2 -o "$products/peers" Tests/Benchmark/peers.c -lpng16 -ldl || exit 1
if [ "${1:-}" = daemon ] || [ "${1:-}" = frontier ]; then
    # libvips 8.18 as most people get it: a wheel, in an environment of its own.
    python=.build/benchmark/python
    if ! "$python/bin/python" -c 'import pyvips' 2>/dev/null; then
        mkdir -p .build/benchmark
        python3 -m venv "$python" && "$python/bin/pip" install --quiet pyvips 'pyvips-binary==8.18.*' || exit 1
    fi
    # Where the daemon looks for them.
    mkdir -p "$products/../lib/darkroom/codecs"
    build_codecs "$products/../lib/darkroom/codecs" || exit 1
    command=$1
    shift
    exec "$products/benchmark" "$command" --python "$python/bin/python" "$@"
fi
if [ "${1:-}" = start ]; then exec "$products/benchmark" "$@"; fi
exec "$products/benchmark" compare "$@"
