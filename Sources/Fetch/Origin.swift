import DarkroomCore

/// The scope of a credential (RFC 6454): scheme, host and port of a URL.
package struct Origin: Sendable, Hashable, CustomStringConvertible {
    /// `http` or `https`.
    package let scheme: String
    package let host: HostName
    package let port: Int

    /// If `port` is nil, it is the default port of the scheme. The host is in the form of libcurl's URL parser.
    package init(scheme: String, host: ByteString, port: Int? = nil) {
        let scheme = ByteString(scheme).asciiLowercased.string
        self.scheme = scheme
        self.host = HostName(host)
        self.port = port ?? Self.standardPort(scheme)
    }

    /// Without the port if it is the default of the scheme: `https://example.org`.
    package var description: String {
        "\(scheme)://\(host)" + (port == Self.standardPort(scheme) ? "" : ":\(port)")
    }

    private static func standardPort(_ scheme: String) -> Int { scheme == "http" ? 80 : 443 }
}
