import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import Glibc
import SystemPackage

/// The steps of an original into another folder.
extension OriginalsFolder {
    // MARK: Copies

    /// The name of the copy, or that which it gets if it can.
    func copyName(of picture: TakenPicture, _ promise: OriginalPromise?) -> FileName {
        if let copy = promise?.copy { return FileName(copy) }
        return CopyName.first(
            "\(folders.spool.root.path)\n\(folders.id)\n\(picture.source)\noriginal")
    }

    /// Removes what is left of an original that stays, as far as it can be reached.
    ///
    /// - Parameter promise: the last one.
    package func giveUp(_ picture: TakenPicture, _ promise: OriginalPromise?) {
        show(picture)
        if let place = try? place(for: picture, makes: false) {
            try? place.remove(copyName(of: picture, promise))
        }
    }

    /// Copies an original, with its mode and its time, and waits until the copy is on the disk.
    ///
    /// - Parameter promise: the last one.
    /// - Returns: the name of the copy; nil if the original has another content than was read. Then there is no copy.
    func copy(
        _ file: borrowing Descriptor, of picture: TakenPicture, _ shown: String,
        to place: Directory, _ promise: OriginalPromise?
    ) throws(FileError) -> FileName? {
        let name = CopyName.free(copyName(of: picture, promise), in: place)
        let path = place.path(of: name)
        let copy = try place.create(name, mode: 0o600)
        do throws(FileError) {
            let digest = try file.copySparsely(
                upTo: picture.stamp.size, path: shown, to: copy, path, stop: stop)
            try stop.check(.copy, shown)
            guard ByteString(digest) == picture.sha256 else {
                try place.remove(name)
                return nil
            }
            // A file system without modes or times has its own.
            let information = try file.information(path: shown)
            _ = fchmod(copy.number, information.st_mode & 0o777)
            _ = futimens(copy.number, [information.st_atim, information.st_mtim])
            try copy.sync(path: path)
            try copy.close(path: path)
        } catch {
            // A full disk gets its space back.
            try? place.remove(name)
            throw error
        }
        try place.syncNames()
        FaultPoint.placeCopied.pass()
        return name
    }

    // MARK: The move

    package enum Placement {
        case ended(OriginalOutcome)
        /// The copy has its name. When the journal says so, this is to be called again.
        case placed
        /// Somebody else has taken the name since, or the copy. It is prepared again.
        case again
        /// The original can only be copied to there, and is prepared again for that.
        case againByCopy
    }

    /// Keeps a promise that is in the journal.
    package func place(
        _ picture: TakenPicture, _ promise: OriginalPromise
    ) throws(FileError) -> Placement {
        guard let name = promise.fileName else { return .again }
        if promise.isPlaced { return try removeOriginal(of: picture, promise) }
        return promise.isCopy
            ? try placeCopy(of: picture, name, promise) : try rename(picture, name, promise)
    }

    private func rename(
        _ picture: TakenPicture, _ name: FileName, _ promise: OriginalPromise
    ) throws(FileError) -> Placement {
        guard let original = try hot.original(of: picture) else { return .again }
        // Its content was read before it was promised.
        if try !original.isHidden() {
            switch try original.hide() {
            case .done: break
            case .isGone, .hasChanged: return .ended(.isAnother)
            case .nameIsTaken: return .again
            }
        }
        let place = try self.place(for: picture, makes: true)
        do throws(FileError) {
            try original.folder.rename(
                original.hiddenName, to: place, as: name, replacing: existing == .replace,
                rivals: .some)
        } catch  where error.errno == .fileExists {
            return .again
        } catch  where error.errno == .improperLink {
            try original.show()
            return .againByCopy
        }
        FaultPoint.placeRenamed.pass()
        if isDurable {
            try place.syncNames()
            try original.folder.syncNames()
        }
        FaultPoint.placeSynced.pass()
        return .ended(.moved(to: promise.path))
    }

    private func placeCopy(
        of picture: TakenPicture, _ name: FileName, _ promise: OriginalPromise
    ) throws(FileError) -> Placement {
        let place = try self.place(for: picture, makes: false)
        let copyName = self.copyName(of: picture, promise)
        do throws(FileError) {
            if try place.exists(copyName) {
                try place.rename(
                    copyName, to: place, as: name, replacing: existing == .replace, rivals: .some)
                FaultPoint.placeRenamed.pass()
            } else if try !picture.isHeld(by: place, as: name) {
                return .again
            }
        } catch  where [.fileExists, .noSuchFileOrDirectory].contains(error.errno) {
            return .again
        }
        try place.syncNames()
        FaultPoint.placeSynced.pass()
        return .placed
    }

    /// If it has changed meanwhile, it stays, and the one that was read is in its new place.
    private func removeOriginal(
        of picture: TakenPicture, _ promise: OriginalPromise
    ) throws(FileError) -> Placement {
        if let original = try hot.original(of: picture) {
            _ = try original.remove()
            if isDurable { try original.folder.syncNames() }
        }
        return .ended(.moved(to: promise.path))
    }

    /// Gives an original that waits its name back, as far as it can be reached.
    package func show(_ picture: TakenPicture) { _ = hot.show(picture) }
}

extension OriginalPromise {
    var fileName: FileName? { RelativePath.bytes(ofWord: name).map { FileName(bytes: $0) } }
}
