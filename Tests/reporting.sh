# shellcheck shell=bash
# How a script tells of its checks. Sourced by those whose lines `run_lines` of Tests/run.sh counts.

failures=0

# check WHAT COMMAND [ARGUMENT]...: one line, and what the command printed if it failed.
check() {
    local what=$1 output
    shift
    if output=$("$@" 2>&1); then
        echo "ok    $what"
    else
        echo "FAIL  $what"
        [ -z "$output" ] || sed 's/^/      /' <<<"$output"
        failures=$((failures + 1))
    fi
}

# Runs a command that is to print nothing.
quiet() {
    local output
    output=$("$@" 2>&1) && [ -z "$output" ] && return
    echo "$output"
    return 1
}

# The script's last command: its status tells whether everything was as it should be.
conclude() { [ "$failures" -eq 0 ]; }
