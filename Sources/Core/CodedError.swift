/// What every failure that a user can see tells.
///
/// Each station has an error type of its own (`PictureError`, `FetchError`, …); they all answer
/// these questions, so that the status file, the journal and the retry rule treat them alike.
package protocol CodedError: Error, Sendable, CustomStringConvertible {
    /// A stable identifier for programs, in words joined by hyphens: `png-crc`, `http-status`.
    var code: String { get }
    /// One sentence that names the file, the step and the cause. Never holds credentials.
    var message: String { get }
    /// Whether the same attempt may succeed later with nothing changed by the user.
    var isTransient: Bool { get }
    /// What it says of the machine; nil where the work itself is the cause.
    var fault: StorageFault? { get }
}

extension CodedError {
    package var description: String { "\(message) [\(code)]" }

    package var fault: StorageFault? { nil }
}

/// A failure as it is written into a status file and an item journal: the type erased, the answers kept.
package struct Failure: CodedError, Equatable, Codable {
    package var code: String
    package var message: String
    package var isTransient: Bool
    /// Not written down: whoever meets such a failure does the work again instead of recording it.
    package var fault: StorageFault?

    package init(
        code: String, message: String, isTransient: Bool = false, fault: StorageFault? = nil
    ) {
        self.code = code
        self.message = message
        self.isTransient = isTransient
        self.fault = fault
    }

    /// The codes of failures that no error type stands for.
    package enum Code: String, Sendable, CaseIterable {
        /// The image that this one is made of has failed, or was cancelled.
        case dependencyFailed = "dependency-failed"
        /// Filtering it has ended the daemon too often.
        case quarantined
        /// Someone has removed its batch's folder in `active`.
        case batchRemoved = "batch-removed"
        /// An error of no kind of ours, whose words the message has.
        case internalError = "internal"
    }

    package init(_ code: Code, _ message: String, isTransient: Bool = false) {
        self.init(code: code.rawValue, message: message, isTransient: isTransient)
    }

    package init(_ error: some CodedError) {
        self.init(
            code: error.code, message: error.message, isTransient: error.isTransient,
            fault: error.fault)
    }

    private enum CodingKeys: String, CodingKey {
        case code
        case message
        case isTransient = "retryable"
    }
}
