import DarkroomPicture

extension QueueReport.Limits {
    /// The unit that gives the daemon its view of the machine.
    package struct Service: Codable, Sendable, Equatable {
        /// The name of the unit for `systemctl edit`.
        package var unit: String
        /// Whether it hides home folders even if they are bound.
        package var hidesHomes: Bool

        package init(unit: String, hidesHomes: Bool) {
            self.unit = unit
            self.hidesHomes = hidesHomes
        }
    }

    /// What may be downloaded from where: the settings that begin with `downloads`, without secrets. Times are in
    /// seconds.
    package struct Downloads: Codable, Sendable, Equatable {
        package var allowNetworks: [String]
        package var allowHosts: [String]
        package var denyHosts: [String]
        package var redirects: Int
        package var connectTimeout: Double
        package var timeout: Double
        package var stallTime: Double
        /// In bytes per second.
        package var stallRate: Int
        package var maxHeaderBytes: Int
        /// Without a user and a password.
        package var proxy: String?
        package var caFile: String?
        /// Whether some hosts get headers of their own, such as `Authorization`.
        package var hasHeaders: Bool

        package init(
            allowNetworks: [String] = [], allowHosts: [String] = [], denyHosts: [String] = [],
            redirects: Int = 5, connectTimeout: Double = 5, timeout: Double = 300,
            stallTime: Double = 30, stallRate: Int = 1024, maxHeaderBytes: Int = 64 << 10,
            proxy: String? = nil, caFile: String? = nil, hasHeaders: Bool = false
        ) {
            self.allowNetworks = allowNetworks
            self.allowHosts = allowHosts
            self.denyHosts = denyHosts
            self.redirects = redirects
            self.connectTimeout = connectTimeout
            self.timeout = timeout
            self.stallTime = stallTime
            self.stallRate = stallRate
            self.maxHeaderBytes = maxHeaderBytes
            self.proxy = proxy
            self.caFile = caFile
            self.hasHeaders = hasHeaders
        }
    }

    /// What a picture may need.
    package struct Pictures: Codable, Sendable, Equatable {
        package var pixels: Int
        /// The memory that one picture may have, in bytes: that of all pictures without the part for others.
        package var memory: Int
        /// The cores on which the daemon may run; more of them need more memory.
        package var cores: Int
        /// Which are decoded in a confined process; nil in the reports of older daemons.
        package var confine: ConfineRule?

        package init(pixels: Int, memory: Int, cores: Int, confine: ConfineRule? = nil) {
            self.pixels = pixels
            self.memory = memory
            self.cores = cores
            self.confine = confine
        }
    }
}
