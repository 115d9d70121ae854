#!/usr/bin/env bash
# Draws the plot of etc/doc/performance.md from that file's tables: bash etc/plot.sh >etc/doc/speed.svg
#
# Each point is the time of another program as a multiple of Darkroom's, for the picture of 12 MP (the rows m12).
# A test holds the committed plot against what this prints.
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

LC_ALL=C awk -F '|' '
    BEGIN {
        left = 90; top = 84; step = 30; width = 620; most = 100
        style["libvips 8.18.7"] = "fill=\"#1f6fb4\""
        style["libvips 8.18.7, filtered"] = "fill=\"#fff\" stroke=\"#1f6fb4\""
        style["libvips 8.14.1"] = "fill=\"#d9730d\""
        style["libvips 8.14.1, filtered"] = "fill=\"#fff\" stroke=\"#d9730d\""
        style["ImageMagick"] = "fill=\"#3a8a3a\""
        style["libpng"] = "fill=\"#555\""
        peers = split("libvips 8.18.7|libvips 8.18.7, filtered|libvips 8.14.1|libvips 8.14.1, filtered|" \
            "ImageMagick|libpng", peer, "|")
    }

    function trimmed(text) { gsub(/^ +| +$/, "", text); return text }
    function x_of(ratio) { return sprintf("%.1f", left + width * log(ratio) / log(most)) }

    # The section of the tables begins with its date and the machine.
    /^2[0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9], / && conditions == "" { conditions = $0; sub(/, Debian.*/, "", conditions) }

    # A table of a job begins with its name and the columns of milliseconds, bytes and memory.
    trimmed($3) == "ms" {
        split("", column)
        for (i = 6; i < NF; i++) column[i] = trimmed($i)
        job = trimmed($2)
        next
    }
    trimmed($2) == "m12" && job != "" {
        jobs[++rows] = job
        for (i in column) {
            ratio = trimmed($i)
            if (ratio == "") continue
            sub(/[^0-9.].*/, "", ratio)
            value[job, column[i]] = ratio
        }
    }
    !/^\|/ { job = "" }

    END {
        if (rows == 0) { print "etc/plot.sh: etc/doc/performance.md has no rows m12" >"/dev/stderr"; exit 1 }
        height = top + rows * step + 44
        printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" ", \
            left + width + 30, height, left + width + 30, height
        print "font-family=\"sans-serif\" font-size=\"12\" role=\"img\">"
        print "<title>Time of other programs as a multiple of Darkroom\047s, picture of 12 MP</title>"
        print "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>"
        print "<g fill=\"#222\">"
        printf "<text x=\"%d\" y=\"20\" font-size=\"14\" font-weight=\"bold\">%s</text>\n", 12, \
            "Time as a multiple of Darkroom\047s (12 MP; logarithmic; further right is slower)"
        for (i = 1; i <= peers; i++) {
            x = 22 + (i - 1) % 3 * 190
            y = 42 + int((i - 1) / 3) * 18
            printf "<circle cx=\"%d\" cy=\"%d\" r=\"5\" stroke-width=\"2\" %s/>", x, y - 4, style[peer[i]]
            printf "<text x=\"%d\" y=\"%d\">%s</text>\n", x + 12, y, peer[i]
        }
        ticks = split("1 2 5 10 20 50 100", tick, " ")
        for (i = 1; i <= ticks; i++) {
            printf "<line x1=\"%s\" x2=\"%s\" y1=\"%d\" y2=\"%d\" stroke=\"%s\"/>", x_of(tick[i]), x_of(tick[i]), \
                top - 8, top + rows * step - 8, i == 1 ? "#222" : "#ddd"
            printf "<text x=\"%s\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", x_of(tick[i]), \
                top + rows * step + 10, i == 1 ? "Darkroom 1" : tick[i]
        }
        for (row = 1; row <= rows; row++) {
            y = top + (row - 1) * step + 8
            printf "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n", left - 12, y + 4, jobs[row]
            for (i = 1; i <= peers; i++) if ((jobs[row], peer[i]) in value) {
                printf "<circle cx=\"%s\" cy=\"%d\" r=\"5\" stroke-width=\"2\" %s>", \
                    x_of(value[jobs[row], peer[i]]), y, style[peer[i]]
                printf "<title>%s, %s: %s</title></circle>\n", jobs[row], peer[i], value[jobs[row], peer[i]]
            }
        }
        printf "<text x=\"12\" y=\"%d\" fill=\"#555\">%s</text>\n", height - 10, \
            conditions "; hollow points: libvips with row filters. " \
            "Method and all figures: performance.md"
        print "</g>"
        print "</svg>"
    }
' etc/doc/performance.md
