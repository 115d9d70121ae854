import DarkroomFetch
import DarkroomPicture
import DarkroomSpool
import Foundation

/// What bounds the work on batches. A change counts for what begins after it.
package struct BatchSettings: Sendable {
    /// Whether what is written is synced before it counts.
    package var isDurable = true
    /// Images of one batch that have a place at once.
    package var window = 128
    /// Claimed batches that may wait.
    package var maximumWaiting = 0
    package var downloadConcurrency = 16
    /// Transfers of one host at once.
    package var perHost = 6
    package var backOff = BackOff()
    /// Bytes of one source.
    package var maximumSourceBytes = 0
    package var fetchRules = FetchRules()
    package var localSources = LocalSources(roots: [], maximumBytes: 0)
    /// In bytes; 0 for no cache.
    package var cacheBytes = 0
    /// Pictures filtered at once; 0 for as many as there are cores.
    package var filterConcurrency = 0
    package var pictureLimits = PictureLimits()
    /// What the pictures in work may take together, in bytes.
    package var memory = 0
    /// Seconds between two writings of one status file.
    package var statusInterval = 0.0
    package var examination: Examination

    package init(examination: Examination) {
        self.examination = examination
    }
}

extension BatchSettings {
    /// Owners who have nothing at work get so many places beyond those that are counted: transfers and filters may last for
    /// as long as they like, so a taken place cannot be waited for. Each filter at work has a thread, of which Dispatch makes
    /// 255 at most.
    static let placesOfIdleOwners = 64

    /// Pictures filtered at once, but for those in places that are kept.
    package var filterWidth: Int {
        filterConcurrency > 0 ? filterConcurrency : ProcessInfo.processInfo.activeProcessorCount
    }

    var filterPlaces: FilterPlaces { FilterPlaces(width: filterWidth) }

    /// Transfers at once, those of owners who had nothing at work included.
    var mostDownloads: Int { downloadConcurrency + Self.placesOfIdleOwners }

    var saturation: Int { downloadConcurrency + filterWidth }

    var downloadLimits: DownloadFairQueue.Limits {
        DownloadFairQueue.Limits(
            places: downloadConcurrency, perHost: perHost, keptForOwners: Self.placesOfIdleOwners)
    }
}
