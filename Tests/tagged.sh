#!/usr/bin/env bash
# Selects what has a tag:
#   bash Tests/tagged.sh TAG            prints a regular expression for `swift test --filter`
#   bash Tests/tagged.sh TAG --others   prints the files whose tests do not have it, one a line, from the top folder
#
# `swift test --filter tag:NAME` is not in Swift 6.3. So the tags are read from the sources: of each attribute
# @Suite(…) or @Test(…) that names the tag, the suite or test that follows it. A suite without traits has no attribute.
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
[[ $# -eq 1 || $# -eq 2 && $2 = --others ]] || { echo "usage: bash Tests/tagged.sh TAG [--others]" >&2; exit 64; }

mapfile -t files < <(find Tests/DarkroomTests Tests/EndToEndTests -name '*.swift' | LC_ALL=C sort)
# Lines of a file and what of it has the tag. The target is the folder, and a test's suite the last one before it.
tagged=$(awk -v tag="[.(, ]$1[,)]" '
    FNR == 1 { split(FILENAME, part, "/"); target = part[2]; suite = ""; attribute = "" }
    /^[[:space:]]*@(Suite|Test)/ { attribute = " " }
    attribute != "" { attribute = attribute $0 }
    match($0, /(struct|class|func) +[A-Za-z0-9_]+/) {
        name = substr($0, RSTART, RLENGTH)
        isTest = sub(/^func +/, "", name)
        sub(/^(struct|class) +/, "", name)
        isTagged = attribute ~ /\.tags\(/ && attribute ~ tag
        if (!isTest && (attribute != "" || name ~ /Tests$/)) suite = name
        if (isTagged) print FILENAME "\t" target "\\." suite "/" (isTest ? name "\\(" : "")
        attribute = ""
    }' "${files[@]}") || exit 1
[ -n "$tagged" ] || { echo "nothing has the tag $1" >&2; exit 1; }
if [ $# -eq 2 ]; then
    grep -lE '^[[:space:]]*@Test' "${files[@]}" | grep -vxFf <(cut -f 1 <<<"$tagged")
else
    printf '^(%s)\n' "$(cut -f 2 <<<"$tagged" | paste -sd '|')"
fi
