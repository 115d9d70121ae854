#!/usr/bin/env bash
# Prints a regular expression for `swift test --filter` that selects what has a tag:
#   bash Tests/tagged.sh concurrency
#
# `swift test --filter tag:NAME` is not in Swift 6.3. So the tags are read from the sources: of each attribute
# @Suite(…) or @Test(…) that names the tag, the suite or test that follows it.
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 1
[ $# -eq 1 ] || { echo "usage: bash Tests/tagged.sh TAG" >&2; exit 64; }

# The target is the folder, and a test's suite the last one before it.
names=$(awk -v tag="[.(, ]$1[,)]" '
    FNR == 1 { split(FILENAME, part, "/"); target = part[1]; suite = ""; attribute = "" }
    /^[[:space:]]*@(Suite|Test)/ { attribute = " " }
    attribute != "" { attribute = attribute $0 }
    match($0, /(struct|class|func) +[A-Za-z0-9_]+/) {
        name = substr($0, RSTART, RLENGTH)
        isTest = sub(/^func +/, "", name)
        sub(/^(struct|class) +/, "", name)
        isTagged = attribute ~ /\.tags\(/ && attribute ~ tag
        if (!isTest && attribute != "") suite = name
        if (isTagged) print target "\\." suite "/" (isTest ? name "\\(" : "")
        attribute = ""
    }' DarkroomTests/*/*.swift DarkroomTests/*/*/*.swift EndToEndTests/*.swift) || exit 1
[ -n "$names" ] || { echo "nothing has the tag $1" >&2; exit 1; }
printf '^(%s)\n' "$(paste -sd '|' <<<"$names")"
