import DarkroomCore
import DarkroomManifest
import DarkroomPicture

/// The content of `outbox/ID/status.json`: the results of a manifest and of each of its images.
///
/// `etc/status.schema.json` describes it for other programs; a test compares the two.
package struct Status: Codable, Sendable, Equatable {
    package static let fileName: FileName = "status.json"

    /// The version of this format. A reader refuses a version that it does not know.
    package var schemaVersion = 1
    /// The ID of the batch: the manifest's name without its extension, or the folder's name, made unique within the
    /// outbox.
    package var id: String
    package var manifest: ManifestReference
    package var state: BatchState
    package var priority: Priority
    package var qualityOfService: QualityOfServiceName
    package var times: Times
    package var counts: Counts
    /// Why no further work begins: the spool cannot be written to, or the daemon is paused or was stopped. Or why a
    /// part of the work waits: a host has asked for a pause. Absent otherwise.
    package var waiting: Waiting?
    /// All problems of a rejected manifest. Absent otherwise.
    package var errors: [ManifestProblem]?
    /// The commands that control files gave to the batch, the newest last; absent if there was none.
    package var commands: [ControlRecord]?
    /// How often the finished batch was reopened; absent if never.
    package var retries: Int?
    /// The versions of what decides the bytes of the outputs: one entry, or one for each version that has worked on the
    /// batch. Absent if an older version wrote this, or if there are no images.
    package var versions: [PictureVersions]?
    /// Whether this is the status of a part of the manifest, or of all parts; absent if it was not divided.
    package var shards: Shards?
    package var images: [ImageStatus]
    /// The recipes that the manifest uses, as they were when it was taken; absent if it uses none.
    package var recipes: [RecipeReference]?
    /// When this was written, in the format of RFC 3339; absent if an older version wrote it.
    package var written: String?

    private enum CodingKeys: String, CodingKey {
        case schemaVersion, id, manifest, state, priority, qualityOfService, times, counts, waiting,
            errors, commands
        case retries, versions, shards, images, recipes, written
    }

    package init(
        id: String, manifest: ManifestReference, state: BatchState, priority: Priority = .normal,
        qualityOfService: QualityOfServiceName = .default, times: Times, counts: Counts = Counts(),
        errors: [ManifestProblem]? = nil, commands: [ControlRecord]? = nil, retries: Int? = nil,
        images: [ImageStatus] = [], recipes: [RecipeReference]? = nil
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
        self.recipes = recipes
    }

    /// A recipe as it was when the manifest was taken. A restart and a retry use it, whatever has become of its file.
    package struct RecipeReference: Codable, Sendable, Equatable {
        package var name: String
        /// Of the text, in hexadecimal.
        package var sha256: String
        /// The text of its file.
        package var text: String

        package init(_ recipe: Recipe) {
            name = recipe.name
            sha256 = recipe.sha256
            text = recipe.text
        }
    }

    /// The manifest as it was taken from the inbox.
    package struct ManifestReference: Codable, Sendable, Equatable {
        /// Its name in the inbox.
        package var name: String
        /// The copy beside status.json; absent if the manifest was too large to be read.
        package var file: String?
        /// In hexadecimal; absent if the manifest was too large to be read.
        package var sha256: String?
        /// The size according to the file system, in bytes.
        package var bytes: Int
        /// The user ID of the file's owner; absent if an older version took the manifest.
        package var uid: UInt32?
        /// Identifies the submitted file, so that its submitter can know it beforehand (`DroppedFile`); absent if an
        /// older version took the manifest.
        package var identity: String?
        /// true if it was in a folder with its pictures, whose name is `name`; absent otherwise.
        package var isFolder: Bool?
        /// The copy, if that has `***` for the secrets of its URLs; absent if the copy is the manifest.
        package var redacted: RedactedCopy?

        enum CodingKeys: String, CodingKey {
            case name, file, sha256, bytes, uid, identity, redacted
            case isFolder = "folder"
        }

        package init(
            name: String, file: String?, sha256: String?, bytes: Int, uid: UInt32? = nil,
            identity: String? = nil, isFolder: Bool? = nil, redacted: RedactedCopy? = nil
        ) {
            self.name = name
            self.file = file
            self.sha256 = sha256
            self.bytes = bytes
            self.uid = uid
            self.identity = identity
            self.isFolder = isFolder
            self.redacted = redacted
        }

        /// A copy that is not the manifest itself (`RedactedManifest`).
        package struct RedactedCopy: Codable, Sendable, Equatable {
            package var bytes: Int
            /// In hexadecimal.
            package var sha256: String

            package init(bytes: Int, sha256: String) {
                self.bytes = bytes
                self.sha256 = sha256
            }
        }

        /// That of the copy beside status.json; nil if there is none.
        package var copySHA256: String? { redacted?.sha256 ?? sha256 }

        /// The same.
        package var copyBytes: Int { redacted?.bytes ?? bytes }

        /// nil if there is no file, or if its name is not that of a manifest.
        package var format: ManifestFormat? { file.flatMap { ManifestFormat(fileName: $0) } }
    }

    /// The parts into which a manifest was divided (`darkroom run --shard`).
    package struct Shards: Codable, Sendable, Equatable {
        package var count: Int
        /// The part whose images these are, from 1 to `count`; absent if they are those of the whole manifest.
        package var number: Int?

        package init(count: Int, number: Int? = nil) {
            self.count = count
            self.number = number
        }
    }

    /// Times in UTC, in the format of RFC 3339 with milliseconds.
    package struct Times: Codable, Sendable, Equatable {
        /// When the manifest was taken from the inbox.
        package var received: String
        /// When its first image began.
        package var started: String?
        package var finished: String?
        /// How long it was in work (`Status.workMilliseconds`); absent before the end.
        package var workMilliseconds: Int?

        package init(
            received: String, started: String? = nil, finished: String? = nil,
            workMilliseconds: Int? = nil
        ) {
            self.received = received
            self.started = started
            self.finished = finished
            self.workMilliseconds = workMilliseconds
        }
    }

    /// The number of images in each state.
    package struct Counts: Codable, Sendable, Equatable {
        package var total = 0
        package var new = 0
        package var downloading = 0
        package var downloaded = 0
        package var filtering = 0
        package var filtered = 0
        package var failed = 0
        package var cancelled = 0
        /// How many of the filtered images have warnings; nil if an older version wrote this.
        package var warnings: Int? = 0

        package init() {}

        package init(of images: [ImageStatus]) {
            total = images.count
            for image in images { count(image.state, isWarned: image.isWarned) }
        }

        package init(new total: Int) {
            self.total = total
            new = total
        }

        /// The number of images that will not change any more. The numbers of a file may have any values.
        package var finished: Int { filtered.saturatingAdd(failed).saturatingAdd(cancelled) }
    }
}

/// The state of a batch, as users see it.
package enum BatchState: String, Codable, Sendable, CaseIterable {
    /// Taken from the inbox, but no image has begun.
    case pending
    case processing
    /// A user holds it: no image begins until it is released.
    case held
    /// All images are filtered.
    case completed
    /// At least one image has failed.
    case completedWithErrors
    case cancelled
    /// The manifest has errors; `errors` lists them.
    case rejected

    /// Whether the batch will not change any more.
    package var isFinal: Bool { self != .pending && self != .processing && self != .held }
}

/// The state of an image, as users see it.
package enum ImageState: String, Codable, Sendable, CaseIterable {
    /// Not begun: it waits for its turn, or for images that it depends on.
    case new
    /// Its source is being fetched.
    case downloading
    /// Its source is available, and it waits for its turn to be filtered.
    case downloaded
    case filtering
    /// Its output is in the outbox.
    case filtered
    case failed
    case cancelled

    package var isFinal: Bool { self == .filtered || self == .failed || self == .cancelled }
}

/// The result of one image.
package struct ImageStatus: Codable, Sendable, Equatable {
    package var name: String
    /// The location of the picture, without credentials and query; absent for an image made `from` another one.
    package var source: String?
    /// The SHA-256 of the source, in hexadecimal, when the image is filtered; absent for an image made `from` another
    /// one, and if an older version filtered it.
    package var sourceSHA256: String?
    /// The image whose pixels are the input, if the manifest has `from`.
    package var from: String?
    package var state: ImageState
    /// The file beside status.json, when the image is filtered.
    package var output: Output?
    /// false if the image has no output, because its pixels are only for other images; absent otherwise.
    package var published: Bool?
    /// How often work on the image began.
    package var attempts: Int
    package var milliseconds: Milliseconds
    /// When its steps began; absent if none has begun, or if an older version wrote it.
    package var times: Times?
    /// The download of its source; absent if nothing is downloaded, or before it begins.
    package var download: Download?
    package var error: Failure?
    /// Problems that did not make the image fail.
    package var warnings: [String]?
    /// What happened to the metadata of the source: kept, converted or dropped.
    package var metadata: [String: String]?

    private enum CodingKeys: String, CodingKey {
        case name, source
        case sourceSHA256 = "sourceSha256"
        case from, state, output, published, attempts, milliseconds, times, download, error
        case warnings, metadata
    }

    package init(
        name: String, source: String? = nil, from: String? = nil, state: ImageState = .new,
        output: Output? = nil, published: Bool? = nil, attempts: Int = 0,
        milliseconds: Milliseconds = Milliseconds(),
        download: Download? = nil, error: Failure? = nil, warnings: [String]? = nil,
        metadata: [String: String]? = nil
    ) {
        self.name = name
        self.source = source
        self.from = from
        self.state = state
        self.output = output
        self.published = published
        self.attempts = attempts
        self.milliseconds = milliseconds
        self.download = download
        self.error = error
        self.warnings = warnings
        self.metadata = metadata
    }

    /// Whether it is filtered and has warnings.
    package var isWarned: Bool { state == .filtered && warnings?.isEmpty == false }

    /// Counts one more attempt. The number comes from a file and may have any value.
    package mutating func countAttempt() {
        attempts = min(max(attempts, 0), 1 << 30) + 1
    }

    package struct Output: Codable, Sendable, Equatable {
        package var file: String
        package var format: OutputFormat
        /// In hexadecimal.
        package var sha256: String
        package var bytes: Int
        /// In pixels.
        package var width: Int
        package var height: Int
        /// Bits per sample, 8 or 16.
        package var depth: Int
        /// 1: gray, 2: gray and alpha, 3: RGB, 4: RGB and alpha.
        package var channels: Int

        enum CodingKeys: String, CodingKey {
            case file, format, sha256, bytes, width, height, depth, channels
        }

        package init(
            file: String, format: OutputFormat, sha256: String, bytes: Int, width: Int,
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

    /// The download of a source, the same for all images of that source.
    package struct Download: Codable, Sendable, Equatable {
        /// The number of attempts, including the current one.
        package var attempts: Int
        /// The length of the downloaded file, in bytes.
        package var bytes: Int?
        /// How the cache was used: `hit`, `revalidated` or `stored`; absent if it was not used.
        package var cache: String?
        /// The error of the last failed attempt; it stays when a later attempt succeeds.
        package var lastError: Failure?
        /// When the next attempt begins, in the format of RFC 3339; only between two attempts.
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

    /// The times of the steps, in UTC.
    package struct Times: Codable, Sendable, Equatable {
        /// When the first attempt of its download began; absent if nothing was downloaded for it.
        package var downloading: Moment?
        /// When its download ended.
        package var downloaded: Moment?
        /// When its filters began, the last time.
        package var filtering: Moment?

        package init(
            downloading: Moment? = nil, downloaded: Moment? = nil, filtering: Moment? = nil
        ) {
            self.downloading = downloading
            self.downloaded = downloaded
            self.filtering = filtering
        }
    }

    /// How the time of the image was spent, rounded to whole milliseconds.
    package struct Milliseconds: Codable, Sendable, Equatable {
        /// From the start of its batch to its own start, and between its steps.
        package var waited = 0
        package var downloading = 0
        package var filtering = 0

        package init() {}
    }
}
