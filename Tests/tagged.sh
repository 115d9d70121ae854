#!/usr/bin/env bash
# Selects what has a tag:
#   bash Tests/tagged.sh TAG            prints a regular expression for `swift test --filter`
#   bash Tests/tagged.sh TAG --others   prints the files that no test with it needs, one a line, from the top folder
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

# What the files with the tag need, in their target or in the fixtures, and what those need in turn: a file that declares a
# name which one of them has, whatever it means there. Who has the name of a type of the tests needs its extensions; the
# extensions of other types declare their names. A file too few does not compile.
awk -v tagged="$(cut -f 1 <<<"$tagged" | sort -u | paste -sd ' ')" -v fixtures=DarkroomFixtures '
    NR == FNR { targets[$1] = $2; next }
    FNR == 1 {
        files[++count] = FILENAME
        split(FILENAME, part, "/")
        target[FILENAME] = part[2] == "DarkroomTests" ? targets[part[1] "/" part[2] "/" part[3]] : part[2]
    }
    /^[[:space:]]*\/\// { next }
    {
        rest = $0
        gsub(/[^A-Za-z0-9_]+/, " ", rest)
        words = split(rest, word, " ")
        for (i = 1; i <= words; i++)
            if (!seen[FILENAME, word[i]]++) has[FILENAME] = has[FILENAME] " " word[i]
    }
    /^[^[:space:]}]/ { extended = "" }
    /^[^[:space:]}]/ && !/^(private|fileprivate) / && finds("extension") {
        if (kind == "extension") extended = name
        else declares[name] = declares[name] " " FILENAME
    }
    extended != "" && /^    [A-Za-z@]/ && !/^    (private|fileprivate) / {
        if (!finds("case")) name = extended
        extensions++
        type[extensions] = extended; member[extensions] = name; place[extensions] = FILENAME
    }
    function finds(other,   found) {
        if (!match($0, "(^| )(struct|enum|class|actor|protocol|func|let|var|typealias|" other ") +[A-Za-z0-9_]+")) return 0
        split(substr($0, RSTART, RLENGTH), found, " ")
        kind = found[1]
        name = found[2]
        return 1
    }
    function sees(one, other) { return target[other] == target[one] || target[other] == fixtures }
    # Whether a file extends a type of the tests.
    function isOurs(type, file,   where, n, i) {
        n = split(types[type], where, " ")
        for (i = 1; i <= n; i++) if (sees(file, where[i])) return 1
        return 0
    }
    END {
        for (name in declares) types[name] = declares[name]
        for (i = 1; i <= extensions; i++) {
            name = isOurs(type[i], place[i]) ? type[i] : member[i]
            declares[name] = declares[name] " " place[i]
        }
        n = split(tagged, queue, " ")
        for (i = 1; i <= n; i++) needed[queue[i]]
        for (i = 1; i <= n; i++) {
            words = split(has[queue[i]], word, " ")
            for (j = 1; j <= words; j++) {
                m = split(declares[word[j]], where, " ")
                for (k = 1; k <= m; k++)
                    if (!(where[k] in needed) && sees(queue[i], where[k])) {
                        needed[where[k]]
                        queue[++n] = where[k]
                    }
            }
        }
        for (i = 1; i <= count; i++) if (!(files[i] in needed)) print files[i]
    }' <(printf '%s\nTests/DarkroomTests/Fixtures DarkroomFixtures\n' "$targets") "${files[@]}"
