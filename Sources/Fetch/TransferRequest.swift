import DarkroomCore
import SystemPackage

/// Names one transfer of one engine.
package struct TransferID: Sendable, Hashable {
    let number: UInt64
}

/// One download to do: from where, to where.
package struct TransferRequest: Sendable {
    package var url: RemoteURL
    package var output: TransferOutput
    /// What an earlier attempt has left in the output, to be continued. Where the server does not go along, the
    /// body is fetched anew from its first byte.
    package var resume: PartialBody?
    /// What the asker has already, and need not be sent if it has not changed. Where there is something to
    /// resume, that counts.
    package var validators: Validators?
    /// Which URL the validators came from, as `TransferReport.target` names it; nil is the URL that is asked
    /// for. They are told to no other, where they could mean another file.
    package var target: String?

    package init(
        url: RemoteURL, output: TransferOutput, resume: PartialBody? = nil,
        validators: Validators? = nil, target: String? = nil
    ) {
        self.url = url
        self.output = output
        self.resume = resume
        self.validators = validators
        self.target = target
    }
}

/// The first bytes of a body that a broken transfer has left in its output.
package struct PartialBody: Sendable, Equatable {
    /// How many there are, from the body's first one on.
    package var bytes: Int64
    /// What the server must still hold for true, for If-Range: a strong entity tag, or a modification date
    /// that RFC 9110, section 8.8.2.2 counts as strong.
    package var validator: ByteString
    /// Of these bytes.
    package var crc32: UInt32
    /// The length of the whole body, where the server has told it.
    package var total: Int64?
    /// Which URL they came from, as `TransferReport.target` names it; nil is the URL that was asked for.
    package var target: String?

    package init(
        bytes: Int64, validator: ByteString, crc32: UInt32, total: Int64? = nil,
        target: String? = nil
    ) {
        self.bytes = bytes
        self.validator = validator
        self.crc32 = crc32
        self.total = total
        self.target = target
    }
}

/// The file a transfer writes to, from the file's first byte on. Kept open by whoever holds on to it: the
/// transfer while it runs, its report afterwards.
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

/// A transfer that brought a whole body, or the word that the asker has it already.
package struct TransferReport: Sendable {
    package var request: TransferRequest
    /// Where the body came from, after redirects.
    package var effectiveURL: RedactedURL
    /// Names the URL that answered without telling it: nil for the URL that was asked for, after redirects
    /// a digest.
    package var target: String?
    /// The final answer's head.
    package var response: ResponseHead
    /// Whether the server has confirmed the request's validators; then there is no body.
    package var isNotModified: Bool
    package var status: HTTPStatus { response.status }
    /// As the server sent it, parameters and all; not to be trusted, nor to be shown unread.
    package var contentType: ByteString? { response.contentType }
    /// The body's length, after a content coding was undone.
    package var bytes: Int64
    /// The body's first bytes: `prefixLength` of them, or all of a shorter body.
    package var prefix: [UInt8]
    /// Of the whole body (CRC-32 as PNG and gzip have it), also of one that was continued.
    package var crc32: UInt32
    /// How many bytes of the body were there already, left by an earlier attempt.
    package var resumedFrom: Int64
    package var redirects: Int
    /// From the start in the engine to the last byte.
    package var elapsed: Duration
    /// Whether no new connection had to be made.
    package var reusedConnection: Bool

    /// How much of each body is kept in memory to tell what it is.
    package static let prefixLength = 512
}
