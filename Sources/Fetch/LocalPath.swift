import DarkroomCore

/// A path beneath one of the source roots: relative to each of them in turn, or absolute. It is written as a path or as a
/// `file:` URL.
package struct LocalPath: Sendable {
    package let written: ByteString
    package let path: String

    /// The path of a `file:` URL (RFC 8089): without a host or with `localhost`, absolute, in UTF-8.
    static func path(ofFileURL source: ByteString) throws(FetchError) -> String {
        var rest = source.utf8.dropFirst("file:".utf8.count)
        if rest.starts(with: "//".utf8) {
            rest = rest.dropFirst(2)
            let host = rest.prefix { $0 != UInt8(ascii: "/") }
            guard host.isEmpty || ByteString(host).asciiLowercased == "localhost" else {
                throw .bad(source, "a file: URL names a path of this machine, without a host")
            }
            rest = rest.dropFirst(host.count)
        }
        guard rest.first == UInt8(ascii: "/") else {
            throw .bad(source, "the path of a file: URL must be absolute")
        }
        guard !rest.contains(UInt8(ascii: "?")), !rest.contains(UInt8(ascii: "#")) else {
            throw .bad(
                source,
                "a file: URL cannot have a query or a fragment (in a name, write ? and # as %3F and %23)"
            )
        }
        let (bytes, isValid) = PercentEncoding.decoded(rest)
        guard isValid, !bytes.contains(0), let path = String(validating: bytes, as: UTF8.self)
        else {
            throw .bad(
                source, "the %-escapes of the path are invalid, are not UTF-8, or contain a NUL")
        }
        return path
    }
}
