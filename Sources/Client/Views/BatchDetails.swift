import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Foundation

/// `darkroom show`: one batch with everything that is known about it.
package struct BatchDetails: Sendable {
    /// Which images are shown one by one.
    package enum Images: Sendable, Equatable {
        /// The first failed ones.
        case firstFailed
        case failed
        /// The filtered ones with warnings.
        case warned
        case all
    }

    package private(set) var batch: BatchProgress
    package let status: Status
    package let daemon: DaemonState
    /// The path of the answer.
    package let folder: String
    /// Whether it is a run of `darkroom run`.
    let isRun: Bool
    /// Whether pictures came with the manifest and were removed when the batch ended.
    private(set) var lacksPictures = false
    let images: Images
    let now: Date
    /// The zone of the times in the text.
    package var zone = TimeZone.current

    /// - Throws: `no-such-batch` if there is none.
    package init(
        of id: String, in spool: SpoolFolder, images: Images = .firstFailed, now: Date = Date()
    ) throws(ClientError) {
        guard let answer = try spool.folder(of: id) else { throw spool.noSuchBatch(id) }
        guard var status = try spool.frame(in: answer) else { throw spool.noSuchBatch(id) }
        let progress = try spool.summary(of: id)
        let counts = progress?.counts ?? status.counts
        let isOlder = try !spool.hasProgress(answer)
        // The images of a large batch take seconds to read.
        let isWhole =
            images == .all || images == .warned && counts.warnings != 0 || counts.failed > 0
            || isOlder
        if isWhole { status = try Self.whole(answer) }
        let batch =
            isOlder
            ? BatchProgress(olderAnswer: status) : progress ?? BatchProgress(olderAnswer: status)
        self.init(
            batch: batch, status: status, daemon: try DaemonState(of: spool, now: now),
            folder: answer.path, isRun: false, images: images, now: now)
        lacksPictures = status.lacksPictures(in: answer)
    }

    init(
        batch: BatchProgress, status: Status, daemon: DaemonState, folder: String, isRun: Bool,
        images: Images, now: Date
    ) {
        self.batch = batch
        // An older version has not counted them.
        if batch.counts.warnings == nil, !status.images.isEmpty {
            self.batch.counts.warnings = status.images.count(where: \.isWarned)
        }
        self.status = status
        self.daemon = daemon
        self.folder = folder
        self.isRun = isRun
        self.images = images
        self.now = now
    }

    /// - Throws: also if it cannot be read.
    static func whole(_ answer: Directory) throws(ClientError) -> Status {
        guard let status = try asClientError(Status(in: answer)) else {
            throw ClientError(.unreadableStatus(in: answer))
        }
        return status
    }

    /// The images that are listed.
    package var listed: [ImageStatus] {
        switch images {
        case .all: status.images
        case .warned: status.images.filter(\.isWarned)
        case .failed, .firstFailed: status.images.filter { $0.state == .failed }
        }
    }

    /// One object for programs.
    package var json: String {
        JSONText.object([
            "type": "batch", "id": batch.id, "state": batch.state, "priority": batch.priority,
            "uid": batch.uid, "user": batch.uid.map { HumanText.user($0) },
            "manifest": status.manifest, "counts": batch.counts, "times": batch.times,
            "retries": batch.retries, "outputBytes": batch.outputBytes,
            "imagesPerSecond": batch.imagesPerSecond, "bytesPerSecond": batch.bytesPerSecond,
            "secondsLeft": batch.secondsLeft, "waiting": batch.waiting,
            "reason": batch.reason(daemon, problem: status.errors?.first),
            "commands": batch.commands, "errors": status.errors, "images": listed,
            "folder": folder,
            // No daemon works on the folder of a run.
            "daemon": isRun ? nil : daemon.name,
            "written": batch.written,
        ])
    }
}
