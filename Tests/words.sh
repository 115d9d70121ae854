#!/usr/bin/env bash
# Whether comments, documents and manual pages use the words of the table in etc/doc/architecture.md (section "Words").
#
#   bash Tests/words.sh
#
# Prints each place with a word that does not count, and the word that does. Text in backquotes, examples in documents and
# names in manual pages (.Cm, .Fl, .Li, ...) are code and not read. Exits 1 if there is such a place, if a rule does not
# find its own example, or if an exception has nothing to allow.
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

# NAME | what is to be written | an example that the rule finds | the turn, in upper or lower case, as for grep -E
rules() {
    cat <<'END'
batch|batch|until the finished manifest is removed|\b(finished|ended|unfinished|held|reopened) manifests?\b
image|image|cancelled pictures are repeated|\b(cancelled|retried|admitted|unpublished) pictures?\b
picture|picture|decodes the image file|\bimage (files?|formats?|pixels|processor|rows?)\b
response|response|the header of an answer|\banswer('s)? (header|body)\b|\b(header|body) of (an|the) answer\b|\bredirect is an answer\b|\bserver's answer\b
attempt|attempt|after the third try|\b(an?|one|each|every|no|another|first|second|third|last|next|failed) try\b|\b(many|failed|next|all|of) tries\b
folder|folder|in the same directory|\b(sub)?director(y|ies)\b
extension|extension|the ending of its name|\bendings\b|\bending of (a|an|the|its|this|each|their)\b|\bno (such )?ending\b|\bwithout an ending\b|\b(the|whose|usual|given) ending\b
remove|remove|the file is deleted|\bdelet(e|es|ed|ing|ion|ions)\b
colour|colour|in the color of the border|\bcolou?rless\b|\bcolors?\b
gray|gray|for grey pictures|\bgreys?(scale)?\b
command|command|a steering file|\bsteer(s|ed|ing)?\b
except|except|all but for one|\bbut for\b
also|the sentence itself, or "also"|its height, likewise|\blikewise\b
continue|continue|it goes on with the next file|\b(go|goes|going|gone|went) on with\b
so that|so that ... not|it waits, lest it fails|\blest\b
antique|a word of today|whence it came|\b(whence|hence|thence|whither|thither|hitherto|heretofore|thereof|therein|thereupon|thereby|whereupon|whereof|wherein|whosoever|forthwith|henceforth|betimes|shall|nigh|unto|aught|naught|albeit)\b
END
}

# RULE | FILE, or a folder with a slash at its end | a part of the line; without one, the whole file
exceptions() {
    cat <<'END'
batch|Sources/Client/Submission.swift|held manifest gets a name that no batch has
folder|Sources/CodecTIFF/
folder|Sources/Manifest/SourceLookup.swift|directories of all files
folder|Sources/Picture/Metadata/ExifBlock.swift
folder|Sources/Picture/Metadata/ResultMetadata.swift|In a TIFF
folder|Sources/Picture/Model/Exif.swift
folder|Sources/Picture/Model/ExifColourSpace.swift
folder|Sources/Picture/Model/Orientation.swift
folder|Sources/Picture/Read/TIFFPages.swift
folder|Sources/Picture/Write/CodecFile.swift|a TIFF
folder|Tests/DarkroomTests/Picture/Colour/OutputProfileTests.swift|that of Exif
folder|Tests/DarkroomTests/Picture/Metadata/MetadataSample.swift|second directory
folder|Tests/DarkroomTests/Picture/TIFFPagesTests.swift
folder|Tests/Pictures/TIFFMaker.swift
folder|Tests/run.sh|WholeFile and Directory
folder|etc/doc/architecture.md|directories only
folder|etc/doc/architecture.md|a TIFF says those of its header
folder|etc/doc/architecture.md|*directory*
folder|etc/doc/security.md|directory of a TIFF
remove|Sources/Core/Suggestion.swift|edit distance
remove|etc/doc/architecture.md|*delete*
colour|Sources/Client/Terminal/ColorChoice.swift|no-color.org
colour|etc/doc/architecture.md|json, color
colour|etc/doc/architecture.md|| color |
colour|etc/doc/architecture.md|*color*
END
}

# PATH:LINE:TEXT of each line of prose.
prose() {
    # A comment begins a line or follows a blank, so that the slashes of a URL begin none.
    find Sources Tests Package.swift -name '*.swift' -print0 | xargs -0 grep -HnoE '(^|[[:space:]])//.*'
    find Sources Tests -name '*.[ch]' -print0 | xargs -0 awk '
        FNR == 1 { inside = 0 }
        inside || /\/\*/ {
            text = $0
            if (!inside) sub(/^.*\/\*/, "", text)
            inside = text !~ /\*\//
            sub(/\*\/.*/, "", text)
            print FILENAME ":" FNR ":" text
        }'
    find etc Tests .ci -name '*.sh' -print0 | xargs -0 grep -HnoE '(^|[[:space:]])# .*' .ci/run
    awk '
        FNR == 1 { fenced = 0 }
        /^```/ { fenced = !fenced; next }
        !fenced { print FILENAME ":" FNR ":" $0 }' README.md etc/doc/*.md
    awk '
        FNR == 1 || /^\.Ed/ { shown = 0 }
        /^\.Bd/ { shown = 1 }
        !shown && !/^\.(\\"|(It )?(Cm|Fl|Li|Va|Pa|Ar|Xr|Dl|Sx|Ql|Pq))/ { print FILENAME ":" FNR ":" $0 }' etc/man/*
}

# Without what stands between backquotes.
without_code() { sed 's/`[^`]*`/``/g'; }

# What PATTERN finds behind the path and the number of a line.
found() { grep -iE "^[^:]+:[0-9]+:.*($1)"; }

main() {
    local bad=0 name good example pattern place text lines file part
    local -A used=()
    text=$(prose | without_code)
    # Else the rules hold whatever is written.
    [ "$(wc -l <<<"$text")" -gt 10000 ] || { echo "only $(wc -l <<<"$text") lines of prose were found"; bad=1; }
    while IFS='|' read -r name good example pattern; do
        found "$pattern" <<<"x:1:$example" >/dev/null || { echo "the rule \"$name\" does not find: $example"; bad=1; }
        lines=$(found "$pattern" <<<"$text")
        while IFS= read -r place; do
            [ -n "$place" ] || continue
            if is_allowed "$name" "$place"; then continue; fi
            echo "write \"$good\": $place"
            bad=1
        done <<<"$lines"
    done < <(rules)
    while IFS='|' read -r name file part; do
        [ -n "${used["$name|$file|$part"]:-}" ] || { echo "nothing needs the exception: $name|$file|$part"; bad=1; }
    done < <(exceptions)
    return "$bad"
}

# is_allowed RULE PLACE: whether there is an exception, which is noted in `used`.
is_allowed() {
    local name file part
    while IFS='|' read -r name file part; do
        [ "$name" = "$1" ] || continue
        case $2 in
            "$file":*"$part"*) ;;
            "$file"*"$part"*) [ "${file: -1}" = / ] || continue ;;
            *) continue ;;
        esac
        used["$name|$file|$part"]=1
        return 0
    done < <(exceptions)
    return 1
}

main
