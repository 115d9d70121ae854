import DarkroomCore

extension SourceReference {
    /// More bytes than the host and the port of any URL have, with letters of four bytes; see
    /// ``URLAuthority/maximumHost``.
    private static let maximumHostBytes = 4 * (URLAuthority.maximumHost + 1) + ":65535".utf8.count

    /// The host of a source that is an `http:` or `https:` URL, in lower case and with its port: `h:443`; nil for any
    /// other source and for a URL without a host.
    ///
    /// It only decides which downloads share the limit of a host and take turns (`DownloadFairQueue`). For a malformed
    /// URL its value does not matter, because such a download fails before anything connects.
    package static func host(of source: ByteString) -> ByteString? {
        let text = source.utf8
        guard let colon = text.prefix(6).firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let port: String
        switch SourceScheme(ByteString(text[..<colon])) {
        case .http: port = ":80"
        case .https: port = ":443"
        case .file, nil: return nil
        }
        let rest = text[text.index(after: colon)...]
        guard rest.starts(with: "//".utf8) else { return nil }
        let authority = rest.dropFirst(2).prefix { !"/?#".utf8.contains($0) }
        let start = authority.lastIndex(of: UInt8(ascii: "@")).map(authority.index(after:))
        let host = ByteString(authority[(start ?? authority.startIndex)...]).asciiLowercased
        guard !host.isEmpty, host.utf8.count <= maximumHostBytes else { return nil }
        // A colon within the brackets of an IPv6 address does not begin a port.
        let afterAddress = host.utf8.lastIndex(of: UInt8(ascii: "]")) ?? host.utf8.startIndex
        guard let portColon = host.utf8[afterAddress...].lastIndex(of: UInt8(ascii: ":"))
        else { return "\(host)\(port)" }
        guard host.utf8.index(after: portColon) == host.utf8.endIndex else { return host }
        return "\(ByteString(host.utf8.dropLast()))\(port)"
    }
}
