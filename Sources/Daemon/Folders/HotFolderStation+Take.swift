import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import DarkroomWork
import Glibc
import SystemPackage

/// Takes complete pictures: copies them, records them, and submits the copies as one batch. `HotBatch` has the table.
extension HotFolderStation {
    private static let copiesName: FileName = "new"
    /// A batch is submitted when it has so many bytes. All its pictures are in the spool twice.
    private static let mostBytes = 1 << 30

    private struct Group {
        let copies: Directory
        let name: String
        var pictures: [TakenPicture] = []
        /// Pictures that were taken before, with their new places, and the identities that they replace.
        var known: [TakenPicture] = []
        var replaced: [ByteString] = []
        var copyNames: Set<ByteString> = []
        var numbering = NameNumbering()
        var bytes = 0
    }

    struct Copying: Error {
        enum Side { case picture, spool }

        /// Whether the picture cannot be read, or the spool cannot be written to.
        let side: Side
        let error: FileError

        static func of<Value: ~Copyable>(
            _ side: Side, _ step: @autoclosure () throws(FileError) -> Value
        ) throws(Copying) -> Value {
            do throws(FileError) {
                return try step()
            } catch {
                throw Copying(side: side, error: error)
            }
        }
    }

    func take(_ paths: [RelativePath], from root: Directory) {
        guard let station = records?.folder else { return }
        var rest = paths[...]
        var name = ""
        do throws(FileError) {
            name = try newName(in: station)
            if try station.exists(Self.copiesName) { try station.removeTree(Self.copiesName) }
            try station.makeDirectory(Self.copiesName, mode: 0o700)
            var collection = Group(copies: try Directory(Self.copiesName, in: station), name: name)
            while let path = rest.first, collection.bytes < Self.mostBytes, !isStopped {
                try collect(path, from: root, &collection)
                rest.removeFirst()
            }
            guard !isStopped else { return }
            try submit(collection, station)
            giveBack(rest, at: time.now)
        } catch {
            // First of all: the copies may be what has filled the disk, and nothing is taken while it is full.
            try? station.removeTree(Self.copiesName)
            if !name.isEmpty { try? HotBatch.discard(name, in: station) }
            scheduler.storage.writeRefused(error)
            giveBack(paths[...], at: time.now + 1_000_000_000)
        }
    }

    private func giveBack(_ paths: ArraySlice<RelativePath>, at moment: UInt64) {
        for path in paths { files.move(path, .givenBack, now: moment) }
    }

    /// `scans-20261123-150405-3f9a`: the time in UTC, and a number that nobody can know beforehand. Many batches may be
    /// made within a second, so a name that is in use is not chosen again.
    private func newName(in station: Directory) throws(FileError) -> String {
        while true {
            let digits = Clock.timestamp.filter { $0.isNumber || $0 == "T" }.prefix(15)
            let number = String(UInt32.random(in: 0x1000...0xFFFF), radix: 16)
            let time = digits.replacing("T", with: "-")
            let name = "\(HotStations.shortName(path))-\(time)-\(number)"
            if try !HotBatch.exists(name, in: station) { return name }
        }
    }

    /// Copies a picture, unless it was taken before. A picture that cannot be copied is not taken now, which does not
    /// concern the others.
    private func collect(
        _ path: RelativePath, from root: Directory, _ collection: inout Group
    ) throws(FileError) {
        do throws(Copying) {
            try copy(path, from: root, &collection)
            if refused[path]?.reason == .unreadable { refused[path] = nil }
        } catch {
            guard error.side == .picture else { throw error.error }
            switch error.error.errno {
            case .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels, .notSupported:
                // It is gone, or something else has its name. An event or a listing reports that.
                refused[path] = nil
            default: refuse(path, .unreadable, error.error.message)
            }
        }
    }

    private func copy(
        _ path: RelativePath, from root: Directory, _ collection: inout Group
    ) throws(Copying) {
        let shown = "\(self.path)/\(path.text)"
        let file = try Copying.of(.picture, root.open(beneath: path))
        let before = try Copying.of(.picture, file.information(path: shown))
        let identity = try Copying.of(.picture, file.droppedIdentity(path: shown))
        let parent = try Copying.of(.picture, root.folder(beneath: path.folder))
        let place = try Copying.of(.picture, parent.information())
        // It may have been exchanged since it was examined, and its folder, too.
        guard let seen, FolderIdentity(place).device == seen.device, before.length > 0,
            before.length <= settings.maximumBytes
        else { return }
        guard !Self.isForeign(before, in: parent) else {
            return refuse(path, .notAFile, Self.foreign)
        }
        let stamp = PictureStamp(before, identity: identity, in: seen)
        let finding = records?.ledger.find(path, stamp, changesInodes: watch == nil) ?? .new
        switch finding {
        case .known: return
        case .moved(let entry): return collection.known.append(entry)
        case .perhaps, .new: break
        }
        // A further hard link of a picture of this batch.
        guard !collection.pictures.contains(where: { $0.stamp.identity == stamp.identity }) else {
            return
        }
        let copyName = copyName(for: path, &collection)
        let name = FileName(copyName.string)
        let digest = try copy(file, length: before.length, shown, to: name, in: collection.copies)
        let after = try Copying.of(.picture, file.information(path: shown))
        guard !isStopped, FileIdentity(after) == FileIdentity(before),
            after.st_ctim.isSame(before.st_ctim)
        else {
            try Copying.of(.spool, collection.copies.remove(name))
            return files.move(path, .seen(FileIdentity(after), isWhole: false), now: time.now)
        }
        if case .perhaps(let entry) = finding, entry.sha256 == ByteString(digest) {
            try Copying.of(.spool, collection.copies.remove(name))
            var known = entry
            known.stamp = stamp
            known.path = path
            collection.known.append(known)
            if entry.stamp.identity != stamp.identity {
                collection.replaced.append(entry.stamp.identity)
            }
            return
        }
        collection.copyNames.insert(copyName)
        collection.bytes += before.length
        collection.pictures.append(
            TakenPicture(
                path: path, stamp: stamp, sha256: digest, batch: collection.name,
                source: "./\(copyName)"))
    }

    private func copy(
        _ file: borrowing Descriptor, length: Int, _ shown: String, to name: FileName,
        in folder: Directory
    ) throws(Copying) -> String {
        let copy = try Copying.of(.spool, folder.create(name))
        let place = folder.path(of: name)
        do throws(FileError) {
            return try file.copySparsely(upTo: length, path: shown, to: copy, place, stop: stopped)
        } catch {
            guard error.path != place else { throw Copying(side: .spool, error: error) }
            try? folder.remove(name)
            throw Copying(side: .picture, error: error)
        }
    }

    /// The name of the copy: the path with hyphens instead of slashes, without characters that have a meaning in
    /// a source, and without those that the status does not show: the picture is found there by its name. The image
    /// gets its name from it.
    private func copyName(for path: RelativePath, _ collection: inout Group) -> ByteString {
        let joined = path.names.map(\.text).joined(separator: "-")
        let scalars = joined.unicodeScalars.map { scalar -> Unicode.Scalar in
            if "*?#%:@\\\u{FFFD}".unicodeScalars.contains(scalar) { return "_" }
            return RedactedURL.isShown(scalar) ? scalar : "_"
        }
        let text = String(String.UnicodeScalarView(scalars))
        let (stem, ending) =
            text.partsAtLastDot.map { ($0.stem, "." + $0.ending) } ?? (text[...], "")
        let base = ByteString(
            String(stem).prefix(utf8: ImageName.maximumBytes - ending.utf8.count) + ending)
        guard collection.copyNames.contains(base) else { return base }
        let taken = collection.copyNames
        return collection.numbering.name(for: base) { taken.contains($0) }
    }

    // MARK: The batch

    private struct Content: Encodable {
        let recipe: String
        let images: [String]
        var deliver: Delivery?

        struct Delivery: Encodable {
            let to: String
            let ifExists: String
        }
    }

    private func submit(_ collection: Group, _ station: Directory) throws(FileError) {
        inLedger { ledger throws(FileError) in
            try ledger.add(collection.known, replacing: collection.replaced)
        }
        guard !collection.pictures.isEmpty else { return try station.removeTree(Self.copiesName) }
        let settings = settings
        let folder = folder
        let content = Content(
            recipe: folder.recipe, images: collection.pictures.map(\.source.string),
            deliver: folder.delivery.map {
                Content.Delivery(to: $0.folder, ifExists: $0.existing.rawValue)
            })
        try collection.copies.write(
            JSONFile.text(of: content), to: "\(FolderJob.stem).json", durably: false)
        // One call for all copies is faster than one for each.
        if settings.isDurable { try collection.copies.syncFileSystem() }
        FaultPoint.hotCopied.pass()
        let name = FileName(collection.name)
        try station.rename(Self.copiesName, to: station, as: name)
        FaultPoint.hotMade.pass()
        guard let identity = try station.droppedIdentity(of: name) else { return }
        let batch = HotBatch(
            name: collection.name, originals: folder.originals, identity: identity,
            pictures: collection.pictures)
        try batch.record(in: station, durably: settings.isDurable)
        // They are taken, even if this sync fails.
        if settings.isDurable {
            do {
                try station.sync()
            } catch {
                scheduler.storage.writeRefused(error, batch: batch.name)
            }
        }
        records?.batches.append(batch)
        taken.add(batch.pictures.count)
        log.picturesTaken(batch.pictures.count, from: folder.path, as: batch.name)
        inLedger { ledger throws(FileError) in try ledger.add(batch.pictures) }
        send(batch, station)
    }

    /// Moves the batch into the inbox, unless that was done before. If it cannot be moved, this is tried again at each
    /// look.
    func send(_ batch: HotBatch, _ station: Directory) {
        do {
            try batch.submit(from: station, to: spool.openInbox(), durably: settings.isDurable)
        } catch  where error.storageFailure != nil {
            scheduler.storage.writeRefused(error, batch: batch.name)
        } catch {
            log.storageFailed(error, batch: batch.name)
        }
    }
}

extension timespec {
    fileprivate func isSame(_ other: timespec) -> Bool {
        (tv_sec, tv_nsec) == (other.tv_sec, other.tv_nsec)
    }
}
