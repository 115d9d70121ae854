import DarkroomCore
import Glibc
import SystemPackage

/// The original of a picture in its folder, under its name or under a hidden name, which nobody can guess (`HidingKey`). It
/// does not end with `~`: cleaners remove such files.
///
/// It gets the hidden name before it is removed or moved: somebody could put another file under its name between a look
/// at it and that step. It is read too, because whoever may write to a picture can give it back its size and time after
/// a change.
package struct HotOriginal {
    package let picture: TakenPicture
    package let folder: Directory
    package let hiddenName: FileName
    private let stop: CancellationFlag

    /// - Parameter key: that of the picture's batch.
    package init(
        _ picture: TakenPicture, in folder: Directory, _ key: HidingKey?, stop: CancellationFlag
    ) {
        let identity = picture.stamp.identity
        self.picture = picture
        self.folder = folder
        self.stop = stop
        hiddenName = key?.name(of: identity) ?? FileName(".darkroom-\(identity)")
    }

    private var name: FileName { picture.path.name }

    /// Opens it under its name, or under the hidden one after a crash; nil if neither is the picture.
    package func open() throws(FileError) -> Descriptor? {
        for name in [name, hiddenName] {
            guard let entry = try folder.information(of: name), picture.stamp.matches(entry) else {
                continue
            }
            let file = try folder.open(name)
            // It may have been exchanged since then.
            if picture.stamp.matches(try file.information(path: folder.path(of: name))) {
                return file
            }
        }
        return nil
    }

    /// What `hide` and `remove` have done.
    package enum Outcome {
        /// It was the picture, and has the hidden name, or is removed; with what was known of it then.
        case done(stat)
        /// It is not there any more, or has changed visibly.
        case isGone
        /// Its attributes are those of the picture, but its content is not.
        case hasChanged
        /// Somebody else uses the hidden name.
        case nameIsTaken
    }

    /// Gives it the hidden name, if it has not changed.
    package func hide() throws(FileError) -> Outcome {
        let isNamed = try folder.information(of: name).map(picture.stamp.matches) ?? false
        if let former = try folder.information(of: hiddenName), isNamed {
            // It can be seen while the picture has it. A former daemon would have left the picture under one of both names.
            guard picture.stamp.matches(former) else { return .nameIsTaken }
            // A file system that cannot refuse to replace leaves both names (`renameByLink`).
            try folder.remove(hiddenName)
        }
        if isNamed {
            guard try isUnchanged(name) else { return .hasChanged }
            try folder.rename(name, to: folder, as: hiddenName, rivals: .some)
            FaultPoint.hotOriginalHidden.pass()
        }
        guard let information = try folder.information(of: hiddenName) else { return .isGone }
        var outcome = Outcome.isGone
        if picture.stamp.matches(information) {
            // If it had its name, it was read above: it has the same inode.
            var isPicture = isNamed
            if !isNamed { isPicture = try isUnchanged(hiddenName) }
            if isPicture { return .done(information) }
            outcome = .hasChanged
        }
        // Somebody has put another file in its place in between.
        try show()
        return outcome
    }

    package func show() throws(FileError) {
        do {
            try folder.rename(hiddenName, to: folder, as: name, rivals: .some)
        } catch  where error.errno == .fileExists {
            let second = FileName(bytes: Array("2-".utf8) + name.bytes)
            try folder.rename(hiddenName, to: folder, as: second, rivals: .some)
        }
    }

    /// Whether the file with the hidden name is the picture, as far as its attributes show it.
    package func isHidden() throws(FileError) -> Bool {
        try folder.information(of: hiddenName).map(picture.stamp.matches) ?? false
    }

    /// Gives a hidden file that is not the picture any more its name back.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    package func showOther() throws(FileError) -> Bool {
        guard try folder.exists(hiddenName), try !isHidden() else { return false }
        try show()
        return true
    }

    /// Removes it, if it has not changed.
    package func remove() throws(FileError) -> Outcome {
        let outcome = try hide()
        if case .done = outcome {
            try folder.remove(hiddenName)
            FaultPoint.hotOriginalRemoved.pass()
        }
        return outcome
    }

    /// Whether a file with the attributes of the picture has its content too.
    private func isUnchanged(_ name: FileName) throws(FileError) -> Bool {
        let shown = folder.path(of: name)
        let file = try folder.open(name)
        guard picture.stamp.matches(try file.information(path: shown)) else { return false }
        var digest = SHA256Digest()
        var rest = picture.stamp.size
        while rest > 0, !stop.isSet {
            let piece = try file.readPiece(upTo: rest, path: shown)
            if piece.isEmpty { break }
            digest.update(piece)
            rest -= piece.count
        }
        try stop.check(.read, shown)
        return ByteString(digest.hex()) == picture.sha256
    }

    /// Whether the picture is there, but with other content than its attributes show.
    package func hasOtherContent() throws(FileError) -> Bool {
        guard let found = try folder.information(of: name), picture.stamp.matches(found) else {
            return false
        }
        return try !isUnchanged(name)
    }
}
