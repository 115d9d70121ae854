import DarkroomBatch
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool
import Logging

/// The daemon's settings, checked. `Setting.all` gives each its key, its default and its meaning.
package struct Configuration: Sendable, Equatable {
    package enum Durability: String, Sendable, CaseIterable {
        /// Survives a power cut: files, folders and journals are synced before they count.
        case full
        /// Survives the death of the process, not of the machine.
        case process
    }

    package var spool = ""
    package var logLevel = Logger.Level.info
    package var durability = Durability.full
    /// Seconds.
    package var settle = 0.0
    /// Seconds between looks into the inbox where inotify cannot work.
    package var pollInterval = 0.0
    /// Seconds between scans of the inbox where inotify works; 0 for none.
    package var rescanInterval = 0.0
    package var manifestLimits = ManifestLimits()
    package var defaultFilters: [Filter] = []
    package var window = 0
    package var maximumWaiting = 0
    package var downloadConcurrency = 0
    package var downloads = Downloads()
    /// Where fetched sources are kept; nil for the place that is used where none is named.
    package var cacheFolder: String?
    /// 0 for no cache.
    package var cacheBytes = 0
    package var filterConcurrency = 0
    package var pictureLimits = PictureLimits()
    /// Bytes; 0 for half of what there is.
    package var memoryLimit = 0
    package var sourceRoots: [String] = []
    /// Seconds between two writings of one status file.
    package var statusInterval = 0.0
    var retention = Retention.Limits()
    /// Seconds after which files that were left in `tmp` are removed; 0 for never.
    package var uploadRetention = 0.0
    /// Where the metrics are written; nil for nowhere.
    package var metricsFile: String?
    /// Seconds between two writings of the metrics.
    package var metricsInterval = 0.0
    /// Seconds that running operations get to finish when the daemon stops.
    package var stopTimeout = 0.0

    /// Bounds of a transfer, times in seconds.
    package struct Downloads: Sendable, Equatable {
        package var maxBytes = 0
        package var redirects = 0
        package var connectTimeout = 0.0
        package var timeout = 0.0
        package var stallTime = 0.0
        /// Bytes a second.
        package var stallRate = 0
        /// Transfers of one host at once.
        package var perHost = 0
        package var backOff = BackOff()
        package var caFile: String?
        package var proxy: String?
        package var maxHeaderBytes = 0
        package var allowNetworks: [IPNetwork] = []
        package var allowHosts: [HostPattern] = []
        package var denyHosts: [HostPattern] = []
        /// The file of `headers`, by the configuration or the service manager; nil for none.
        package var headersFile: String?
        package var headers = OriginHeaders()
        /// Whether the file can be read by every user of the machine.
        package var headersAreExposed = false
    }

    package init() {}

    package var isDurable: Bool { durability == .full }
}

extension Configuration {
    /// What the transfers have in common, as the engine takes it.
    var transferSettings: TransferSettings {
        TransferSettings(
            limits: TransferLimits(
                bytes: Int64(downloads.maxBytes), redirects: downloads.redirects,
                connect: .seconds(downloads.connectTimeout), total: .seconds(downloads.timeout),
                stall: .seconds(downloads.stallTime), stallBytesPerSecond: downloads.stallRate,
                maxHeaderBytes: downloads.maxHeaderBytes),
            connections: downloadConcurrency, caFile: downloads.caFile, proxy: downloads.proxy,
            rules: fetchRules, userAgent: TransferSettings.userAgent(version: Release.version))
    }

    /// What may be fetched, from whom, and what is said to whom.
    var fetchRules: FetchRules {
        FetchRules(
            addresses: AddressRules(allowNetworks: downloads.allowNetworks),
            hosts: HostRules(allow: downloads.allowHosts, deny: downloads.denyHosts),
            headers: downloads.headers)
    }

    /// Which files in the inbox are taken, and how manifests are read.
    private var examination: Examination {
        Examination(limits: manifestLimits, defaultFilters: defaultFilters, settle: settle)
    }

    var batchSettings: BatchSettings {
        var settings = BatchSettings(examination: examination)
        settings.isDurable = isDurable
        settings.window = window
        settings.maximumWaiting = maximumWaiting
        settings.downloadConcurrency = downloadConcurrency
        settings.perHost = downloads.perHost
        settings.backOff = downloads.backOff
        settings.maximumSourceBytes = downloads.maxBytes
        settings.fetchRules = fetchRules
        settings.localSources = LocalSources(
            roots: sourceRoots, maximumBytes: Int64(downloads.maxBytes))
        settings.cacheBytes = cacheBytes
        settings.filterConcurrency = filterConcurrency
        settings.pictureLimits = pictureLimits
        settings.memory = memory
        settings.statusInterval = statusInterval
        return settings
    }

    var intakeSettings: IntakeSettings {
        IntakeSettings(
            isDurable: isDurable, pollInterval: pollInterval, rescanInterval: rescanInterval,
            maximumWaiting: maximumWaiting, examination: examination)
    }

    /// What the pictures in work may take together, in bytes.
    var memory: Int { memoryLimit > 0 ? memoryLimit : Machine.memory / 2 }

    /// The settings that matter most, for the journal.
    var summary: String {
        let roots = sourceRoots.isEmpty ? "none" : sourceRoots.joined(separator: ", ")
        return
            "concurrent downloads: \(downloadConcurrency), filters: \(batchSettings.filterWidth), memory: "
            + "\(memory >> 20) MiB, durability: \(durability.rawValue), source roots: \(roots)"
    }
}
