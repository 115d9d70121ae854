import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool
import DarkroomWork
import Glibc
import Logging

/// The daemon's settings, checked. `Setting.all` has the key, the default and the meaning of each.
package struct Configuration: Sendable, Equatable {
    package enum Durability: String, Sendable, CaseIterable {
        /// Batches survive a power failure: files, folders and journals are synced before Darkroom relies on them.
        case full
        /// Batches survive the death of the process, but not a crash of the machine.
        case process
    }

    package var spool = ""
    package var logLevel = Logger.Level.info
    package var durability = Durability.full
    /// In seconds.
    package var settle = 0.0
    /// Seconds between two scans of the inbox if inotify cannot work.
    package var pollInterval = 0.0
    /// Seconds between two scans of the inbox if inotify works; 0 for no scans.
    package var rescanInterval = 0.0
    package var manifestLimits = ManifestLimits()
    package var defaultFilters: [Filter] = []
    package var recipes = RecipeBook()
    /// The folder of the recipes, an absolute path; nil without a configuration file.
    package var recipesFolder: String?
    package var folders: [HotFolder] = []
    package var window = 0
    package var maximumWaiting = 0
    /// Whether batches get a page if their manifests and recipes do not say so.
    package var makesPages = false
    package var downloadConcurrency = 0
    package var downloads = Downloads()
    /// The folder of the cache; nil for the default folder.
    package var cacheFolder: String?
    /// The maximum size of the cache; 0 for no cache.
    package var cacheBytes = 0
    /// The folder of the store of results; nil for the one in the cache's folder.
    package var resultsFolder: String?
    /// The maximum size of the store of results; 0 for no store.
    package var resultBytes = 0
    package var filterConcurrency = 0
    package var pictureLimits = PictureLimits()
    /// In bytes; 0 for half of the available memory.
    package var memoryLimit = 0
    package var sourceRoots: [String] = []
    /// The folders beneath which manifests may have their outputs delivered, in the form of `Delivery.folder`.
    package var deliveryRoots: [String] = []
    /// Names that no listing of a folder has, beside those of `IgnoredNames.table`.
    package var ignoredSources: [String] = []
    /// Seconds between two updates of a status file.
    package var statusInterval = 0.0
    package var retention = Retention.Limits()
    /// Whether the pictures of a submitted folder stay in its answer.
    package var keepsOriginals = false
    /// Seconds after which files that were left in `tmp` are removed; 0 for never.
    package var uploadRetention = 0.0
    package var metricsFile: String?
    /// Seconds between two updates of the metrics.
    package var metricsInterval = 0.0
    /// Seconds that running operations have to finish when the daemon stops.
    package var stopTimeout = 0.0

    /// The limits of a transfer; times are in seconds.
    package struct Downloads: Sendable, Equatable {
        package var maxBytes = 0
        package var redirects = 0
        package var connectTimeout = 0.0
        package var timeout = 0.0
        package var stallTime = 0.0
        /// In bytes per second.
        package var stallRate = 0
        /// Simultaneous transfers from one host.
        package var perHost = 0
        package var retryPolicy = DownloadRetryPolicy.standard
        package var caFile: String?
        package var proxy: String?
        package var maxHeaderBytes = 0
        package var allowNetworks: [IPNetwork] = []
        package var allowHosts: [HostPattern] = []
        package var denyHosts: [HostPattern] = []
        /// The file of `downloads.headers`, from the configuration or the service manager; nil for none.
        package var headersFile: String?
        package var headers = OriginHeaders()
        /// Whether every user of the machine can read the file.
        package var headersAreExposed = false
    }

    package init() {}

    package var isDurable: Bool { durability == .full }
}

extension Configuration {
    /// The settings that all transfers share, as the engine takes them.
    package var transferSettings: TransferSettings {
        TransferSettings(
            limits: TransferLimits(
                bytes: Int64(downloads.maxBytes), redirects: downloads.redirects,
                connect: .seconds(downloads.connectTimeout), total: .seconds(downloads.timeout),
                stall: .seconds(downloads.stallTime), stallBytesPerSecond: downloads.stallRate,
                maxHeaderBytes: downloads.maxHeaderBytes),
            connections: downloadConcurrency, caFile: downloads.caFile, proxy: downloads.proxy,
            rules: fetchRules, userAgent: TransferSettings.userAgent(version: Release.version))
    }

    /// Which sources may be downloaded, from which servers, and with which headers.
    package var fetchRules: FetchRules {
        FetchRules(
            addresses: AddressRules(allowNetworks: downloads.allowNetworks),
            hosts: HostRules(allow: downloads.allowHosts, deny: downloads.denyHosts),
            headers: downloads.headers)
    }

    /// Which files in the inbox are taken, and how manifests are read.
    package var examination: Examination {
        var limits = manifestLimits
        limits.delivery = deliveryRules
        return Examination(
            limits: limits, defaultFilters: defaultFilters, settle: settle,
            recipes: recipes, sources: localSources.finderMaker())
    }

    package var deliveryRules: DeliveryRules {
        var rules = DeliveryRules()
        rules.roots = deliveryRoots
        rules.ofHotFolders = folders.compactMap(\.delivery?.folder)
        rules.taken = folders.map { ($0.path, "the hot folder") }
        let own: [(path: String?, what: String)] = [
            (spool, "the spool"), (cacheFolder, "the cache"),
            (resultsFolder, "the store of results"),
        ]
        rules.taken += own.compactMap { path, what in path.map { ($0, what) } }
        rules.user = geteuid()
        return rules
    }

    package var ignoredNames: IgnoredNames { IgnoredNames(adding: ignoredSources) }

    /// Where manifests may take pictures of this machine from.
    private var localSources: LocalSources {
        var sources = LocalSources(roots: sourceRoots, maximumBytes: Int64(downloads.maxBytes))
        sources.ignored = ignoredNames
        return sources
    }

    package var batchSettings: BatchSettings {
        var settings = BatchSettings(examination: examination)
        settings.isDurable = isDurable
        settings.window = window
        settings.maximumWaiting = maximumWaiting
        settings.makesPages = makesPages
        settings.downloadConcurrency = downloadConcurrency
        settings.perHost = downloads.perHost
        settings.retryPolicy = downloads.retryPolicy
        settings.maximumSourceBytes = downloads.maxBytes
        settings.fetchRules = fetchRules
        settings.localSources = localSources
        settings.delivery = deliveryRules
        settings.folders = folders
        settings.cacheBytes = cacheBytes
        settings.resultBytes = resultBytes
        settings.filterConcurrency = filterConcurrency
        settings.pictureLimits = pictureLimits
        settings.memory = memory
        settings.statusInterval = statusInterval
        return settings
    }

    /// The memory that all pictures in work may use together, in bytes.
    package var memory: Int { memoryLimit > 0 ? memoryLimit : Machine.memory / 2 }

    /// The most important settings, for the journal.
    package var summary: String {
        let roots = sourceRoots.isEmpty ? "none" : sourceRoots.joined(separator: ", ")
        return
            "concurrent downloads: \(downloadConcurrency), filters: \(batchSettings.filterWidth), memory: "
            + "\(memory >> 20) MiB, durability: \(durability.rawValue), source roots: \(roots)"
    }
}
