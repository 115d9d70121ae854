import CDarkroomCurl

/// What bounds each transfer.
package struct TransferLimits: Sendable, Equatable {
    /// Of a body, counted as it arrives. 256 MiB is about what a 16-bit picture of 40 megapixels
    /// takes uncompressed.
    package var bytes: Int64
    package var redirects: Int
    /// From the start of a connection, its name's resolution included, to its being usable.
    package var connect: Duration
    /// From the first connection's start to the last byte, redirects included.
    package var total: Duration
    /// How long fewer than `stallBytesPerSecond` may arrive; libcurl counts in whole seconds.
    package var stall: Duration
    package var stallBytesPerSecond: Int
    /// Of a response's status line and header fields, those of a 1xx before it included.
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

/// What an engine's transfers have in common. A change counts for transfers started after it.
package struct TransferSettings: Sendable, Equatable {
    package var limits: TransferLimits
    /// How many connections are kept open for reuse: as many as transfers run at once.
    package var connections: Int
    /// Certificates to trust, PEM, in place of the system's.
    package var caFile: String?
    /// As libcurl's `CURLOPT_PROXY`: `http://proxy:3128`. With none, connections are direct, whatever
    /// `http_proxy` and its like say: what a download passes is said in the configuration alone. A proxy may
    /// have any address, and it resolves the names: only the addresses that URLs themselves name, and hosts,
    /// are judged before it is asked.
    package var proxy: String?
    /// What may be fetched, from whom, and with which headers of its own.
    package var rules: FetchRules
    package var userAgent: String
    /// Addresses for names, as libcurl's `CURLOPT_RESOLVE` has them: `name:port:address`. For tests alone, so
    /// that a name of theirs takes the way of any other.
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

    /// Whether a connection made with `other` settings may be used with these: whoever is at its other end has
    /// been judged by the same rules.
    func shareConnections(with other: TransferSettings) -> Bool {
        rules.addresses == other.rules.addresses && resolve == other.resolve
            && (proxy ?? "").isEmpty == (other.proxy ?? "").isEmpty
    }

    /// What Darkroom of this version calls itself, so that a server's operator can see who asks.
    package static func userAgent(version: String) -> String {
        let library = curl_version_info(CURLVERSION_FIRST).pointee.version.map {
            String(cString: $0)
        }
        return "Darkroom/\(version) (image spool; libcurl/\(library ?? "unknown"))"
    }
}
