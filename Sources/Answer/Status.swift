import DarkroomCore
import DarkroomManifest
import DarkroomPicture

/// The content of `outbox/ID/status.json`: the results of a manifest and of each of its images.
///
/// `etc/status.schema.json` describes it for other programs; a test compares the two.
package struct Status: VersionedFile, Codable, Sendable, Equatable {
    package static let fileName: FileName = "status.json"

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

        /// The SHA-256 of the copy beside status.json; nil if there is none.
        package var copySHA256: String? { redacted?.sha256 ?? sha256 }

        /// The size of this copy in bytes.
        package var copyBytes: Int { redacted?.bytes ?? bytes }

        /// The format of the copy; nil if there is none, or if its name is not that of a manifest.
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

        /// Without what is no time, in a file that somebody has written.
        var plausible: Self {
            func time(_ text: String?) -> String? { text.flatMap { Moment($0) == nil ? nil : $0 } }
            return Times(
                received: time(received) ?? "", started: time(started), finished: time(finished),
                workMilliseconds: workMilliseconds)
        }
    }

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

        /// The state of a batch whose images have all ended. Without a cancelled or failed one, it is completed.
        package var finalState: BatchState {
            if cancelled > 0 { return .cancelled }
            return failed > 0 ? .completedWithErrors : .completed
        }
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

    /// The state in a sentence.
    package var words: String { self == .completedWithErrors ? "completed with errors" : rawValue }
}
