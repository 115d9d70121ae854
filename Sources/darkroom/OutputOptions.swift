import ArgumentParser
import DarkroomClient
import Glibc

/// `--color`, which every command has that prints for people.
struct ColorOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Whether the output has colours: auto, always or never. NO_COLOR and CLICOLOR_FORCE are obeyed.",
            valueName: "when"))
    var color = ColorChoice.auto

    /// Standard output.
    var output: Terminal { Terminal(STDOUT_FILENO, color: color) }
    /// Standard error.
    var errors: Terminal { Terminal(STDERR_FILENO, color: color) }
}

extension ColorChoice: ExpressibleByArgument {}
extension ProgressMode: ExpressibleByArgument {}
