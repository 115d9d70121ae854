import DarkroomCore
import DarkroomManifest
import DarkroomPicture
import Foundation

/// The content of `spool/queue.json`: what the daemon does, and all unfinished batches.
///
/// The daemon replaces it as a whole: when its state changes, at most once a second while anything is in work, and every
/// ten seconds otherwise. A report that is older than this, and a spool whose lock nobody holds, show that the daemon
/// was killed. `etc/queue.schema.json` describes the file for other programs; a test compares the two.
package struct QueueReport: Codable, Sendable, Equatable {
    package static let capacity = 1000
    /// The seconds between two reports when nothing changes.
    package static let heartbeat = 10.0

    /// The version of this format.
    package var schemaVersion = 1
    /// When this was written, in UTC, in the format of RFC 3339 with milliseconds.
    package var written: String
    package var state: State
    /// Why no work begins while `state` is `waiting`: the disk refuses writes.
    package var waiting: Status.Waiting?
    package var daemon: Daemon
    package var limits: Limits
    package var counts = Counts()
    /// The images of the unfinished batches.
    package var images = Status.Counts()
    /// The images that ended per second, in the last seconds of work, and the bytes of their outputs; absent if nothing
    /// is in work.
    package var imagesPerSecond: Double?
    package var bytesPerSecond: Double?
    /// What the store of results does; absent if there is none.
    package var results: Results?
    /// At most `capacity` unfinished batches: those in work first, then by their arrival.
    package var batches: [Batch] = []
    /// Batches of an earlier daemon that this one cannot continue. Absent if there are none.
    package var unresumed: [Unresumed]?

    package init(
        written: String, state: State, waiting: Status.Waiting? = nil, daemon: Daemon,
        limits: Limits
    ) {
        self.written = written
        self.state = state
        self.waiting = waiting
        self.daemon = daemon
        self.limits = limits
    }

    /// What the daemon does. That it was killed is not in any file: its readers conclude it.
    package enum State: String, Codable, Sendable, CaseIterable {
        case running, paused, waiting, stopping, stopped
    }

    /// A batch that stays in `active` until the next start, because something is in the way.
    package struct Unresumed: Codable, Sendable, Equatable {
        package var id: String
        /// The code and the sentence of the error.
        package var code: String
        package var message: String
        package var since: String

        package init(id: String, code: String, message: String, since: String) {
            self.id = id
            self.code = code
            self.message = message
            self.since = since
        }
    }

    /// The process that writes the report.
    package struct Daemon: Codable, Sendable, Equatable {
        package var version: String
        package var process: Int32
        package var started: String
        package var uid: UInt32

        package init(version: String, process: Int32, started: String, uid: UInt32) {
            self.version = version
            self.process = process
            self.started = started
            self.uid = uid
        }
    }

    /// What a submitter needs to know beforehand.
    package struct Limits: Codable, Sendable, Equatable {
        /// The maximum size of a manifest in bytes.
        package var manifestBytes: Int
        /// The maximum number of images in a manifest, and of filters of an image.
        package var images: Int
        package var filters: Int
        /// The filters of images without any, as the configuration has them, in YAML (`FilterList`).
        package var defaultFilters: String
        /// `manifests.defaultProfile`; nil in the reports of older daemons.
        package var defaultProfile: OutputProfile?
        /// The folders from which local pictures are read.
        package var sourceRoots: [String]
        /// The source roots that the daemon can read: its sandbox may hide others.
        package var readableRoots: [String]
        /// The service whose view of the machine decides this; absent if the daemon sees all of the machine.
        package var service: Service?
        /// The maximum size of a picture's file, in bytes.
        package var sourceBytes: Int
        package var downloads: Downloads
        package var pictures: Pictures
        /// The folder of the recipes; absent if the daemon has no configuration file.
        package var recipesFolder: String?
        /// Whether manifests must not have filters of their own; absent if they may.
        package var recipesOnly: Bool?
        /// The recipe of a folder without a manifest; absent if there is none.
        package var inboxRecipe: String?
        /// `sources.ignore`; absent if it is empty.
        package var ignoredSources: [String]?

        /// The names that no listing of a folder has.
        package var ignoredNames: IgnoredNames { IgnoredNames(adding: ignoredSources ?? []) }

        package init(
            manifestBytes: Int, images: Int, filters: Int, defaultFilters: String,
            defaultProfile: OutputProfile? = nil, sourceRoots: [String], readableRoots: [String],
            service: Service? = nil,
            sourceBytes: Int, downloads: Downloads, pictures: Pictures,
            recipesFolder: String? = nil, recipesOnly: Bool? = nil, inboxRecipe: String? = nil,
            ignoredSources: [String]? = nil
        ) {
            self.manifestBytes = manifestBytes
            self.images = images
            self.filters = filters
            self.defaultFilters = defaultFilters
            self.defaultProfile = defaultProfile
            self.sourceRoots = sourceRoots
            self.readableRoots = readableRoots
            self.service = service
            self.sourceBytes = sourceBytes
            self.downloads = downloads
            self.pictures = pictures
            self.recipesFolder = recipesFolder
            self.recipesOnly = recipesOnly
            self.inboxRecipe = inboxRecipe
            self.ignoredSources = ignoredSources
        }
    }

    /// The store of results, and what it has done since the daemon started.
    package struct Results: Codable, Sendable, Equatable {
        /// How many outputs it has, and their size on the disk.
        package var count: Int
        package var bytes: Int
        /// Images whose outputs were copied, and those whose outputs were made.
        package var hits: Int
        package var misses: Int
        /// The bytes of the outputs that were copied.
        package var savedBytes: Int

        package init(count: Int, bytes: Int, hits: Int, misses: Int, savedBytes: Int) {
            self.count = count
            self.bytes = bytes
            self.hits = hits
            self.misses = misses
            self.savedBytes = savedBytes
        }
    }

    package struct Counts: Codable, Sendable, Equatable {
        package var processing = 0
        package var pending = 0
        package var held = 0

        package init() {}
    }

    package struct Batch: Codable, Sendable, Equatable {
        package var id: String
        package var state: BatchState
        package var priority: Priority
        package var uid: UInt32?
        package var received: String
        package var counts: Status.Counts
        package var secondsLeft: Double?
        /// The code of what it waits for, see `Status.Waiting`.
        package var waiting: String?

        package init(
            id: String, state: BatchState, priority: Priority, uid: UInt32?, received: String,
            counts: Status.Counts
        ) {
            self.id = id
            self.state = state
            self.priority = priority
            self.uid = uid
            self.received = received
            self.counts = counts
        }
    }
}

extension QueueReport: Report {
    package static let fileName: FileName = "queue.json"

    package var listCount: Int { batches.count }

    /// Whether the last daemon on a spool ended without saying so: it was killed, or the machine crashed.
    package static func tellsOfCrash(in root: Directory) -> Bool {
        guard let bytes = try? root.read(fileName) else { return false }
        return (try? JSONDecoder().decode(Self.self, from: Data(bytes)))?.state != .stopped
    }

    package func shortened(to count: Int) -> Self {
        var short = self
        short.batches = Array(batches.prefix(count))
        short.unresumed = unresumed.map { Array($0.prefix(count)) }
        return short
    }
}
