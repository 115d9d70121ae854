import DarkroomManifest

/// Identifies a batch while the daemon runs.
package typealias BatchKey = Int

/// A piece of work for an operation.
package enum Work: Hashable, Sendable {
    case download(BatchKey, source: Int)
    case filter(BatchKey, image: Int)

    package var batch: BatchKey {
        switch self {
        case .download(let key, _), .filter(let key, _): key
        }
    }

    /// For debuggers: the purpose of an operation in a queue.
    package var name: String {
        switch self {
        case .download(let key, let source): "download \(key)/\(source)"
        case .filter(let key, let image): "filter \(key)/\(image)"
        }
    }
}

/// A requested piece of work, with its priority and quality of service.
package struct WorkRequest: Sendable, Equatable {
    package let work: Work
    package let priority: Priority
    package let quality: QualityOfServiceName
}
