import DarkroomCore
import DarkroomManifest
import DarkroomPicture

/// The content of `outbox/ID/status.json`: what became of a manifest and of each of its images.
///
/// `etc/status.schema.json` describes the same for other programs; a test holds the two together.
package struct Status: Codable, Sendable, Equatable {
    /// The version of this format. A reader refuses a number it does not know.
    package var schemaVersion = 1
    /// The batch's name: the manifest's without its ending, made unique within the outbox.
    package var id: String
    package var manifest: ManifestReference
    package var state: BatchState
    package var priority: Priority
    package var qualityOfService: QualityOfServiceName
    package var times: Times
    package var counts: Counts
    /// Why nothing more of it begins, while the spool takes no writes or the daemon is paused or has been stopped; or
    /// why some of it waits, while a host has asked to be left alone. Absent otherwise.
    package var waiting: Waiting?
    /// Why the manifest was rejected, every reason there is. Absent otherwise.
    package var errors: [ManifestProblem]?
    /// The commands that control files gave to the batch, the newest last; absent where there was none.
    package var commands: [ControlRecord]?
    /// How often the finished batch was taken up again; absent where it never was.
    package var retries: Int?
    package var images: [ImageStatus]
    /// When this was written, RFC 3339; absent where an older version wrote it.
    package var written: String?

    private enum CodingKeys: String, CodingKey {
        case schemaVersion, id, manifest, state, priority, qualityOfService, times, counts, waiting,
            errors
        case commands = "steering"
        case retries, images, written
    }

    package init(
        id: String, manifest: ManifestReference, state: BatchState, priority: Priority = .normal,
        qualityOfService: QualityOfServiceName = .default, times: Times, counts: Counts = Counts(),
        errors: [ManifestProblem]? = nil, commands: [ControlRecord]? = nil, retries: Int? = nil,
        images: [ImageStatus] = []
    ) {
        self.id = id
        self.manifest = manifest
        self.state = state
        self.priority = priority
        self.qualityOfService = qualityOfService
        self.times = times
        self.counts = counts
        self.errors = errors
        self.commands = commands
        self.retries = retries
        self.images = images
    }

    /// The manifest as it was taken from the inbox.
    package struct ManifestReference: Codable, Sendable, Equatable {
        /// Its file name in the inbox.
        package var name: String
        /// The file beside status.json that holds it; absent where it was too large to be read.
        package var file: String?
        /// Hexadecimal; absent where it was too large to be read.
        package var sha256: String?
        /// As the file system had it.
        package var bytes: Int
        /// The user whose file it was; absent where an older version took it.
        package var uid: UInt32?
        /// Which file it was, as its submitter could know it before (`DroppedFile`); absent where an older version took
        /// it.
        package var identity: String?

        package init(
            name: String, file: String?, sha256: String?, bytes: Int, uid: UInt32? = nil,
            identity: String? = nil
        ) {
            self.name = name
            self.file = file
            self.sha256 = sha256
            self.bytes = bytes
            self.uid = uid
            self.identity = identity
        }

        /// nil where the file is not named, or not as a manifest's is.
        package var format: ManifestFormat? { file.flatMap { ManifestFormat(fileName: $0) } }
    }

    /// Moments in UTC, as RFC 3339 with milliseconds.
    package struct Times: Codable, Sendable, Equatable {
        /// When the manifest was claimed.
        package var received: String
        /// When its first image began.
        package var started: String?
        package var finished: String?

        package init(received: String, started: String? = nil, finished: String? = nil) {
            self.received = received
            self.started = started
            self.finished = finished
        }
    }

    /// How many images are in each state.
    package struct Counts: Codable, Sendable, Equatable {
        package var total = 0
        package var new = 0
        package var downloading = 0
        package var downloaded = 0
        package var filtering = 0
        package var filtered = 0
        package var failed = 0
        package var cancelled = 0

        package init() {}

        package init(of images: [ImageStatus]) {
            total = images.count
            for image in images { self[image.state] += 1 }
        }

        package init(new total: Int) {
            self.total = total
            new = total
        }

        /// The number of images that will not change any more.
        package var finished: Int { filtered + failed + cancelled }
    }
}

/// A batch's state as its users see it.
package enum BatchState: String, Codable, Sendable, CaseIterable {
    /// Claimed; no image has begun.
    case pending
    case processing
    /// Someone holds it: no image begins until it is released.
    case held
    /// Every image is filtered.
    case completed
    /// Some image, or every one, has failed.
    case completedWithErrors
    case cancelled
    /// The manifest was not acceptable; `errors` says why.
    case rejected

    /// Whether the batch will not change any more.
    package var isFinal: Bool { self != .pending && self != .processing && self != .held }
}

/// An image's state as its users see it.
package enum ImageState: String, Codable, Sendable, CaseIterable {
    /// Not begun: it waits for its turn, or for the images it comes after.
    case new
    /// Its source is being fetched.
    case downloading
    /// Its source is here and it waits for its turn to be filtered.
    case downloaded
    case filtering
    /// Its output is in the outbox.
    case filtered
    case failed
    case cancelled

    package var isFinal: Bool { self == .filtered || self == .failed || self == .cancelled }
}

/// What became of one image.
package struct ImageStatus: Codable, Sendable, Equatable {
    package var name: String
    /// Where the picture came from, credentials and query left out; absent for an image made `from`
    /// another one.
    package var source: String?
    /// The image whose output was filtered, where the manifest says `from`.
    package var from: String?
    package var state: ImageState
    /// The file beside status.json, once the image is filtered.
    package var output: Output?
    /// How often work on the image was begun.
    package var attempts: Int
    package var milliseconds: Milliseconds
    /// What its source's download has come to; absent where nothing is fetched, or has not been begun.
    package var download: Download?
    package var error: Failure?
    /// What was remarked and let pass.
    package var warnings: [String]?
    /// What became of the source's chunks that are not pixels: kept, converted or dropped.
    package var metadata: [String: String]?

    package init(
        name: String, source: String? = nil, from: String? = nil, state: ImageState = .new,
        output: Output? = nil, attempts: Int = 0, milliseconds: Milliseconds = Milliseconds(),
        download: Download? = nil, error: Failure? = nil, warnings: [String]? = nil,
        metadata: [String: String]? = nil
    ) {
        self.name = name
        self.source = source
        self.from = from
        self.state = state
        self.output = output
        self.attempts = attempts
        self.milliseconds = milliseconds
        self.download = download
        self.error = error
        self.warnings = warnings
        self.metadata = metadata
    }

    /// Counts one more. The number comes out of a file, which may say anything.
    package mutating func countAttempt() {
        attempts = min(max(attempts, 0), 1 << 30) + 1
    }

    package struct Output: Codable, Sendable, Equatable {
        package var file: String
        package var format: PictureFormat
        /// Hexadecimal.
        package var sha256: String
        package var bytes: Int
        /// In pixels.
        package var width: Int
        package var height: Int
        /// Bits of a sample, 8 or 16.
        package var depth: Int
        /// 1 gray, 2 gray and alpha, 3 RGB, 4 RGB and alpha.
        package var channels: Int

        package init(
            file: String, format: PictureFormat, sha256: String, bytes: Int, width: Int,
            height: Int, depth: Int, channels: Int
        ) {
            self.file = file
            self.format = format
            self.sha256 = sha256
            self.bytes = bytes
            self.width = width
            self.height = height
            self.depth = depth
            self.channels = channels
        }
    }

    /// The fetching of a source, which is the same for all images of that source.
    package struct Download: Codable, Sendable, Equatable {
        /// Attempts, the one under way included.
        package var attempts: Int
        /// The length of what was fetched.
        package var bytes: Int?
        /// What the cache had to do with it: `hit`, `revalidated` or `stored`; absent where nothing.
        package var cache: String?
        /// Why the last try that failed did so, also when a later one went well.
        package var lastError: Failure?
        /// When it is tried again, RFC 3339; absent but between two tries.
        package var retryAt: String?

        package init(
            attempts: Int, bytes: Int? = nil, cache: String? = nil, lastError: Failure? = nil,
            retryAt: String? = nil
        ) {
            self.attempts = attempts
            self.bytes = bytes
            self.cache = cache
            self.lastError = lastError
            self.retryAt = retryAt
        }
    }

    /// Where the image's time went, rounded to whole milliseconds.
    package struct Milliseconds: Codable, Sendable, Equatable {
        /// Between its batch's start and its own, and between its steps.
        package var waited = 0
        package var downloading = 0
        package var filtering = 0

        package init() {}
    }
}
