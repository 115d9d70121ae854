import Glibc
import Logging

/// Records of the log as lines on standard error.
package enum LogLine {
    /// - Parameter message: a text without control characters.
    package static func write(_ message: String, _ level: Logger.Level) {
        let word = level >= .warning ? "\(level): " : ""
        let line = Array("\(Clock.timestamp) \(word)\(message)\n".utf8)
        // One write for each line, so that the lines of several threads do not mix. A failure of this cannot be
        // reported anywhere.
        _ = StandardStream.write(line, to: STDERR_FILENO)
    }
}

/// A handler whose level is always the present one of the process.
package protocol LevelLogHandler: LogHandler {}

extension LevelLogHandler {
    package var logLevel: Logger.Level {
        get { LogLevel.value }
        set { LogLevel.set(newValue) }
    }

    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }
}

/// Writes each record as a line, of at least the level `LogLevel.value`.
package struct LineLogHandler: LevelLogHandler {
    package var metadata: Logger.Metadata = [:]

    package init() {}

    package func log(event: LogEvent) {
        // Names and URLs may contain control characters.
        LogLine.write(event.message.description.visible, event.level)
    }
}
