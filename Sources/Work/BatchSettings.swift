import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool

/// The limits of the work on batches. A change applies to work that begins after it.
package struct BatchSettings: Sendable {
    /// Whether data is synced before Darkroom relies on it.
    package var isDurable = true
    /// Images of one batch that may have places at the same time.
    package var window = 128
    /// Claimed batches that may wait.
    package var maximumWaiting = 0
    package var downloadConcurrency = 16
    /// Simultaneous transfers from one host.
    package var perHost = 6
    package var retryPolicy = DownloadRetryPolicy.standard
    /// The maximum size of a source.
    package var maximumSourceBytes = 0
    package var fetchRules = FetchRules()
    package var localSources = LocalSources(roots: [], maximumBytes: 0)
    /// In bytes; 0 for no cache.
    package var cacheBytes = 0
    /// The size of the store of results, in bytes; 0 for no store.
    package var resultBytes = 0
    /// Pictures filtered at the same time; 0 for the number of cores.
    package var filterConcurrency = 0
    package var pictureLimits = PictureLimits()
    /// The memory that all pictures in work may use together, in bytes.
    package var memory = 0
    /// Seconds between two updates of a status file.
    package var statusInterval = 0.0
    /// Whether batches get a page if their manifests do not say so.
    package var makesPages = false
    /// Where outputs may be delivered to.
    package var delivery = DeliveryRules()
    /// The hot folders, for their originals.
    package var folders: [HotFolder] = []
    package var examination: Examination

    package init(examination: Examination) { self.examination = examination }
}

extension BatchSettings {
    /// Additional places for owners who have nothing in work. Transfers and filters have no time limit, so these owners
    /// cannot wait for a taken place. Each running filter has a thread, and Dispatch makes at most 255 threads.
    static let slotsOfIdleOwners = 64

    /// Pictures filtered at the same time, without those in additional places.
    package var filterWidth: Int { filterConcurrency > 0 ? filterConcurrency : Machine.cores }

    var filterSlots: FilterSlots {
        FilterSlots(width: filterWidth, keptForOwners: Self.slotsOfIdleOwners)
    }

    /// The memory that one picture may have, in bytes.
    package var mostMemoryOfOne: Int {
        var budget = MemoryBudget()
        _ = budget.setLimits(bytes: memory, places: filterSlots)
        return budget.mostOfOne
    }

    /// Simultaneous transfers, including those of owners who had nothing in work.
    var mostDownloads: Int { downloadConcurrency + Self.slotsOfIdleOwners }

    var board: BoardSettings {
        BoardSettings(
            window: window, saturation: downloadConcurrency + filterWidth, retryPolicy: retryPolicy,
            downloads: DownloadFairQueue.Limits(
                places: downloadConcurrency, perHost: perHost,
                keptForOwners: Self.slotsOfIdleOwners),
            filters: filterSlots, memory: memory, pictures: pictureLimits)
    }
}
