import DarkroomAnswer
import DarkroomCore
import SystemPackage

/// A new `outbox/ID/status.json`, which replaces the present one as a whole, in steps:
///
/// | step    | does                                                                       | for            |
/// |---------|----------------------------------------------------------------------------|----------------|
/// | `stage` | writes it into `active/ID`                                                 | each status    |
/// | `sync`  | waits until it is on the disk, and the names of all outputs in the outbox  | the last one   |
/// | `place` | renames it into the outbox                                                 | each status    |
///
/// `sizes.json` goes the same way before the last status, if the answer has one (`ResultSizes`).
///
/// A folder that someone has removed from the outbox is created again: a batch gets its answer even if the first one
/// was removed.
package struct StatusFile: Sendable {
    package let folders: BatchFolders
    /// Whether the status is final, for the points of faults.
    let isFinal: Bool

    package init(_ folders: BatchFolders, isFinal: Bool) {
        self.folders = folders
        self.isFinal = isFinal
    }

    /// In `active`, by its path: no part of it is anybody's but the daemon's.
    private var name: FileName { folders.pathInActive(BatchFile.newStatus) }
    private var active: Directory { folders.spool.active }
    private var sizesName: FileName { folders.pathInActive(BatchFile.newSizes) }

    /// - Parameters:
    ///   - durably: waits until the file is on the disk.
    ///   - mayGoOn: checked between the pieces of a long status; if it returns false, this throws ECANCELED.
    func stage(
        _ status: Status, durably: Bool = false, mayGoOn: () -> Bool = { true }
    ) throws(FileError) {
        try stage(durably: durably) { write throws(FileError) in
            try status.writtenNow.encode { piece throws(FileError) in
                guard mayGoOn() else {
                    throw FileError(.write, "\(folders.id)/\(BatchFile.status.text)", .canceled)
                }
                try write(piece)
            }
        }
    }

    /// Stages a status whose content comes in pieces: `content` receives a function that writes one piece.
    func stage(
        durably: Bool,
        content: (_ write: ([UInt8]) throws(FileError) -> Void) throws(FileError) -> Void
    ) throws(FileError) {
        try active.write(to: name, replacing: true, durably: durably, content: content)
        (isFinal ? FaultPoint.finalStatusWritten : .statusWritten).pass()
    }

    /// Stages the last status, even if someone has removed `active/ID`.
    package func stageLast(_ status: Status, mayGoOn: () -> Bool = { true }) throws(FileError) {
        do {
            try stage(status, mayGoOn: mayGoOn)
        } catch  where error.errno == .noSuchFileOrDirectory {
            try active.makeIfMissing(FileName(folders.id), mode: 0o700)
            try stage(status, mayGoOn: mayGoOn)
        }
        try stageSizes(of: status, mayGoOn: mayGoOn)
    }

    /// The answer of a shard has none: that of the whole has it.
    private func stageSizes(of status: Status, mayGoOn: () -> Bool) throws(FileError) {
        guard folders.shard == nil, ResultSizes.areUseful(for: status.images) else {
            // It is of an earlier end.
            try ignoringMissing(active.remove(sizesName))
            if try folders.holdsAnswer(ResultSizes.fileName) {
                try ResultSizes.removeOwn(in: folders.outbox(), id: folders.id)
            }
            return
        }
        try active.write(to: sizesName, replacing: true, durably: false) {
            write throws(FileError) in
            var sizes = ResultSizes(id: folders.id)
            for image in status.images {
                sizes.add(image)
                guard sizes.count > Descriptor.piece else { continue }
                guard mayGoOn() else {
                    throw FileError(.write, "\(folders.id)/\(ResultSizes.fileName.text)", .canceled)
                }
                try write(sizes.take())
            }
            try write(sizes.end())
        }
    }

    /// An answer that is final promises its outputs, and a restart does not finish their renames.
    package func sync(_ status: Status) throws(FileError) {
        try active.open(name).sync(path: active.path(of: name))
        try ignoringMissing(active.open(sizesName).sync(path: active.path(of: sizesName)))
        let outputs = try folders.restoredOutputs()
        try outputs.sync(outputFolders: status.outputFolders)
        try outputs.sync()
    }

    /// - Parameter byPath: whether the folder of the answer need not be opened (`Spool.ownsOutbox`).
    package func place(byPath: Bool = false) throws(FileError) {
        if isFinal { try placeSizes() }
        if byPath, try folders.moveByPath(name, as: BatchFile.status, replacing: true) {
            return pass()
        }
        _ = try placeInOpened()
    }

    private func placeInOpened() throws(FileError) -> Directory {
        let outbox = try folders.restoredOutbox()
        try active.rename(name, to: outbox, as: BatchFile.status, replacing: true)
        pass()
        return outbox
    }

    private func placeSizes() throws(FileError) {
        guard try active.exists(sizesName) else { return }
        let outbox = try folders.restoredOutbox()
        // A file with the same text keeps its time, for programs that look at it, such as make.
        if try hasSameSizes(outbox) { return try active.remove(sizesName) }
        try active.rename(sizesName, to: outbox, as: ResultSizes.fileName, replacing: true)
        FaultPoint.sizesMoved.pass()
    }

    private func hasSameSizes(_ outbox: Directory) throws(FileError) -> Bool {
        guard let present = try outbox.information(of: ResultSizes.fileName),
            present.isRegularFile,
            try active.information(of: sizesName)?.length == present.length
        else { return false }
        let (path, other) = (active.path(of: sizesName), outbox.path(of: ResultSizes.fileName))
        return try active.open(sizesName).sha256(path: path)
            == outbox.open(ResultSizes.fileName).sha256(path: other)
    }

    private func pass() { (isFinal ? FaultPoint.finalStatusMoved : .statusMoved).pass() }

    /// Places the status, and waits for the rename.
    ///
    /// - Parameter moved: called when the status is in the outbox, before it is synced.
    func finish(durably: Bool, moved: () -> Void = {}) throws(FileError) {
        if isFinal { try placeSizes() }
        let outbox = try placeInOpened()
        moved()
        if durably { try outbox.sync() }
        if isFinal { FaultPoint.finalStatusSynced.pass() }
    }
}

extension BatchFolders {
    /// Changes `status.json` except its images, which are copied unchanged. Does nothing if it is not a status of this
    /// version, or if `change` returns false.
    package func amendStatus(_ change: (inout Status) -> Bool) throws(FileError) {
        let outbox = try outbox()
        guard var status = try Status(frameIn: outbox), change(&status) else { return }
        // If someone has written the file again, it contains its images.
        guard status.images.isEmpty else { return try writeStatus(status, durably: false) }
        let file = try outbox.open(Status.fileName)
        let path = outbox.path(of: Status.fileName)
        let new = StatusFile(self, isFinal: status.state.isFinal)
        try new.stage(durably: false) { write throws(FileError) in
            let (head, tail) = status.writtenNow.encodedFrame()
            var bytes = head
            _ = try ImagesFilter.read(file, path) { line throws(FileError) in
                bytes += line
                guard bytes.count >= Descriptor.piece else { return }
                try write(bytes)
                bytes.removeAll(keepingCapacity: true)
            }
            try write(bytes + tail)
        }
        try new.finish(durably: false)
    }

    /// Replaces the status in the outbox.
    ///
    /// - Parameters:
    ///   - mayGoOn: checked between the pieces of a long status; if it returns false, this throws ECANCELED.
    ///   - moved: called when the status is in the outbox, before it is synced.
    package func writeStatus(
        _ status: Status, durably: Bool, mayGoOn: () -> Bool = { true }, moved: () -> Void = {}
    ) throws(FileError) {
        let file = StatusFile(self, isFinal: status.state.isFinal)
        try file.stage(status, durably: durably, mayGoOn: mayGoOn)
        try file.finish(durably: durably, moved: moved)
    }

    /// The same for the last status of a batch, with what it promises.
    package func writeLastStatus(
        _ status: Status, durably: Bool, moved: () -> Void = {}
    ) throws(FileError) {
        let file = StatusFile(self, isFinal: true)
        try file.stageLast(status)
        if durably { try file.sync(status) }
        FaultPoint.finalStatusStaged.pass()
        try keepOriginals(mayBeFolder: status.manifest.isFolder == true, durably: durably)
        try file.finish(durably: durably, moved: moved)
    }
}
