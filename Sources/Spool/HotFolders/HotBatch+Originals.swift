import DarkroomAnswer
import DarkroomCore
import SystemPackage

/// The originals of a hot folder's batch in its answer (`originals: move`), which are there before the last status: who
/// waits for the end finds all of the answer.
///
/// They are the copies from which the outputs were made. The originals themselves are removed after the last status, by
/// the daemon's station of the hot folder, which also copies what this could not.
///
/// | step (for each picture all of whose images are filtered) | after a crash at this point |
/// |----------------------------------------------------------|-----------------------------|
/// | copied to `active/ID/again-original`, synced             | the restart copies it again |
/// | renamed to `outbox/ID/NAME.original.EXT`                 | the restart finds it there  |
extension BatchFolders {
    /// A scratch file by its name (`BatchFile.isScratch`), so a restart removes it.
    private static let copyName: FileName = "again-original"

    /// - Parameters:
    ///   - status: of the ended batch.
    ///   - mayGoOn: false to stop with `canceled`. Then the restart does the rest.
    /// - Throws: the error of the first picture that could not be copied; the others were, if the disk takes them.
    package func answerOriginals(
        of status: Status, durably: Bool, mayGoOn: () -> Bool
    ) throws(FileError) {
        guard let (batch, _, submitted) = try hotBatch(), batch.originals == .move,
            let pictures = try submitted.pictures()?.folder
        else { return }
        let answer = try outbox()
        var failure: FileError?
        for picture in batch.done(by: status) {
            guard mayGoOn() else { throw FileError(.copy, answer.path, .canceled) }
            do throws(FileError) {
                try answerOriginal(
                    picture, batch.outputName(of: picture, in: status), pictures, answer,
                    durably: durably, mayGoOn)
            } catch {
                // What concerns one picture does not keep the others out of the answer.
                if error.errno == .canceled || error.storageFailure != nil { throw error }
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    private func answerOriginal(
        _ picture: TakenPicture, _ name: String, _ pictures: Directory, _ answer: Directory,
        durably: Bool, _ mayGoOn: () -> Bool
    ) throws(FileError) {
        let source = FileName(picture.copyName)
        // If its copy is gone, the station has the original.
        guard let file = try pictures.openIfExists(source),
            let target = try picture.free(name, in: answer)
        else { return }
        try copy(
            file, pictures.path(of: source), of: picture, to: answer,
            as: target, durably: durably, mayGoOn)
    }

    /// The record of the batch, the name of its station, and what was submitted; nil if it is not one of a hot folder.
    private func hotBatch() throws(FileError) -> (HotBatch, station: FileName, SubmittedFile)? {
        guard spool.run == nil, let submitted = try SubmittedFile.inFolder(of: active()),
            let (batch, station) = try HotStations(spool).batch(named: submitted.name)
        else { return nil }
        return (batch, station, submitted)
    }

    /// The record of the batch if its originals move into another folder, and the name of its station.
    package func placedBatch() throws(FileError) -> (HotBatch, station: FileName)? {
        guard let (batch, station, _) = try hotBatch(), batch.originals == .place else {
            return nil
        }
        return (batch, station)
    }

    /// The promises of the journal for these, by the sources of the pictures.
    package func originalPromises() throws(FileError) -> [ByteString: OriginalPromise] {
        var promises: [ByteString: OriginalPromise] = [:]
        try ItemJournal.read(in: active()) { record in
            guard case .moving(let source, let promise) = record else { return }
            promises[ByteString(source)] = promise
        }
        return promises
    }

    private func copy(
        _ file: borrowing Descriptor, _ source: String, of picture: TakenPicture,
        to answer: Directory, as target: FileName, durably: Bool, _ mayGoOn: () -> Bool
    ) throws(FileError) {
        let active = try active()
        let shown = active.path(of: Self.copyName)
        let copy = try active.create(Self.copyName, replacing: true)
        var digest = SHA256Digest()
        while true {
            guard mayGoOn() else { throw FileError(.copy, shown, .canceled) }
            let piece = try file.readPiece(path: source)
            if piece.isEmpty { break }
            digest.update(piece)
            try copy.write(piece, path: shown)
        }
        // The station looks at the original again, and says what is wrong.
        guard ByteString(digest.hex()) == picture.sha256 else {
            return try active.remove(Self.copyName)
        }
        if durably { try copy.sync(path: shown) }
        FaultPoint.hotOriginalCopied.pass()
        try active.rename(Self.copyName, to: answer, as: target)
        FaultPoint.hotOriginalAnswered.pass()
    }
}

extension TakenPicture {
    /// The name of the original in the answer.
    ///
    /// - Parameters:
    ///   - name: that of its first output.
    ///   - number: 1, or more if other files have the names before.
    package func originalName(_ name: String, number: Int) -> FileName {
        KeptPictures.fileName(of: name, path.name, number: number)
    }

    /// The first name that no other file has; nil if the original is there.
    package func free(_ name: String, in answer: Directory) throws(FileError) -> FileName? {
        var number = 1
        while true {
            let target = originalName(name, number: number)
            guard try answer.exists(target) else { return target }
            let there = try answer.open(target)
            if ByteString(try there.sha256(path: answer.path(of: target))) == sha256 { return nil }
            number += 1
        }
    }
}
