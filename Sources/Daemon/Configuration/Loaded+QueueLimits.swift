import DarkroomCore
import DarkroomManifest
import DarkroomSpool

extension ConfigurationLoader.Loaded {
    /// What submitters need to know, for `queue.json`.
    var queueLimits: QueueReport.Limits { queueLimits(seenBy: .current) }

    /// - Parameter view: the part of the machine that the daemon can see; nil for all of it.
    func queueLimits(seenBy view: ServiceView?) -> QueueReport.Limits {
        let roots = configuration.sourceRoots
        return QueueReport.Limits(
            manifestBytes: configuration.manifestLimits.bytes,
            images: configuration.manifestLimits.images,
            filters: configuration.manifestLimits.filters,
            defaultFilters: settings.first { $0.setting.key == "manifests.defaultFilters" }?.text
                ?? "",
            sourceRoots: roots,
            readableRoots: roots.filter { (view?.access(to: $0) ?? .reading) >= .reading },
            sourceBytes: configuration.downloads.maxBytes)
    }
}
