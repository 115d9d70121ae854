import ArgumentParser
import DarkroomClient
import DarkroomCore
import Glibc

/// `--color`, which every command has that prints for people.
struct ColorOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Colour the output. NO_COLOR and CLICOLOR_FORCE are obeyed.",
            valueName: "when"))
    var color = ColorChoice.auto

    var output: Terminal { Terminal(STDOUT_FILENO, color: color) }
    var errors: Terminal { Terminal(STDERR_FILENO, color: color) }
}

/// `--progress`, for commands that show the progress of batches.
struct ProgressOptions: ParsableArguments {
    @Option(
        name: .customLong("progress"),
        help: ArgumentHelp(
            "Show progress: tty is drawn again, plain has lines.",
            valueName: "how"))
    var mode = ProgressMode.auto
}

/// `--progress`, for commands that only count what they read. They have no events.
struct ReadingProgressOptions: ParsableArguments {
    @Option(
        name: .customLong("progress"),
        help: ArgumentHelp(
            "Show progress: tty is drawn again, plain has lines.",
            valueName: "how"))
    var choice = Choice.auto

    enum Choice: String, ExpressibleByArgument, CaseIterable {
        case auto, tty, plain, none

        var mode: ProgressMode { ProgressMode(rawValue: rawValue) ?? .auto }
    }

    var mode: ProgressMode { choice.mode }
}

extension ColorChoice: ExpressibleByArgument {}
extension ProgressMode: ExpressibleByArgument {}
