import DarkroomCore

/// What a credential is for (RFC 6454): scheme, host and port of a URL.
package struct Origin: Sendable, Hashable, CustomStringConvertible {
    /// `http` or `https`.
    package let scheme: String
    package let host: HostName
    package let port: Int

    /// `port` nil is the scheme's own. The host as libcurl's URL parser gives it.
    package init(scheme: String, host: ByteString, port: Int? = nil) {
        let scheme = ByteString(scheme).asciiLowercased.string
        self.scheme = scheme
        self.host = HostName(host)
        self.port = port ?? Self.standardPort(scheme)
    }

    /// A URL's; nil for one that no `RemoteURL` could be made of. An international name is taken as it is
    /// written, so a URL that may have one is given as libcurl writes it.
    package init?(url: RemoteURL) {
        let rest = url.text.utf8.dropFirst(url.scheme.utf8.count + "://".utf8.count)
        let text = ByteString(rest.prefix { !"/?#".utf8.contains($0) })
        guard let authority = try? URLAuthority(text) else { return nil }
        self.init(scheme: url.scheme, host: authority.host, port: authority.port)
    }

    /// Without the port where it is the scheme's own: `https://example.org`.
    package var description: String {
        "\(scheme)://\(host)" + (port == Self.standardPort(scheme) ? "" : ":\(port)")
    }

    private static func standardPort(_ scheme: String) -> Int { scheme == "http" ? 80 : 443 }
}
