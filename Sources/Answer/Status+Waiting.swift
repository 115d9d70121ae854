extension Status {
    /// Why a batch makes no progress.
    package struct Waiting: Codable, Sendable, Equatable {
        /// Codes that are not those of `FileError`.
        package enum Code: String, Sendable, CaseIterable {
            /// A host has asked for a pause.
            case hostPaused = "host-paused"
            /// Outputs cannot be delivered now.
            case delivery
            /// Originals of a hot folder cannot be moved now.
            case originals
            /// The queues are suspended (SIGUSR1).
            case paused
            /// The daemon was stopped.
            case stopped
        }

        /// A stable identifier: `disk-full`, `too-many-files`, `io-error`, `host-paused`, `paused`, …
        package var code: String
        /// The file, the step and the cause.
        package var message: String
        /// When it began, in the format of RFC 3339.
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
