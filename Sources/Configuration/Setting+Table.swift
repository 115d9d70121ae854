import DarkroomBoard
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool
import DarkroomWork
import Foundation
import Logging

extension Setting {
    /// All settings, in the order of the configuration file.
    package static let all: [Setting] = [
        Setting("spool", "/var/spool/darkroom", "the spool's root folder") {
            text, configuration throws(SettingError) in
            guard text.hasPrefix("/") else { throw SettingError(expected: "an absolute path") }
            configuration.spool = text
        },
        choice(
            "durability", "full",
            "full: work survives a power cut; process: only a crash of darkroomd",
            \.durability),
        Setting("log.level", "info", "the lowest level that is logged") {
            text, configuration throws(SettingError) in
            guard let level = Logger.Level(rawValue: text) else {
                let names = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
                throw SettingError(expected: "one of \(names)")
            }
            configuration.logLevel = level
        },
        seconds(
            "inbox.settle", "1s", 0...3600,
            "how long a manifest written in place must be unchanged before it is judged", \.settle),
        seconds(
            "inbox.poll", "2s", 0.1...3600,
            "how often the inbox is scanned if inotify does not work", \.pollInterval),
        seconds(
            "inbox.rescan", "1h", 0...86400,
            "how often the inbox is scanned if inotify works; 0 for never", \.rescanInterval),
        optional(
            "inbox.recipe",
            "the recipe of a folder in the inbox that has neither a manifest nor a file NAME.recipe; empty for none",
            "the name of a recipe", \.recipes.ofFolders, isValid: Recipe.isName),
        Setting(
            "folders", "[]", "folders whose pictures are taken, each with a recipe"
        ) { text, configuration throws(SettingError) in
            do throws(ManifestRejection) {
                configuration.folders = try HotFolderList.read(yaml: Array(text.utf8))
            } catch {
                throw SettingError(
                    expected: "a list of folders such as \(HotFolderList.example) ("
                        + error.problems.map(\.message).joined(separator: "; ") + ")")
            }
        },
        bytes(
            "manifests.maxBytes", "64MiB", 1...(1 << 40), "the maximum size of a manifest",
            \.manifestLimits.bytes),
        integer(
            "manifests.maxImages", "200000", 1...10_000_000,
            "the maximum number of images of a manifest",
            \.manifestLimits.images),
        integer(
            "manifests.maxFilters", "64", 0...10_000, "the maximum number of filters of an image",
            \.manifestLimits.filters),
        Setting(
            "manifests.defaultFilters", "[{sepia: {intensity: 0.8}}]",
            "the filters of images for which the manifest has none, written as in a manifest"
        ) { text, configuration throws(SettingError) in
            do throws(ManifestRejection) {
                configuration.defaultFilters = try FilterList.read(yaml: Array(text.utf8))
            } catch {
                throw SettingError(
                    expected: "a list of filters: "
                        + error.problems.map(\.summary).joined(separator: "; "))
            }
        },
        choice(
            "manifests.defaultProfile", "keep",
            "the colour space of results for which the manifest has none: keep, srgb or p3",
            \.manifestLimits.profile),
        boolean(
            "recipes.only", "false", "whether only recipes may have filters, and not manifests",
            \.recipes.isOnly),
        integer(
            "batches.window", "64", 1...4096, "the maximum number of images of one batch in work",
            \.window),
        integer(
            "batches.maxWaiting", "10000", 1...1_000_000,
            "the maximum number of claimed batches that wait; further manifests stay in the inbox",
            \.maximumWaiting),
        boolean(
            "batches.page", "false",
            "whether batches get a page if their manifests and recipes do not say so",
            \.makesPages),
        integer(
            "downloads.concurrency", "16", 1...1024, "the maximum number of concurrent downloads",
            \.downloadConcurrency),
        integer(
            "downloads.perHost", "6", 1...1024,
            "the maximum number of concurrent downloads from one host",
            \.downloads.perHost),
        bytes(
            "downloads.maxBytes", "256MiB", 1...(1 << 40),
            "the maximum size of a source, downloaded or local",
            \.downloads.maxBytes),
        integer(
            "downloads.redirects", "5", 0...100, "the maximum number of redirects",
            \.downloads.redirects),
        seconds(
            "downloads.connectTimeout", "5s", 0.1...3600,
            "the maximum time to establish a connection",
            \.downloads.connectTimeout),
        seconds(
            "downloads.timeout", "300s", 0.1...86400, "the maximum time of a transfer",
            \.downloads.timeout),
        seconds(
            "downloads.stallTime", "30s", 1...3600,
            "how long a transfer may be slower than downloads.stallRate, even before the response",
            \.downloads.stallTime),
        bytes(
            "downloads.stallRate", "1KiB", 0...(1 << 40),
            "the rate in bytes per second below which a transfer stalls",
            \.downloads.stallRate),
        integer(
            "downloads.retries", "4", 0...100,
            "how often a download is retried after an error that may pass",
            \.downloads.retryPolicy.retries),
        seconds(
            "downloads.retryDelay", "1s", 0...3600,
            "the maximum wait before the first retry; it doubles for each further one",
            \.downloads.retryPolicy.delay),
        seconds(
            "downloads.retryDelayMax", "60s", 0...86400, "the upper limit of this maximum",
            \.downloads.retryPolicy.longestDelay),
        seconds(
            "downloads.retryAfterMax", "10min", 0...86400,
            "the maximum pause that a server may ask for; if it asks for more, the download fails",
            \.downloads.retryPolicy.longestRetryAfter),
        caFile("downloads.caFile", "a file of CA certificates that replace those of the system"),
        proxy(
            "downloads.proxy",
            "the URL of a proxy; it resolves names, so the daemon checks only addresses in URLs"),
        bytes(
            "downloads.maxHeaderBytes", "64KiB", 1024...(1 << 24),
            "the maximum size of the header of a response", \.downloads.maxHeaderBytes),
        networks(
            "downloads.allowNetworks",
            "networks that are allowed although their addresses are not global",
            \.downloads.allowNetworks),
        hosts(
            "downloads.allowHosts", "if not empty, the only hosts that are allowed",
            \.downloads.allowHosts),
        hosts(
            "downloads.denyHosts", "hosts that are never allowed",
            \.downloads.denyHosts),
        optional(
            "downloads.headers",
            "a file of request headers for individual origins; empty for the credential headers, if it exists",
            "an absolute path", \.downloads.headersFile
        ) { $0.hasPrefix("/") },
        optional(
            "cache.folder",
            "the folder of downloaded sources; empty for the folder from systemd (CacheDirectory=), or "
                + "/var/cache/darkroom if it exists", "an absolute path", \.cacheFolder
        ) { $0.hasPrefix("/") },
        bytes(
            "cache.maxBytes", "1GiB", 0...(1 << 50),
            "the maximum size of the cache; 0 disables it", \.cacheBytes),
        optional(
            "results.folder",
            "the folder of the store of results; empty for the folder results in that of the cache",
            "an absolute path", \.resultsFolder
        ) { $0.hasPrefix("/") },
        bytes(
            "results.maxBytes", "0", 0...(1 << 50),
            "the maximum size of the store of results; 0 for no store", \.resultBytes),
        integer(
            "filters.concurrency", "0", 0...1024,
            "the maximum number of pictures that are filtered concurrently; 0 for the number of cores",
            \.filterConcurrency),
        integer(
            "pictures.maxPixels", "268435456", 1...PictureLimits.mostPixels,
            "the maximum number of pixels of a picture, source or result", \.pictureLimits.pixels),
        choice(
            "pictures.confine", "others",
            "others: PNG and JPEG are decoded in the daemon, all other formats in confined processes; "
                + "all: PNG and JPEG too are decoded in confined processes",
            \.pictureLimits.confine),
        bytes(
            "limits.memory", "0", 0...(1 << 50),
            "the memory that all pictures in work may use together; 0 for half of what is available",
            \.memoryLimit),
        Setting(
            "sources.roots", "[]",
            "the folders that may contain local sources; if empty, local sources are refused"
        ) { text, configuration throws(SettingError) in
            configuration.sourceRoots = try Setting.list(text)
            let relative = configuration.sourceRoots.filter { !$0.hasPrefix("/") }
            // A single entry is the whole text, which the message shows anyway.
            if configuration.sourceRoots.count == 1, !relative.isEmpty {
                throw SettingError(expected: "a list of absolute paths")
            }
            try Setting.refuse(
                "a list of absolute paths", relative.map { "\"\($0)\" is not absolute" })
        },
        Setting(
            "sources.ignore", "[]",
            "further names of files and folders, with *, that no pattern means and no hot folder takes"
        ) { text, configuration throws(SettingError) in
            let names = try Setting.entries(of: text)
            try Setting.refuse(
                "a list of names such as [\"*-draft.jpg\", old]",
                names.filter { $0.isEmpty || $0.utf8.contains(UInt8(ascii: "/")) }.map {
                    "\"\($0)\" is not the name of a file or folder"
                })
            configuration.ignoredSources = names
        },
        Setting(
            "deliver.roots", "[]",
            "the folders beneath which manifests may have their results placed (deliver); if empty, only recipes and "
                + "hot folders may"
        ) { text, configuration throws(SettingError) in
            let entries = try Setting.list(text)
            configuration.deliveryRoots = entries.compactMap { Delivery.folder($0) }
            guard configuration.deliveryRoots.count < entries.count else { return }
            throw SettingError(expected: "a list of absolute paths")
        },
        seconds(
            "status.interval", "0.5s", 0...3600,
            "the shortest time between two updates of a status file", \.statusInterval),
        optional(
            "metrics.textfile",
            "a file for node_exporter's textfile collector, PATH.prom; empty for none",
            "an absolute path that ends in .prom", \.metricsFile
        ) { $0.hasPrefix("/") && $0.hasSuffix(".prom") },
        seconds(
            "metrics.interval", "15s", 1...3600,
            "the time between two updates of metrics.textfile",
            \.metricsInterval),
        seconds(
            "retention.age", "0", 0...decade,
            "how long finished batches stay in the outbox; 0 for ever", \.retention.age),
        bytes(
            "retention.bytes", "0", 0...(1 << 50),
            "the maximum size of all finished batches; 0 for no limit",
            \.retention.bytes),
        boolean(
            "retention.originals", "false",
            "whether the pictures of a submitted folder stay in its answer", \.keepsOriginals),
        seconds(
            "retention.tmp", "0", 0...decade,
            "how long unchanged files stay in tmp; 0 for ever", \.uploadRetention),
        seconds(
            "stop.timeout", "60s", 0...86400,
            "how long running operations may take to finish when the daemon stops", \.stopTimeout),
    ]

    package static func named(_ key: String) -> Setting? { all.first { $0.key == key } }
}
