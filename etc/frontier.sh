#!/usr/bin/env bash
# Draws the frontier of speed and bytes from the table in etc/doc/performance.md that `bash Tests/bench.sh frontier`
# prints: bash etc/frontier.sh >etc/doc/frontier.svg
#
# Each point is a setting: the pictures a second (logarithmic), and the kB of a picture. Further right and further down is
# better. A test holds the committed plot against what this prints.
set -u -o pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

LC_ALL=C awk -F '|' '
    BEGIN {
        left = 90; top = 70; width = 600; height = 320
        style["Darkroom"] = "fill=\"#222\""
        style["libvips"] = "fill=\"#1f6fb4\""
        style["libvips, filtered"] = "fill=\"#fff\" stroke=\"#1f6fb4\" stroke-width=\"2\""
        programs = split("Darkroom|libvips|libvips, filtered", program, "|")
    }

    function trimmed(text) { gsub(/^ +| +$/, "", text); return text }
    function x_of(speed) { return left + width * log(speed / slowest) / log(fastest / slowest) }
    function y_of(bytes) { return top + height * (high - bytes) / (high - low) }
    # The next lower, or the next higher, of 1, 2, 5, 10, 20, ...
    function round_down(value,   power, digit) {
        power = 10 ^ int(log(value) / log(10) - (value < 1))
        digit = value / power
        return power * (digit >= 5 ? 5 : digit >= 2 ? 2 : 1)
    }
    function round_up(value,   down) {
        down = round_down(value)
        return down == value ? down : next_of(down)
    }
    function next_of(value,   digit) {
        digit = value / 10 ^ int(log(value) / log(10) - (value < 1) + 1e-9)
        return value * (digit > 1.5 && digit < 2.5 ? 2.5 : 2)
    }

    trimmed($2) == "program" && trimmed($4) == "pictures a second" { inside = 1; next }
    !/^\|/ { inside = 0 }
    inside && trimmed($2) in style {
        points++
        of[points] = trimmed($2); setting[points] = trimmed($3)
        speed[points] = trimmed($4) + 0; bytes[points] = trimmed($5) + 0
    }

    END {
        if (points == 0) { print "etc/frontier.sh: etc/doc/performance.md has no table of bench.sh frontier" >"/dev/stderr"; exit 1 }
        slowest = fastest = speed[1]; most = least = bytes[1]
        for (i = 2; i <= points; i++) {
            if (speed[i] < slowest) slowest = speed[i]
            if (speed[i] > fastest) fastest = speed[i]
            if (bytes[i] > most) most = bytes[i]
            if (bytes[i] < least) least = bytes[i]
        }
        slowest = round_down(slowest); fastest = round_up(fastest)
        step = round_up((most - least) / 8)
        low = step * int(least / step)
        high = step * (int(most / step) + 1)

        printf "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" ", \
            left + width + 40, top + height + 70, left + width + 40, top + height + 70
        print "font-family=\"sans-serif\" font-size=\"12\" role=\"img\">"
        print "<title>Speed and bytes of PNG at each compression, beside the levels of libvips</title>"
        print "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>"
        print "<g fill=\"#222\">"
        printf "<text x=\"12\" y=\"20\" font-size=\"14\" font-weight=\"bold\">%s</text>\n", \
            "Pictures a second and kB a picture (further right and further down is better)"
        for (i = 1; i <= programs; i++) {
            x = 22 + (i - 1) * 190
            printf "<circle cx=\"%d\" cy=\"40\" r=\"5\" %s/><text x=\"%d\" y=\"44\">%s</text>\n", \
                x, style[program[i]], x + 12, program[i]
        }
        for (tick = slowest; tick <= fastest * 1.0001; tick = next_of(tick)) {
            printf "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#ddd\"/>", x_of(tick), x_of(tick), \
                top, top + height
            printf "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n", x_of(tick), top + height + 18, tick
        }
        for (tick = low; tick <= high + step / 2; tick += step) {
            printf "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>", left, left + width, \
                y_of(tick), y_of(tick)
            printf "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", left - 10, y_of(tick) + 4, tick
        }
        for (i = 1; i <= points; i++) {
            printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" %s>", x_of(speed[i]), y_of(bytes[i]), style[of[i]]
            printf "<title>%s, %s: %s a second, %s kB</title></circle>", of[i], setting[i], speed[i], bytes[i]
            # Names where they do not lie on each other.
            below = setting[i] == "balanced"
            if (of[i] == "Darkroom" || setting[i] ~ /^[169]$/)
                printf "<text x=\"%.1f\" y=\"%.1f\"%s>%s</text>", x_of(speed[i]) + (below ? 0 : 8), \
                    y_of(bytes[i]) + (below ? 20 : -6), below ? " text-anchor=\"middle\"" : "", setting[i]
            print ""
        }
        printf "<text x=\"12\" y=\"%d\" fill=\"#555\">%s</text>\n", top + height + 50, \
            "The numbers are libvips\047 levels. Method and all figures: performance.md"
        print "</g>"
        print "</svg>"
    }' etc/doc/performance.md
