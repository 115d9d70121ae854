import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture
import DarkroomWork

extension ConfigurationLoader.Loaded {
    /// What submitters need to know, for `queue.json`.
    package var queueLimits: QueueReport.Limits { queueLimits(seenBy: .current) }

    /// - Parameter view: the part of the machine that the daemon can see; nil for all of it.
    func queueLimits(seenBy view: ServiceView?) -> QueueReport.Limits {
        let roots = configuration.sourceRoots
        return QueueReport.Limits(
            manifestBytes: configuration.manifestLimits.bytes,
            images: configuration.manifestLimits.images,
            filters: configuration.manifestLimits.filters,
            defaultFilters: self["manifests.defaultFilters"]?.text ?? "",
            defaultProfile: configuration.manifestLimits.profile,
            sourceRoots: roots,
            readableRoots: roots.filter { (view?.access(to: $0) ?? .reading) >= .reading },
            service: view.map { .init(unit: $0.unit, hidesHomes: $0.hidesHomes) },
            sourceBytes: configuration.downloads.maxBytes,
            downloads: configuration.downloads.report,
            pictures: QueueReport.Limits.Pictures(
                pixels: configuration.pictureLimits.pixels,
                memory: configuration.batchSettings.mostMemoryOfOne,
                cores: Cores.shared.most + 1, confine: configuration.pictureLimits.confine),
            recipesFolder: configuration.recipesFolder,
            recipesOnly: configuration.recipes.isOnly ? true : nil,
            inboxRecipe: configuration.recipes.ofFolders,
            ignoredSources: configuration.ignoredSources.isEmpty
                ? nil : configuration.ignoredSources)
    }
}

extension Configuration.Downloads {
    /// Every user of the spool can read it, so it has no secrets.
    fileprivate var report: QueueReport.Limits.Downloads {
        var report = QueueReport.Limits.Downloads.standard
        report.allowNetworks = allowNetworks.map(\.description)
        report.allowHosts = allowHosts.map(\.description)
        report.denyHosts = denyHosts.map(\.description)
        report.redirects = redirects
        report.connectTimeout = connectTimeout
        report.timeout = timeout
        report.stallTime = stallTime
        report.stallRate = stallRate
        report.maxHeaderBytes = maxHeaderBytes
        report.proxy = proxy.flatMap { $0.isEmpty ? nil : RedactedURL.whole($0) }
        report.caFile = caFile
        report.hasHeaders = !headers.isEmpty
        return report
    }
}
