extension DownloadTurns {
    /// The host of a source that is an `http:` or `https:` URL, in lower case and with its port: `h:443`. nil for
    /// any other source, and for what has no host.
    ///
    /// It only says which downloads belong together; what it makes of a malformed URL does not matter, for that
    /// fails before anything is connected.
    static func host(of source: String) -> String? {
        let text = source.utf8
        guard let colon = text.prefix(6).firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let port: String
        switch source[..<colon].lowercased() {
        case "http": port = ":80"
        case "https": port = ":443"
        default: return nil
        }
        let rest = text[text.index(after: colon)...]
        guard rest.starts(with: "//".utf8) else { return nil }
        let authority = rest.dropFirst(2).prefix { !"/?#".utf8.contains($0) }
        let start = authority.lastIndex(of: UInt8(ascii: "@")).map(authority.index(after:))
        let host = Substring(authority[(start ?? authority.startIndex)...]).lowercased()
        guard !host.isEmpty else { return nil }
        // A colon within the brackets of an IPv6 address is not the port's.
        let afterAddress = host.lastIndex(of: "]") ?? host.startIndex
        guard let portColon = host[afterAddress...].lastIndex(of: ":") else { return host + port }
        return host.index(after: portColon) == host.endIndex ? host.dropLast() + port : host
    }
}
