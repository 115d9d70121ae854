/// What each failure that a user can see provides.
///
/// Each target has its own error type (`PictureError`, `FetchError`, …). All of them conform to this protocol, so that
/// the status file, the journal and the retry rule treat them in the same way.
package protocol CodedError: Error, Sendable, CustomStringConvertible {
    /// A stable identifier for programs, in words joined by hyphens: `png-crc`, `http-status`.
    var code: String { get }
    /// One sentence that names the file, the step and the cause. It never contains credentials.
    var message: String { get }
    /// Whether a retry may succeed although the user changes nothing.
    var isTransient: Bool { get }
    /// What the failure says about the machine; nil if the work itself is the cause.
    var storageFailure: StorageFailure? { get }
}

extension CodedError {
    package var description: String { "\(message) [\(code)]" }

    package var storageFailure: StorageFailure? { nil }
}

/// A failure as it is written to a status file and an item journal, without the type of the original error.
package struct Failure: CodedError, Equatable, Codable {
    package var code: String
    package var message: String
    package var isTransient: Bool
    /// Not written to files: work with such a failure is repeated and not recorded.
    package var storageFailure: StorageFailure?

    package init(
        code: String, message: String, isTransient: Bool = false,
        storageFailure: StorageFailure? = nil
    ) {
        self.code = code
        self.message = message
        self.isTransient = isTransient
        self.storageFailure = storageFailure
    }

    /// The codes of failures that have no error type of their own.
    package enum Code: String, Sendable, CaseIterable {
        /// The image that this one is made from has failed or was cancelled.
        case dependencyFailed = "dependency-failed"
        /// The daemon ended too often while it filtered the image.
        case quarantined
        /// Someone has removed the folder of the batch in `active`.
        case batchRemoved = "batch-removed"
        /// A file has the name of an output in the folder to which it is delivered, and `ifExists` is `fail`.
        case deliveryExists = "delivery-exists"
        /// The exact manifest is needed, and only the copy without the secrets of its URLs is there.
        case manifestRedacted = "manifest-redacted"
        /// An error of another type; the message describes it.
        case internalError = "internal"
    }

    package init(_ code: Code, _ message: String, isTransient: Bool = false) {
        self.init(code: code.rawValue, message: message, isTransient: isTransient)
    }

    package init(_ error: some CodedError) {
        self.init(
            code: error.code, message: error.message, isTransient: error.isTransient,
            storageFailure: error.storageFailure)
    }

    /// The failure for an error. An unknown kind of error keeps its text.
    package init(erasing error: any Error) {
        if let error = error as? any CodedError {
            self.init(error)
        } else {
            self = .unexpected("\(error)")
        }
    }

    /// An error that no part of Darkroom foresees.
    package static func unexpected(_ cause: String) -> Failure {
        Failure(.internalError, "an unexpected error: \(cause). \(reportRequest)")
    }

    /// What to do about a failure that is a defect of Darkroom.
    package static let reportRequest =
        "A retry may help. Please report it, with this message, the manifest and what darkroom --version prints."

    private enum CodingKeys: String, CodingKey {
        case code
        case message
        case isTransient = "retryable"
    }
}
