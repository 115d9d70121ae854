import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import Glibc
import SystemPackage

/// A hot folder and the folder into which its originals move (`originals: {move: FOLDER}`), for the moment of a step.
/// Between two steps they are not open, so that their file systems can be unmounted.
///
/// An original keeps its path from the hot folder: `sub/a.jpg` becomes `FOLDER/sub/a.jpg`. All images of the picture are
/// filtered, and the last status is not written. Within a file system:
///
/// | state    | the hot folder     | FOLDER           | journal: `moving`   | a restart                                |
/// |----------|--------------------|------------------|---------------------|------------------------------------------|
/// | ended    | NAME               | –                | –                   | begins                                   |
/// | hidden   | the hidden name    | –                | –                   | continues with the hidden file           |
/// | promised | the hidden name    | –                | with the name       | renames the hidden file                  |
/// | placed   | –                  | NAME             | with the name       | finds NAME with these bytes; if it does  |
/// |          |                    |                  |                     | not, the image has a warning             |
///
/// From one file system, or mount, to another:
///
/// | state    | the hot folder     | FOLDER           | journal: `moving`   | a restart                                |
/// |----------|--------------------|------------------|---------------------|------------------------------------------|
/// | ended    | NAME               | –                | –                   | begins                                   |
/// | copied   | NAME               | a hidden copy,   | –                   | copies again, over the former copy       |
/// |          |                    | synced           |                     |                                          |
/// | promised | NAME               | the hidden copy  | with the name       | renames the copy                         |
/// | placed   | NAME               | NAME, synced     | with the name       | finds NAME with these bytes; if it does  |
/// |          |                    |                  |                     | not, it copies again                     |
/// | recorded | NAME               | NAME             | as placed           | hides and removes the original           |
/// | hidden   | the hidden name    | NAME             | as placed           | removes it                               |
/// | removed  | –                  | NAME             | as placed           | finds no original                        |
///
/// An original is removed only after the journal has it as placed: nothing is concluded from a missing copy, which
/// somebody may have cleared away. So a program that takes NAME away in the moment before that record, in which the
/// daemon is killed too, gets it for the second time.
///
/// The copy and its name are synced whatever `durability` says, because the original is removed next. An original that
/// waits has its own name: whoever looks into the hot folder sees it.
///
/// The name of a copy is that of `DeliveryFolder`: one that nobody can guess, if somebody else has the first one.
///
/// | in the hot folder is                                 | then                                                   |
/// |------------------------------------------------------|--------------------------------------------------------|
/// | the file that was read                               | it moves                                               |
/// | nothing, or visibly another file                     | nothing is moved                                       |
/// | the same file with another content                   | nothing is moved; the hot folder's report has it   |
///
/// | the name is taken by | `number`            | `replace`          | `fail`             |
/// |----------------------|---------------------|--------------------|--------------------|
/// | a file               | NAME-2, NAME-3, …   | replaces it        | the original stays |
/// | a folder             | NAME-2, NAME-3, …   | the original stays | the original stays |
package struct OriginalsFolder {
    let hot: Hot
    let target: Directory
    let existing: Delivery.Existing
    let folders: BatchFolders
    let isDurable: Bool
    /// Whether the two are known to be on different mounts.
    let copies: Bool

    var stop: CancellationFlag { hot.stop }

    /// Opens both folders.
    ///
    /// - Parameters:
    ///   - key: that of the batch.
    ///   - taken: the folders from which Darkroom takes files, or which are its own.
    /// - Throws: also if others could put another folder in the place of one of them, or if originals would be taken as
    ///   pictures again.
    package init(
        from path: String, to place: Delivery, of folders: BatchFolders, _ key: HidingKey?,
        taken: TakenFolders, durably: Bool, copies: Bool, stop: CancellationFlag
    ) throws(FileError) {
        hot = Hot(folder: try PlaceFolder.open(path), key: key, stop: stop)
        target = try PlaceFolder.open(place.folder)
        if let words = taken.above(target) ?? taken.beneath(target) {
            throw PlaceFolder.refusal(
                place.folder, "it is in \(words), or contains it: originals would be taken again")
        }
        existing = place.existing
        self.folders = folders
        isDurable = durably
        self.copies = copies
    }

    // MARK: The promise

    package enum Preparation {
        /// This must be in the journal before the original is placed.
        case promise(OriginalPromise)
        /// The promise of the journal is kept next.
        case promised
        case ended(OriginalOutcome)
    }

    /// Finds out how an original moves, and does all of it that can be undone.
    ///
    /// - Parameters:
    ///   - promise: that of the journal, if its name may still be free.
    ///   - promised: the paths that other originals get next.
    package func prepare(
        _ picture: TakenPicture, _ promise: OriginalPromise?, besides promised: Set<ByteString>
    ) throws(FileError) -> Preparation {
        let original = try hot.original(of: picture)
        if let promise, let found = try look(for: original, picture, promise) { return found }
        guard let original, let file = try original.open() else {
            try hot.requireSameFolder(as: picture)
            try original?.showOther()
            return .ended(.isAnother)
        }
        let place = try self.place(for: picture, makes: true)
        guard let name = try freeName(for: picture, in: place, besides: promised) else {
            giveUp(picture, promise)
            let shown = place.path(of: picture.path.name)
            return .ended(.stays("\(shown): a file has this name already (ifExists: fail)"))
        }
        let here = try original.folder.information()
        let there = try place.information()
        var copy: FileName?
        if copies || here.st_dev != there.st_dev {
            let shown = original.folder.path(of: picture.path.name)
            copy = try self.copy(file, of: picture, shown, to: place, promise)
            if copy == nil { return .ended(.isAnother) }
        } else {
            switch try original.hide() {
            case .done: break
            case .isGone, .hasChanged: return .ended(.isAnother)
            case .nameIsTaken:
                return .ended(
                    .stays("its folder contains \(original.hiddenName.text), which is another file")
                )
            }
        }
        return .promise(
            OriginalPromise(
                name: RelativePath.word(name.bytes), path: place.path(of: name),
                folder: try place.mark(), copy: copy?.text))
    }

    /// What has become of a promise; nil if that cannot be known.
    private func look(
        for original: HotOriginal?, _ picture: TakenPicture, _ promise: OriginalPromise
    ) throws(FileError) -> Preparation? {
        if !promise.isCopy {
            if try original?.open() != nil {
                let place = try self.place(for: picture, makes: true)
                return try place.mark() == promise.folder ? .promised : nil
            }
            if try isPlaced(picture, promise) { return .ended(.moved(to: promise.path)) }
            try hot.requireSameFolder(as: picture)
            let isOther = try original?.showOther() ?? false
            return .ended(isOther ? .isAnother : .isLost(to: promise.path))
        }
        if promise.isPlaced { return .promised }
        let place = try ignoringMissing(self.place(for: picture, makes: false))
        guard let place else { return nil }
        let copy = copyName(of: picture, promise)
        if try picture.isHeld(by: place, as: copy) { return .promised }
        guard let name = promise.fileName else { return nil }
        return try picture.isHeld(by: place, as: name) ? .promised : nil
    }

    package func isPlaced(
        _ picture: TakenPicture, _ promise: OriginalPromise
    ) throws(FileError) -> Bool {
        guard let name = promise.fileName else { return false }
        return try ignoringMissing(
            picture.isHeld(by: place(for: picture, makes: false), as: name)) ?? false
    }

    // MARK: Names

    /// The folder in which an original is placed. No part of its path may be a symbolic link.
    ///
    /// - Parameter makes: whether it is made if it is missing, with the mode of that of the original.
    func place(for picture: TakenPicture, makes: Bool) throws(FileError) -> Directory {
        var (place, source) = (target, hot.folder)
        for name in picture.path.folder.names {
            if makes {
                source = try Directory(name, in: source)
                place = try place.makeFolder(name, like: source, durably: true)
            } else {
                place = try Directory(name, in: place)
            }
        }
        return place
    }

    /// nil if the original stays because its name is taken.
    private func freeName(
        for picture: TakenPicture, in place: Directory, besides promised: Set<ByteString>
    ) throws(FileError) -> FileName? {
        let name = picture.path.name
        return try existing.free(name) {
            name.numbered($0)
        } isTaken: { name throws(FileError) in
            if promised.contains(ByteString(place.path(of: name))) { return true }
            return try place.exists(name)
        }
    }
}

extension TakenPicture {
    /// Whether a file of a folder has the content that was read.
    func isHeld(by folder: Directory, as name: FileName) throws(FileError) -> Bool {
        try folder.holds(name, bytes: stamp.size, sha256: sha256)
    }
}

extension FileName {
    /// `a-2.jpg`. A name that is too long for the number is cut.
    fileprivate func numbered(_ number: Int) -> FileName {
        let dot = bytes.lastIndex(of: UInt8(ascii: ".")).flatMap { $0 > 0 ? $0 : nil }
        let ending = Array("-\(number)".utf8) + bytes[(dot ?? bytes.endIndex)...]
        let room = max(0, Self.longest - ending.count)
        return FileName(bytes: bytes[..<(dot ?? bytes.endIndex)].prefix(room) + ending)
    }
}
