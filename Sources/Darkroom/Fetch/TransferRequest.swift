import SystemPackage

/// Names one transfer of one engine.
package struct TransferID: Sendable, Hashable {
    let number: UInt64
}

/// One download to do: from where, to where.
package struct TransferRequest: Sendable {
    package var url: RemoteURL
    package var output: TransferOutput

    package init(url: RemoteURL, output: TransferOutput) {
        self.url = url
        self.output = output
    }
}

/// The file a transfer writes to, from the descriptor's position on. Kept open by whoever holds on
/// to it: the transfer while it runs, its report afterwards.
package final class TransferOutput: Sendable {
    package let descriptor: Descriptor
    /// How messages name the file.
    package let name: String

    package init(_ descriptor: consuming Descriptor, name: String) {
        self.descriptor = descriptor
        self.name = name
    }

    /// Creates the file `path`, which must not exist, for writing and reading back.
    package convenience init(creating path: String) throws(FetchError) {
        do {
            let file = try FileDescriptor.open(
                path, .readWrite, options: [.create, .exclusiveCreate, .closeOnExec],
                permissions: [.ownerReadWrite])
            self.init(Descriptor(owning: file.rawValue), name: path)
        } catch {
            throw FetchError(.writeFailed, "\(path): cannot be created: \(error)")
        }
    }
}

/// A transfer that brought a whole body.
package struct TransferReport: Sendable {
    package var request: TransferRequest
    /// Where the body came from, after redirects.
    package var effectiveURL: RedactedURL
    package var status: HTTPStatus
    /// As the server sent it, parameters and all; not to be trusted, nor to be shown unread.
    package var contentType: String?
    /// The body's length.
    package var bytes: Int64
    /// The body's first bytes: `headLength` of them, or all of a shorter body.
    package var head: [UInt8]
    package var redirects: Int
    /// From the start in the engine to the last byte.
    package var elapsed: Duration
    /// Whether no new connection had to be made.
    package var reusedConnection: Bool

    /// How much of each body is kept in memory to tell what it is.
    package static let headLength = 512
}
