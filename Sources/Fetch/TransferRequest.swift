import DarkroomCore

/// Identifies one transfer of one engine.
package struct TransferID: Sendable, Hashable {
    let number: UInt64
}

/// One download: its source and its output.
package struct TransferRequest: Sendable {
    package var url: RemoteURL
    package var output: TransferOutput
    /// The part that an earlier attempt has left in the output, to be continued. If the server does not support this,
    /// the whole body is fetched.
    package var resume: PartialBody?
    /// The validators of an existing copy, which need not be sent again if it has not changed. If there is something to
    /// resume, that takes precedence.
    package var validators: Validators?
    /// The URL from which the validators came, as `TransferReport.target` identifies it; nil is the requested URL. They
    /// are not sent to another URL, because they could mean another file there.
    package var target: String?
    /// The number of first bytes of the body that are wanted; nil for the whole body. The server is asked for no more
    /// (Range), and if it sends more, the transfer ends. Nothing can be resumed.
    package var firstBytes: Int64?

    package init(
        url: RemoteURL, output: TransferOutput, resume: PartialBody? = nil,
        validators: Validators? = nil, target: String? = nil, firstBytes: Int64? = nil
    ) {
        self.url = url
        self.output = output
        self.resume = resume
        self.validators = validators
        self.target = target
        self.firstBytes = firstBytes
    }
}

/// The first bytes of a body that an interrupted transfer has left in its output.
package struct PartialBody: Sendable, Equatable {
    /// Their number, from the first byte of the body.
    package var bytes: Int64
    /// The validator for If-Range, which the server must confirm: a strong entity tag, or a modification date that is
    /// strong according to RFC 9110, section 8.8.2.2.
    package var validator: ByteString
    package var crc32: UInt32
    /// The length of the whole body, if the server has told it.
    package var total: Int64?
    /// The URL from which they came, as `TransferReport.target` identifies it; nil is the requested URL.
    package var target: String?
}

/// The file to which a transfer writes, from its first byte on. It stays open while something refers to it: the
/// transfer while it runs, and its report later.
package final class TransferOutput: Sendable {
    package let descriptor: Descriptor
    /// The name of the file in messages.
    package let name: String

    package init(_ descriptor: consuming Descriptor, name: String) {
        self.descriptor = descriptor
        self.name = name
    }
}
