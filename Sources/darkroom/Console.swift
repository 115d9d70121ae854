import DarkroomClient
import DarkroomCore
import Glibc
import Synchronization

/// Results go to standard output, everything else to standard error.
enum Console {
    /// Held while somebody writes to standard output, and by what ends the process.
    private static let output = Mutex(())

    /// Ends the process between two writes to standard output, so that nothing stands there in part.
    ///
    /// - Parameter text: the last text on standard output.
    static func end(_ exit: CInt, writing text: String = "") -> Never {
        // A reader that does not read may keep a write for ever, and then nobody would see a further text.
        let deadline = Clock.uptime + 1
        while Clock.uptime < deadline {
            _ = output.withLockIfAvailable { _ in
                if !text.isEmpty, hasRoom(until: deadline) {
                    _ = StandardStream.write(Array(text.utf8), to: STDOUT_FILENO)
                }
                Glibc._exit(exit)
            }
            usleep(1000)
        }
        Glibc._exit(exit)
    }

    /// Waits until a write to standard output would not block.
    private static func hasRoom(until deadline: Double) -> Bool {
        var entry = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
        let left = max(0, deadline - Clock.uptime)
        return poll(&entry, 1, CInt(left * 1000)) > 0
    }

    static func line(_ text: String) throws(ClientError) {
        try write(text + "\n", to: STDOUT_FILENO)
    }

    /// A result in a sentence: on a terminal, its lines end between words.
    ///
    /// - Parameter parts: what stays whole although it contains spaces.
    static func sentence(_ text: String, keeping parts: [String] = []) throws(ClientError) {
        try lines(text.wrapped(to: Terminal(STDOUT_FILENO).width, indent: 2, keeping: parts))
    }

    static func text(_ text: String) throws(ClientError) { try write(text, to: STDOUT_FILENO) }

    static func json(_ object: JSONObject) throws(ClientError) { try line(JSONText.line(object)) }

    /// Ends a command that has told everything: with `--json`, the last object, and always the exit status.
    static func conclude(_ exit: ClientExit, json summary: JSONObject?) throws {
        if let summary {
            try json(JSONObject(["type": "summary", "exit": exit.rawValue], with: summary))
        }
        if exit != .success { throw exit }
    }

    /// A line about a file: a problem of a manifest.
    static func problem(_ text: String) { tell(text, prefix: "") }

    /// Sentences for people. The names in them may contain control characters.
    static func complain(_ message: String) { tell(message, prefix: "darkroom: ") }

    /// On a terminal, lines end between words.
    private static func tell(_ message: String, prefix: String) {
        for line in message.split(separator: "\n") {
            write("\(prefix)\(String(line).visible)", wrappedFor: STDERR_FILENO)
        }
    }

    /// Writes a sentence in lines that are not wider than the terminal, if the stream is one.
    static func write(_ sentence: String, wrappedFor file: CInt) {
        let lines = sentence.wrapped(to: Terminal(file).width, indent: 2)
        try? write(lines.joined(separator: "\n") + "\n", to: file)
    }

    static func complain(_ error: ClientError) {
        complain(error.message)
        if let remedy = error.remedy { complain(remedy) }
    }

    static func lines(_ lines: [String]) throws(ClientError) {
        guard !lines.isEmpty else { return }
        try write(lines.joined(separator: "\n") + "\n", to: STDOUT_FILENO)
    }

    static func write(_ text: String, to file: CInt) throws(ClientError) {
        try write(bytes: Array(text.utf8), to: file)
    }

    static func write(bytes: [UInt8], to file: CInt) throws(ClientError) {
        let failure =
            file == STDOUT_FILENO
            ? output.withLock { _ in StandardStream.write(bytes, to: file) }
            : StandardStream.write(bytes, to: file)
        guard let error = failure else { return }
        // The checks of sources ignore the signal that ends a program whose reader has gone.
        if error == .brokenPipe, file == STDOUT_FILENO {
            signal(SIGPIPE, SIG_DFL)
            raise(SIGPIPE)
        }
        throw ClientError(.ioError, code: "output", "The output cannot be written: \(error).")
    }
}
