#!/usr/bin/env bash
# Selects what has a tag:
#   bash Tests/tagged.sh TAG            prints a regular expression for `swift test --filter`
#   bash Tests/tagged.sh TAG --others   prints the files with tests of which none has it, one a line, from the top folder;
#                                       without those that also declare what other files may use
#
# `swift test --filter tag:NAME` is not in Swift 6.3. So the tags are read from the sources: of each attribute
# @Suite(…) or @Test(…) that names the tag, the suite or test that follows it. A suite without traits has no attribute.
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
[[ $# -eq 1 || $# -eq 2 && $2 = --others ]] || { echo "usage: bash Tests/tagged.sh TAG [--others]" >&2; exit 64; }

mapfile -t files < <(find Tests/DarkroomTests Tests/EndToEndTests -name '*.swift' | LC_ALL=C sort)
# Lines of a folder and the target of its tests, from Package.swift.
targets=$(sed -n 's/^    ("\([A-Za-z]*\)", \[\(.*\)\]),$/\1 \2/p' Package.swift | tr -d '",' |
    while read -r target folders; do for folder in $folders; do echo "Tests/DarkroomTests/$folder $target"; done; done)
# Lines of a file and what of it has the tag. The target is that of the folder, and a test's suite the last one before it.
tagged=$(awk -v tag="[.(, ]$1[,)]" '
    NR == FNR { targets[$1] = $2; next }
    FNR == 1 {
        split(FILENAME, part, "/")
        target = part[2] == "DarkroomTests" ? targets[part[1] "/" part[2] "/" part[3]] : part[2]
        suite = ""; attribute = ""
    }
    /^[[:space:]]*@(Suite|Test)/ { attribute = " " }
    attribute != "" { attribute = attribute $0 }
    match($0, /(struct|class|func) +[A-Za-z0-9_]+/) {
        name = substr($0, RSTART, RLENGTH)
        isTest = sub(/^func +/, "", name)
        sub(/^(struct|class) +/, "", name)
        isTagged = attribute ~ /\.tags\(/ && attribute ~ tag
        if (!isTest && (attribute != "" || name ~ /Tests$/)) suite = name
        if (isTagged && target == "") { print FILENAME ": Package.swift has no target for it" >"/dev/stderr"; exit 1 }
        if (isTagged) print FILENAME "\t" target "\\." suite "/" (isTest ? name "\\(" : "")
        attribute = ""
    }' <(echo "$targets") "${files[@]}") || exit 1
[ -n "$tagged" ] || { echo "nothing has the tag $1" >&2; exit 1; }
if [ $# -eq 1 ]; then
    printf '^(%s)\n' "$(cut -f 2 <<<"$tagged" | paste -sd '|')"
    exit
fi

# Files that declare more than suites stay, and those with suites that a file names that stays.
shared='^(package |final |@[A-Za-z]+ )*(extension|struct|enum|class|actor|protocol|func|let|var|typealias) '
suite='(struct|class) [A-Za-z]+Tests\b'
others=$(grep -lE '^[[:space:]]*@Test' "${files[@]}" | grep -vxFf <(cut -f 1 <<<"$tagged") |
    grep -vxFf <(grep -HE "$shared" "${files[@]}" | grep -vE "(extension [A-Za-z]+Tests\b|$suite)" | cut -d : -f 1 | sort -u))
while
    names=$(xargs -d '\n' grep -hoE "$suite" <<<"$others" | cut -d ' ' -f 2 | sort -u | paste -sd '|')
    used=$(printf '%s\n' "${files[@]}" | grep -vxFf <(printf '%s\n' "$others") | xargs -d '\n' grep -hE "^[^/]*\b($names)\b" |
        grep -oE "\b($names)\b" | sort -u | paste -sd '|')
    [ -n "$used" ]
do
    others=$(grep -vxFf <(xargs -d '\n' grep -lE "(struct|class) ($used)\b" <<<"$others") <<<"$others")
done
printf '%s\n' "$others"
