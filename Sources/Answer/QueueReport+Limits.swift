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
        package var allowNetworks: [String] = []
        package var allowHosts: [String] = []
        package var denyHosts: [String] = []
        package var redirects = 5
        package var connectTimeout = 5.0
        package var timeout = 300.0
        package var stallTime = 30.0
        /// In bytes per second.
        package var stallRate = 1024
        package var maxHeaderBytes = 64 << 10
        /// Without a user and a password.
        package var proxy: String?
        package var caFile: String?
        /// Whether some hosts get headers of their own, such as `Authorization`.
        package var hasHeaders = false

        /// The defaults of the configuration.
        package static let standard = Downloads()
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
