import CDarkroomCurl

package struct TransferLimits: Sendable, Equatable {
    /// The size of a body, counted as it arrives. 256 MiB is about the size of an uncompressed 16-bit picture of 40
    /// megapixels.
    package var bytes: Int64
    package var redirects: Int
    /// The time to establish a connection, including the resolution of the name.
    package var connect: Duration
    /// The time from the start of the first connection to the last byte, including redirects.
    package var total: Duration
    /// How long a transfer may be slower than `stallBytesPerSecond`; libcurl counts whole seconds.
    package var stall: Duration
    package var stallBytesPerSecond: Int
    /// The size of a response's status line and header fields, including preliminary ones (1xx).
    package var maxHeaderBytes: Int

    package init(
        bytes: Int64 = 256 << 20, redirects: Int = 5, connect: Duration = .seconds(5),
        total: Duration = .seconds(300), stall: Duration = .seconds(30),
        stallBytesPerSecond: Int = 1024, maxHeaderBytes: Int = 64 << 10
    ) {
        self.bytes = bytes
        self.redirects = redirects
        self.connect = connect
        self.total = total
        self.stall = stall
        self.stallBytesPerSecond = stallBytesPerSecond
        self.maxHeaderBytes = maxHeaderBytes
    }
}

/// The common settings of an engine's transfers. A change applies to transfers that start after it.
package struct TransferSettings: Sendable, Equatable {
    package var limits: TransferLimits
    /// The number of connections that are kept open for reuse: as many as concurrent transfers.
    package var connections: Int
    /// Trusted certificates in PEM, instead of those of the system.
    package var caFile: String?
    /// As in libcurl's `CURLOPT_PROXY`: `http://proxy:3128`. Without it, connections are direct, whatever `http_proxy`
    /// and similar variables say: only the configuration decides. A proxy may have any address, and it resolves names,
    /// so only hosts, and addresses in URLs, are checked before a request.
    package var proxy: String?
    /// The rules for requests, and the headers for individual origins.
    package var rules: FetchRules
    package var userAgent: String
    /// Addresses for names, as in libcurl's `CURLOPT_RESOLVE`: `name:port:address`. Only for tests, so that their names
    /// are handled like any other.
    package var resolve: [String]

    package init(
        limits: TransferLimits = TransferLimits(), connections: Int = 16, caFile: String? = nil,
        proxy: String? = nil, rules: FetchRules = FetchRules(), userAgent: String,
        resolve: [String] = []
    ) {
        self.limits = limits
        self.connections = connections
        self.caFile = caFile
        self.proxy = proxy
        self.rules = rules
        self.userAgent = userAgent
        self.resolve = resolve
    }

    /// Whether a connection that was made with `other` settings may be used with these: the same rules must have
    /// checked its peer.
    func shareConnections(with other: TransferSettings) -> Bool {
        rules.addresses == other.rules.addresses && resolve == other.resolve
            && (proxy ?? "").isEmpty == (other.proxy ?? "").isEmpty
    }

    /// The User-Agent, so that the operator of a server can see who sends the requests.
    package static func userAgent(version: String) -> String {
        let library = darkroom_curl_version().map { String(cString: $0) }
        return "Darkroom/\(version) (image spool; libcurl/\(library ?? "unknown"))"
    }
}
