extension Status {
    /// What keeps a batch from moving.
    package struct Waiting: Codable, Sendable, Equatable {
        /// Codes of its own; the others are a `FileError`'s.
        package enum Code: String, Sendable, CaseIterable {
            /// A host has asked to be left alone.
            case hostPaused = "host-paused"
            /// The queues are suspended (SIGUSR1).
            case paused
            /// The daemon has been stopped.
            case stopped
        }

        /// A stable identifier: `disk-full`, `too-many-files`, `io-error`, `host-paused`, `paused`, …
        package var code: String
        /// File, step and cause.
        package var message: String
        /// When it began, RFC 3339.
        package var since: String

        package init(code: String, message: String, since: String) {
            self.code = code
            self.message = message
            self.since = since
        }

        package init(_ code: Code, message: String, since: String) {
            self.init(code: code.rawValue, message: message, since: since)
        }
    }
}
