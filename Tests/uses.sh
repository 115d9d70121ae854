#!/usr/bin/env bash
# Prints who uses whom in Sources: a matrix of the targets, and one of the folders of each target that has several.
#
#   bash Tests/uses.sh [--files STATION STATION]
#
# A row uses what a column declares: the number of places that name a type, function, constant or alias which
# the column declares at the top level of a file. What a file keeps to itself (private, fileprivate) does not count.
# Exits 1 if folders of one target use each other in a circle; the compiler keeps the targets from it.
# With --files, prints the places at which the first uses the second.
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

# The Swift targets in the manifest's order, which is that of their dependencies.
order=$(sed -n 's|.*path: "Sources/\([A-Z][a-z][A-Za-z]*\)".*|\1|p' Package.swift | tr '\n' ' ')

find Sources -name '*.swift' -print0 | sort -z |
    xargs -0 awk -v wanted="${2:-}>${3:-}" -v order="$order" '
    # A target is the folder beneath Sources, a folder the one beneath that; files outside any are of the folder ".".
    function target_of(file,   parts) { split(file, parts, "/"); return parts[2] }
    function folder_of(file,   parts, n) { n = split(file, parts, "/"); return parts[2] "/" (n > 3 ? parts[3] : ".") }

    # Without comments and the text of strings. What a string interpolates is lost with it, which other uses make up for.
    function code(line) {
        if (inside_comment) { if (!sub(/^.*\*\//, "", line)) return ""; inside_comment = 0 }
        if (inside_text) { if (line ~ /"""/) inside_text = 0; return "" }
        if (line ~ /"""/) { inside_text = 1; sub(/""".*/, "", line) }
        gsub(/"([^"\\]|\\.)*"/, "", line)
        sub(/\/\/.*/, "", line)
        if (sub(/\/\*.*/, "", line)) inside_comment = 1
        return line
    }

    BEGIN { ranks = split(order, ordered, " "); for (i = 1; i <= ranks; i++) rank[ordered[i]] = i }
    FNR == 1 { inside_comment = inside_text = 0; files[++file_count] = FILENAME }
    {
        line = code($0)
        lines[FILENAME, FNR] = line
        last[FILENAME] = FNR
        if (match(line, /^ +.*(struct|class|enum|protocol|typealias|func|let|var) [A-Za-z_][A-Za-z0-9_]*/)) {
            name = substr(line, RSTART, RLENGTH)
            sub(/.* /, "", name)
            within[target_of(FILENAME), name] = 1
        }
        if (line !~ /^[a-z@]/ || line ~ /^(private|fileprivate|extension|import|case|default)/) next
        if (match(line, /(^| )(struct|class|enum|protocol|actor|typealias|func|let|var) [A-Za-z_][A-Za-z0-9_]*/)) {
            name = substr(line, RSTART, RLENGTH)
            sub(/.* /, "", name)
            if (name in declared && declared[name] != FILENAME) several[name] = 1
            declared[name] = FILENAME
        }
    }

    END {
        for (i = 1; i <= file_count; i++) {
            file = files[i]
            targets[target_of(file)]; folders[folder_of(file)]
            for (n = 1; n <= last[file]; n++) {
                rest = lines[file, n]
                while (match(rest, /[A-Za-z_][A-Za-z0-9_]*/)) {
                    name = substr(rest, RSTART, RLENGTH)
                    before = RSTART > 1 ? substr(rest, RSTART - 1, 1) : ""
                    rest = substr(rest, RSTART + RLENGTH)
                    # What follows a dot, or is declared within a type, is a member that bears the same name.
                    if (!(name in declared) || name in several || before == ".") continue
                    if ((target_of(file), name) in within) continue
                    if (name !~ /^[A-Z]/ && rest !~ /^\(/) continue
                    home = declared[name]
                    if (home == file) continue
                    count_use(file, home, name, n)
                }
            }
        }
        if (wanted != ">") exit
        print_matrix("targets", targets, "")
        for (t in targets) sorted[++target_count] = t
        sort(sorted, target_count)
        for (i = 1; i <= target_count; i++) if (has_folders(sorted[i])) print_matrix(sorted[i], folders, sorted[i] "/")
        exit find_circles()
    }

    function count_use(from, to, name, line_number) {
        uses[target_of(from), target_of(to)]++
        if (target_of(from) == target_of(to)) uses[folder_of(from), folder_of(to)]++
        if (wanted == target_of(from) ">" target_of(to) || wanted == folder_of(from) ">" folder_of(to))
            print from ":" line_number ": " name " (" to ")"
    }

    function has_folders(target,   folder, n) {
        for (folder in folders) if (index(folder, target "/") == 1) n++
        return n > 1
    }

    # Targets in their order, those that have none behind them, and folders by their names.
    function key(name) { return sprintf("%03d%s", name in rank ? rank[name] : 999, name) }

    function sort(list, n,   i, j, x) {
        for (i = 2; i <= n; i++) {
            x = list[i]
            for (j = i - 1; j > 0 && key(list[j]) > key(x); j--) list[j + 1] = list[j]
            list[j + 1] = x
        }
    }

    function print_matrix(title, stations, prefix,   names, n, s, i, j) {
        for (s in stations) if (prefix == "" || index(s, prefix) == 1) names[++n] = s
        sort(names, n)
        printf "%-15s", title
        for (i = 1; i <= n; i++) printf "%15s", substr(names[i], length(prefix) + 1, 14)
        print ""
        for (i = 1; i <= n; i++) {
            printf "%-15s", "  " substr(names[i], length(prefix) + 1, 13)
            for (j = 1; j <= n; j++) printf "%15s", i == j ? "" : uses[names[i], names[j]]
            print ""
        }
        print ""
    }

    # Takes away, again and again, folders that use none of those left. What is left uses itself in a circle.
    function find_circles(   left, s, u, removed, free, text) {
        for (s in folders) left[s]
        do {
            removed = 0
            for (s in left) {
                free = 1
                for (u in left) if (u != s && uses[s, u] > 0) free = 0
                if (free) { delete left[s]; removed = 1 }
            }
        } while (removed)
        for (s in left) text = text " " s
        if (text == "") return 0
        print "These folders use each other in a circle:" text
        return 1
    }
'
