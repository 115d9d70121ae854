import DarkroomClient
import DarkroomCore
import Glibc

/// Results go to standard output, everything else to standard error.
enum Console {
    static func line(_ text: String) throws(ClientError) {
        try write(text + "\n", to: STDOUT_FILENO)
    }

    static func text(_ text: String) throws(ClientError) { try write(text, to: STDOUT_FILENO) }

    /// One object in one line.
    static func json(_ value: some Encodable) throws(ClientError) {
        try line(JSONText.line(value))
    }

    /// A line about a file: a problem of a manifest.
    static func problem(_ text: String) {
        for line in text.split(separator: "\n") {
            try? write("\(String(line).visible)\n", to: STDERR_FILENO)
        }
    }

    /// Sentences for people. The names in them may contain control characters.
    static func complain(_ message: String) {
        for line in message.split(separator: "\n") {
            try? write("darkroom: \(String(line).visible)\n", to: STDERR_FILENO)
        }
    }

    static func complain(_ error: ClientError) {
        complain(error.message)
        if let remedy = error.remedy { complain(remedy) }
    }

    /// The lines of a view.
    static func lines(_ lines: [String]) throws(ClientError) {
        guard !lines.isEmpty else { return }
        try write(lines.joined(separator: "\n") + "\n", to: STDOUT_FILENO)
    }

    static func write(_ text: String, to file: CInt) throws(ClientError) {
        try write(bytes: Array(text.utf8), to: file)
    }

    static func write(bytes: [UInt8], to file: CInt) throws(ClientError) {
        guard let error = StandardStream.write(bytes, to: file) else { return }
        // The checks of sources ignore the signal that ends a program whose reader has gone.
        if error == .brokenPipe, file == STDOUT_FILENO {
            signal(SIGPIPE, SIG_DFL)
            raise(SIGPIPE)
        }
        throw ClientError(
            .ioError, code: "output", "The output cannot be written: \(error).")
    }
}
