import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Foundation

/// `darkroom show`: one batch with everything that is known about it. What is shown goes out piece by piece, for a batch
/// may have a million images.
package struct BatchDetails: Sendable {
    /// Which images are shown one by one.
    package enum Images: Sendable, Equatable {
        /// Of the failed ones, the text may have the first few only.
        case firstFailed, failed
        /// The filtered ones with warnings.
        case warned
        case all
    }

    package private(set) var batch: BatchProgress
    let all: BatchImages
    package var status: Status { all.frame }
    package let daemon: DaemonState
    package let folder: String
    let isRun: Bool
    /// Whether pictures came with the manifest and were removed when the batch ended.
    private(set) var lacksPictures = false
    let images: Images
    let now: Date
    package var zone = TimeZone.current

    /// - Throws: `no-such-batch` if there is none.
    package init(
        of id: String, in spool: SpoolFolder, images: Images = .firstFailed, now: Date = Date()
    ) throws(ClientError) {
        guard let answer = try spool.folder(of: id), let all = try BatchImages(in: answer) else {
            throw spool.noSuchBatch(id)
        }
        let progress = try spool.hasProgress(answer) ? spool.summary(of: id) : nil
        try self.init(
            batch: progress, all, daemon: DaemonState(of: spool, now: now), folder: answer.path,
            isRun: false, images: images, now: now)
        lacksPictures = status.lacksPictures(in: answer)
    }

    /// - Parameter batch: nil if only the status tells: the batch is small and new, or an older version wrote it.
    init(
        batch: BatchProgress?, _ all: BatchImages, daemon: DaemonState, folder: String,
        isRun: Bool, images: Images, now: Date
    ) throws(ClientError) {
        self.batch = batch ?? BatchProgress(toldBy: all.frame)
        self.all = all
        self.daemon = daemon
        self.folder = folder
        self.isRun = isRun
        self.images = images
        self.now = now
        if batch == nil {
            var bytes = 0
            try all.each(.all) { bytes = bytes.saturatingAdd($0.output?.bytes ?? 0) }
            self.batch.outputBytes = bytes
        }
        // An older version has not counted them.
        if self.batch.counts.warnings == nil, all.frame.counts.total > 0 {
            self.batch.counts.warnings = try all.sums().warned
        }
    }

    /// One object for programs, passed on in pieces.
    package func json(_ write: (String) throws(ClientError) -> Void) throws(ClientError) {
        let object: JSONObject = [
            "manifest": status.manifest, "retries": batch.retries,
            "outputBytes": batch.outputBytes, "bytesPerSecond": batch.bytesPerSecond,
            "reason": batch.reason(daemon, problem: status.errors?.first),
            "commands": batch.commands, "errors": status.errors, "images": [ImageStatus](),
            // No daemon works on the folder of a run.
            "folder": folder, "daemon": isRun ? nil : daemon.name, "written": batch.written,
        ]
        let text = JSONText.indented(JSONObject(object, with: batch.json))
        // No string contains a literal newline, and what is in other objects is indented further.
        let (opening, closing) = ("\n  \"images\" : [", "\n  ]")
        guard let begin = text.firstRange(of: opening)?.upperBound,
            let end = text[begin...].firstRange(of: closing)?.lowerBound
        else { preconditionFailure("the object has its images") }
        try write(String(text[..<begin]))
        var piece = ""
        var separator = "\n    "
        try all.each(images) { image throws(ClientError) in
            let text = JSONText.indented(image).split(
                separator: "\n", omittingEmptySubsequences: false)
            piece += separator + text.joined(separator: "\n    ")
            separator = ",\n    "
            if piece.utf8.count > Self.piece {
                try write(piece)
                piece = ""
            }
        }
        try write(piece + (separator.hasPrefix(",") ? "" : "\n") + text[end...] + "\n")
    }

    /// The outputs as the attribute `srcset` of HTML has them, a line for each image and format; as JSON, the content of
    /// `sizes.json`. Of a batch in work, those that there are.
    package func sourceSets(
        asJSON: Bool, _ write: (String) throws(ClientError) -> Void
    ) throws(ClientError) {
        var sizes = ResultSizes(id: batch.id)
        var lines = ""
        func flush(_ rest: [UInt8]) throws(ClientError) {
            try write(asJSON ? String(decoding: rest, as: UTF8.self) : lines)
            lines = ""
        }
        func tell(_ image: ResultSizes.Image?) {
            guard !asJSON, let image else { return }
            for (_, text) in image.sourceSets { lines += text + "\n" }
        }
        try all.each(.all) { image throws(ClientError) in
            tell(sizes.add(image))
            if sizes.count > Self.piece { try flush(sizes.take()) }
        }
        if !asJSON { tell(sizes.endLast()) }
        try flush(sizes.end())
    }

    /// What is passed on at once, in bytes.
    private static let piece = 64 << 10
}
