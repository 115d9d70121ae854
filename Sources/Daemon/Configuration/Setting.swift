import DarkroomBatch
import DarkroomCore
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool
import Foundation
import Logging

/// One key of the configuration: its name, its default as one would write it, and how a text becomes the
/// value.
package struct Setting: Sendable {
    package let key: String
    package let defaultValue: String
    /// What it does and in which unit, one sentence.
    package let help: String
    let apply: @Sendable (_ text: String, inout Configuration) throws(SettingError) -> Void
    private let isURL: Bool

    init(
        _ key: String, _ defaultValue: String, _ help: String, isURL: Bool = false,
        apply: @escaping @Sendable (String, inout Configuration) throws(SettingError) -> Void
    ) {
        self.key = key
        self.defaultValue = defaultValue
        self.help = help
        self.isURL = isURL
        self.apply = apply
    }

    /// Its text as it may be printed: a URL without the password it may have.
    package func shown(_ text: String) -> String { isURL ? RedactedURL.text(text) : text }

    /// The environment variable that overrides it: `downloads.maxBytes` is DARKROOM_DOWNLOADS_MAX_BYTES.
    package var variable: String {
        var name = "DARKROOM_"
        for character in key {
            if character == "." {
                name += "_"
            } else {
                if character.isUppercase { name += "_" }
                name += character.uppercased()
            }
        }
        return name
    }
}

/// A text that a setting does not take.
package struct SettingError: Error, Sendable {
    /// Ends the sentence "… must be".
    package let expected: String
    /// What was probably meant, as it is to be written.
    package let correction: String?

    init(expected: String, correction: String? = nil) {
        self.expected = expected
        self.correction = correction
    }
}

extension Setting {
    /// Every setting, in the order of the configuration file.
    package static let all: [Setting] = [
        Setting("spool", "/var/spool/darkroom", "the spool's root folder") {
            text, configuration throws(SettingError) in
            guard text.hasPrefix("/") else { throw SettingError(expected: "an absolute path") }
            configuration.spool = text
        },
        choice(
            "durability", "full", "full survives a power cut, process a crash or kill of darkroomd",
            \.durability),
        Setting("log.level", "info", "the least level that is logged") {
            text, configuration throws(SettingError) in
            guard let level = Logger.Level(rawValue: text) else {
                let names = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
                throw SettingError(expected: "one of \(names)")
            }
            configuration.logLevel = level
        },
        seconds(
            "inbox.settle", "1s", 0...3600,
            "how long a manifest written in place must be left alone before it is judged", \.settle),
        seconds(
            "inbox.poll", "2s", 0.1...3600,
            "how often the inbox is looked into where inotify does not work", \.pollInterval),
        seconds(
            "inbox.rescan", "1h", 0...86400,
            "how often the inbox is scanned although inotify works; 0 for never", \.rescanInterval),
        bytes(
            "manifests.maxBytes", "64MiB", 1...(1 << 40), "the largest manifest",
            \.manifestLimits.bytes),
        integer(
            "manifests.maxImages", "200000", 1...10_000_000, "the most images of a manifest",
            \.manifestLimits.images),
        integer(
            "manifests.maxFilters", "64", 0...10_000, "the most filters of an image",
            \.manifestLimits.filters),
        Setting(
            "manifests.defaultFilters", "[{sepia: {intensity: 0.8}}]",
            "the filters of images whose manifest names none, written as in a manifest"
        ) { text, configuration throws(SettingError) in
            do throws(ManifestRejection) {
                configuration.defaultFilters = try FilterList.read(yaml: Array(text.utf8))
            } catch {
                throw SettingError(
                    expected: "a list of filters: "
                        + error.problems.map(\.summary).joined(separator: "; "))
            }
        },
        integer(
            "batches.window", "64", 1...4096, "the most images of one batch in work at once",
            \.window),
        integer(
            "batches.maxWaiting", "10000", 1...1_000_000,
            "the most claimed batches that wait; further manifests stay in the inbox",
            \.maximumWaiting),
        integer(
            "downloads.concurrency", "16", 1...1024, "transfers at once", \.downloadConcurrency),
        integer(
            "downloads.perHost", "6", 1...1024, "transfers of one host at once",
            \.downloads.perHost),
        bytes(
            "downloads.maxBytes", "256MiB", 1...(1 << 40),
            "the largest picture that is fetched or read",
            \.downloads.maxBytes),
        integer(
            "downloads.redirects", "5", 0...100, "the most redirects that are followed",
            \.downloads.redirects),
        seconds(
            "downloads.connectTimeout", "5s", 0.1...3600,
            "how long a connection may take to be made",
            \.downloads.connectTimeout),
        seconds(
            "downloads.timeout", "300s", 0.1...86400, "how long a transfer may take",
            \.downloads.timeout),
        seconds(
            "downloads.stallTime", "30s", 1...3600,
            "how long a transfer may be slower than downloads.stallRate, its answer's beginning included",
            \.downloads.stallTime),
        bytes(
            "downloads.stallRate", "1KiB", 0...(1 << 40),
            "bytes a second below which a transfer stalls",
            \.downloads.stallRate),
        integer(
            "downloads.retries", "4", 0...100,
            "how often a download that failed is tried again, where that can help",
            \.downloads.backOff.retries),
        seconds(
            "downloads.retryDelay", "1s", 0...3600,
            "how long the first of these waits may be; each further one may be twice as long",
            \.downloads.backOff.delay),
        seconds(
            "downloads.retryDelayMax", "60s", 0...86400, "how long any of these waits may be",
            \.downloads.backOff.longestDelay),
        seconds(
            "downloads.retryAfterMax", "10min", 0...86400,
            "how long a server may ask to wait; one that asks for more is not asked again",
            \.downloads.backOff.longestRetryAfter),
        caFile("downloads.caFile", "a file of CA certificates instead of the system's"),
        proxy(
            "downloads.proxy",
            "the URL of a proxy; it resolves names, so that only addresses in URLs are judged here"),
        bytes(
            "downloads.maxHeaderBytes", "64KiB", 1024...(1 << 24),
            "the largest header of a response", \.downloads.maxHeaderBytes),
        networks(
            "downloads.allowNetworks",
            "networks that may be connected to although they are not of global addresses",
            \.downloads.allowNetworks),
        hosts(
            "downloads.allowHosts", "the hosts that may be asked, and no others; none means any",
            \.downloads.allowHosts),
        hosts(
            "downloads.denyHosts", "hosts that may not be asked, whatever allows them",
            \.downloads.denyHosts),
        Setting(
            "downloads.headers", "",
            "a file of request headers for single origins; empty for the credential headers, if there is one"
        ) { text, configuration throws(SettingError) in
            guard text.isEmpty || text.hasPrefix("/") else {
                throw SettingError(expected: "an absolute path")
            }
            configuration.downloads.headersFile = text.isEmpty ? nil : text
        },
        Setting(
            "cache.folder", "",
            "where fetched sources are kept for further use; empty for what systemd gives (CacheDirectory=), or "
                + "/var/cache/darkroom"
        ) { text, configuration throws(SettingError) in
            guard text.isEmpty || text.hasPrefix("/") else {
                throw SettingError(expected: "an absolute path")
            }
            configuration.cacheFolder = text.isEmpty ? nil : text
        },
        bytes(
            "cache.maxBytes", "1GiB", 0...(1 << 50),
            "how large the cache may be; 0 for none", \.cacheBytes),
        integer(
            "filters.concurrency", "0", 0...1024,
            "pictures filtered at once; 0 means as many as there are cores", \.filterConcurrency),
        integer(
            "pictures.maxPixels", "268435456", 1...PictureLimits.mostPixels,
            "the most pixels of a picture, read or made", \.pictureLimits.pixels),
        bytes(
            "limits.memory", "0", 0...(1 << 50),
            "the memory that pictures in work may take together; 0 means half of what there is",
            \.memoryLimit),
        Setting(
            "sources.roots", "[]",
            "the folders beneath which local sources may lie; none means that they are refused"
        ) { text, configuration throws(SettingError) in
            configuration.sourceRoots = try Setting.list(text)
            let relative = configuration.sourceRoots.filter { !$0.hasPrefix("/") }
            // One that is wrong alone is named by the text, which is shown.
            if configuration.sourceRoots.count == 1, !relative.isEmpty {
                throw SettingError(expected: "a list of absolute paths")
            }
            try Setting.refuse("a list of absolute paths", relative.map { "\"\($0)\" is none" })
        },
        seconds(
            "status.interval", "0.5s", 0...3600,
            "the least time between two writings of a status file", \.statusInterval),
        Setting(
            "metrics.textfile", "",
            "the file for node_exporter's textfile collector, PATH.prom; empty for none"
        ) { text, configuration throws(SettingError) in
            guard text.isEmpty || text.hasPrefix("/") && text.hasSuffix(".prom") else {
                throw SettingError(expected: "an absolute path that ends in .prom")
            }
            configuration.metricsFile = text.isEmpty ? nil : text
        },
        seconds(
            "metrics.interval", "15s", 1...3600,
            "the time between two writings of metrics.textfile",
            \.metricsInterval),
        seconds(
            "retention.age", "0", 0...decade,
            "how long finished entries stay in the outbox; 0 for ever", \.retention.age),
        bytes(
            "retention.bytes", "0", 0...(1 << 50),
            "how large all finished entries may be before the oldest are removed; 0 for any size",
            \.retention.bytes),
        seconds(
            "retention.tmp", "0", 0...decade,
            "how long files that nobody changes stay in tmp; 0 for ever", \.uploadRetention),
        seconds(
            "stop.timeout", "60s", 0...86400,
            "how long running operations may finish when the daemon stops", \.stopTimeout),
    ]

    package static func named(_ key: String) -> Setting? { all.first { $0.key == key } }
}
