import DarkroomCore
import DarkroomManifest

/// The content of `outbox/ID/progress.json`: how far a batch is, in at most 1 KiB.
///
/// `status.json` has one entry per image, so it may be large and is written rarely. This file has the sums only, and
/// anybody may read it as often as they like. It appears together with the first `status.json` (the receipt), is
/// replaced as a whole about twice a second while the batch is in work, and for the last time just after the final
/// `status.json`. It is never synced, and it may be missing or old after a refused write or a power failure: only
/// `status.json` is reliable. The next start corrects it.
///
/// `etc/progress.schema.json` describes it for other programs; a test compares the two.
package struct BatchProgress: VersionedFile, Codable, Sendable, Equatable {
    package static let fileName: FileName = "progress.json"
    /// The maximum size of the file in bytes.
    package static let capacity = 1024

    package var schemaVersion = 1
    /// The ID of the batch. Empty if it has so many control characters that the file would be too long; the folder has
    /// the ID as its name.
    package var id: String
    /// The identity and the owner of the submitted file, as in the status (`DroppedFile`).
    package var identity: String?
    package var uid: UInt32?
    package var state: BatchState
    package var priority: Priority
    package var counts: Status.Counts
    package var times: Status.Times
    /// How often the finished batch was reopened; absent if never.
    package var retries: Int?
    /// The sum of the sizes of the outputs, in bytes.
    package var outputBytes: Int
    /// The images that ended per second, in the last seconds of work; absent if nothing is in work.
    package var imagesPerSecond: Double?
    /// The bytes of the outputs of these images per second.
    package var bytesPerSecond: Double?
    /// An estimate of the seconds of work that are left; absent if there is none.
    package var secondsLeft: Double?
    /// Why no further work begins. The message is cut if the file would be too long.
    package var waiting: Status.Waiting?
    /// The last commands that the batch was given, at most two, the newest last.
    package var commands: [ControlRecord]?
    /// When this was written, in UTC, in the format of RFC 3339 with milliseconds.
    package var written: String
}
