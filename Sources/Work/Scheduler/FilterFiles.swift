import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomFetch
import DarkroomPage
import DarkroomPicture
import DarkroomSpool
import SystemPackage

/// The files in a batch's folder that the filter of one image writes: `output-N`, and `pixels-N` if other images need
/// its pixels, see `HandOverTable`. If the image is not published, there is only the second one.
final class FilterFiles {
    let job: BegunJob<FilterJob>
    private let active: Directory
    /// The folder's name in `active`. The files are used by their paths, because to open the folder costs more.
    private let id: FileName
    /// The output of a repeated filter must not have a name with which a restart would rename it into the outbox.
    private let outputName: FileName
    private let pixelsName: FileName
    private let durably: Bool
    /// The small copies of the source and of the output for the page of the batch, if there will be one.
    private let sourcePreview: PicturePreview?
    private let preview: PicturePreview?
    private var output: Descriptor?
    private var pixels: Descriptor?
    private let outputFile: FileDescriptor
    private var pixelsFile: FileDescriptor?

    /// - Parameter sourcePreview: the small copy of the source; nil if the batch gets no page.
    init(_ job: BegunJob<FilterJob>, _ sourcePreview: PicturePreview?, durably: Bool) throws {
        self.job = job
        self.durably = durably
        self.sourcePreview = job.isPublished && !job.isAgain ? sourcePreview : nil
        preview = self.sourcePreview == nil ? nil : PicturePreview()
        active = job.folders.spool.active
        id = FileName(job.id)
        pixelsName = id / BatchFile.newPixels(job.image)
        let newOutput = job.isAgain ? BatchFile.outputAgain(job.image) : BatchFile.output(job.image)
        outputName = job.isPublished ? id / newOutput : pixelsName
        let output = try active.create(outputName, replacing: true)
        outputFile = output.file
        self.output = consume output
        guard job.handsOver, job.isPublished else { return }
        do {
            let pixels = try active.create(pixelsName, replacing: true)
            pixelsFile = pixels.file
            self.pixels = consume pixels
        } catch {
            discard()
            throw error
        }
    }

    var result: PictureResult {
        PictureResult(
            outputFile, name: job.resultName,
            handOver: pixelsFile.map {
                HandOverFile(file: $0, name: BatchFile.newPixels(job.image).text)
            },
            preview: preview)
    }

    /// Copies the former outputs, so that their images end as any others do.
    ///
    /// - Returns: false if one is not there, or not as it was. Then the files are empty.
    /// - Throws: if a copy cannot be written.
    static func takeFormers(_ files: [FilterFiles]) throws(FileError) -> Bool {
        for one in files where try !one.copyFormer() {
            for one in files {
                try one.output?.truncate(to: 0, path: one.active.path(of: one.outputName))
            }
            return false
        }
        return true
    }

    private func copyFormer() throws(FileError) -> Bool {
        guard job.isPublished else { return job.former != nil }
        guard let former = job.former?.output,
            let file = try? job.folders.outputs().open(output: former.file)
        else { return false }
        let path = active.path(of: outputName)
        var digest = SHA256Digest()
        var done = 0
        while done <= former.bytes, let piece = try? file.readPiece(upTo: 128 << 10, path: path),
            !piece.isEmpty
        {
            digest.update(piece)
            try output?.write(piece, at: done, path: path)
            done += piece.count
        }
        return done == former.bytes && digest.hex() == former.sha256
    }

    /// Whether its output may be added to the store of results.
    var mayBeKept: Bool { job.isPublished && !job.isAgain }

    /// Whether its output may be taken from there: if nothing else is made of its rows.
    var mayBeTaken: Bool { mayBeKept && !job.handsOver && preview == nil }

    /// Copies a result to the output.
    ///
    /// - Returns: nil if the picture must be made.
    func takeStored(_ key: CacheKey, of store: ResultStore) -> PictureReport? {
        guard let file = output.take() else { return nil }
        let report = store.take(key, to: file, path: active.path(of: outputName))
        output = consume file
        return report
    }

    func keep(_ key: CacheKey, _ report: PictureReport, in store: ResultStore) {
        guard let file = try? active.open(outputName) else { return }
        store.keep(key, report, file)
    }

    /// The picture has been written: gives the files their names.
    ///
    /// - Parameter bytes: the size of its output.
    func complete(bytes: Int) throws {
        makePreviews()
        do {
            try completePixels()
            if job.isAgain {
                // A published output does not change.
                if job.isPublished {
                    try active.remove(outputName)
                } else if durably {
                    try Self.sync(&output, path: active.path(of: outputName))
                }
            }
        } catch {
            discard()
            throw error
        }
        // The committer waits less, and for several images at once.
        if durably, job.isPublished, !job.isAgain { output?.startWriting(bytes: bytes) }
        try Self.close(&output, path: active.path(of: outputName))
        FaultPoint.filterWritten.pass()
        if !job.isPublished { try settlePixels() }
    }

    /// Makes the small copies. The picture does not fail with them: without copies, the page shows the output only.
    private func makePreviews() {
        guard let preview, let sourcePreview else { return }
        let difference = try? preview.difference(from: sourcePreview)
        let copy = try? sourcePreview.encoded(above: difference, orientation: preview.orientation)
        try? PreviewLog.add(job.image, before: copy, hasAfter: write(preview), of: job.folders)
    }

    /// Writes the copy of a large output.
    private func write(_ preview: PicturePreview) -> Bool {
        guard preview.isNeeded, let file = try? preview.file() else { return false }
        return (try? AnswerPage.write(file, copyOf: job.image, in: job.folders)) != nil
    }

    private func completePixels() throws {
        guard pixelsFile != nil else { return }
        let path = active.path(of: pixelsName)
        // For others, the committer does this before the journal refers to the file.
        if job.isAgain, durably { try Self.sync(&pixels, path: path) }
        if !job.isAgain, durably { pixels?.startWriting() }
        try Self.close(&pixels, path: path)
        try namePixels()
    }

    /// Gives the file of an image that is not published its name, or removes it if no image needs it.
    private func settlePixels() throws(FileError) {
        guard job.handsOver else { return try active.remove(outputName) }
        try namePixels()
    }

    private func namePixels() throws(FileError) {
        FaultPoint.handOverWritten.pass()
        try active.rename(
            pixelsName, to: active, as: id / BatchFile.pixels(job.image), replacing: true)
        FaultPoint.handOverMoved.pass()
    }

    /// Removes the files: a part of a picture is useless. If this fails, the next attempt empties them, or a start
    /// removes them. They are never renamed.
    func discard() {
        output = nil
        pixels = nil
        try? active.remove(outputName)
        if job.handsOver { try? active.remove(pixelsName) }
    }

    private static func close(_ file: inout Descriptor?, path: String) throws(FileError) {
        if let taken = file.take() { try taken.close(path: path) }
    }

    private static func sync(_ file: inout Descriptor?, path: String) throws(FileError) {
        guard let taken = file.take() else { return }
        do {
            try taken.sync(path: path)
            file = consume taken
        } catch  where error.errno.storageFailure == .full {
            // Unlike a journal's lines, it can be written again from its beginning.
            throw FileError(.write, path, error.errno)
        }
    }
}
