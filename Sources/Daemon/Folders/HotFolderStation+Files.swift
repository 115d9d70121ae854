import DarkroomAnswer
import DarkroomCore
import DarkroomPicture
import DarkroomSpool
import Glibc
import SystemPackage

/// What a listing of a whole hot folder has found.
struct HotListing {
    let device: UInt64
    /// Whether every folder could be listed.
    var isWhole = true
    var identities: Set<ByteString> = []
    /// The pictures that are not taken yet, and the other files that are not taken.
    var pictures: Set<RelativePath> = []
    var refused: Set<RelativePath> = []
    /// Entries of the ledger with a new place.
    var moved: [TakenPicture] = []
}

/// The files of a hot folder: which is a picture, which is complete, and why another is not taken.
extension HotFolderStation {
    /// Folders that are deeper are not listed.
    private static let depth = 32

    func list(_ folder: Directory, at path: RelativePath, _ listing: inout HotListing) {
        let names: [FileName]
        do throws(FileError) {
            try watch?.add(folder, at: path)
        } catch  where error.errno == .noSuchFileOrDirectory {
            return
        } catch {
            // ENOSPC: the user has no watches left. The tree is polled from now on.
            pollInstead(error)
        }
        do throws(FileError) {
            names = try folder.names()
        } catch {
            listing.isWhole = false
            if path == .root { return vanish(error) }
            return refuse(path, .unreadable, error.message, &listing)
        }
        for name in names {
            if isStopped { return listing.isWhole = false }
            let entry = path.appending(name)
            guard !isPassedOver(name) else { continue }
            let information: stat
            do throws(FileError) {
                guard let found = try folder.information(of: name) else { continue }
                information = found
            } catch {
                listing.isWhole = false
                refuse(entry, .unreadable, error.message, &listing)
                continue
            }
            if information.isFolder {
                list(entry, name, information, in: folder, &listing)
            } else {
                examine(entry, information, in: folder, isWhole: false, &listing)
            }
        }
    }

    private func list(
        _ path: RelativePath, _ name: FileName, _ information: stat, in parent: Directory,
        _ listing: inout HotListing
    ) {
        if path.names.count > Self.depth {
            return refuse(path, .folder, "it is a folder \(Self.depth + 1) levels deep", &listing)
        }
        guard UInt64(information.st_dev) == listing.device else {
            return refuse(path, .folder, "it is a folder on another file system", &listing)
        }
        let folder: Directory
        do throws(FileError) {
            folder = try Directory(name, in: parent)
        } catch  where [.noSuchFileOrDirectory, .notDirectory].contains(error.errno) {
            return
        } catch {
            listing.isWhole = false
            return refuse(path, .unreadable, error.message, &listing)
        }
        if SpoolLoop.isSame(folder, spool.root) || SpoolLoop.isSame(folder, spool.outbox) {
            return refuse(path, .folder, "it is a folder of the spool", &listing)
        }
        refused[path] = nil
        list(folder, at: path, &listing)
    }

    func listNew(_ path: RelativePath, _ folders: inout OpenFolders) {
        guard let seen, let parent = folders.open(path.folder), !isPassedOver(path),
            let information = try? parent.information(of: path.name), information.isFolder
        else { return }
        var listing = HotListing(device: seen.device)
        list(path, path.name, information, in: parent, &listing)
        inLedger { ledger throws(FileError) in try ledger.add(listing.moved) }
        // Another name of the same folder may have been watched.
        if !listing.isWhole { scans.isNeeded = true }
    }

    /// Examines a file that an event names, or that may have settled.
    func examine(_ path: RelativePath, in folder: Directory, isWhole: Bool) {
        guard let seen, !isPassedOver(path) else { return }
        var listing = HotListing(device: seen.device)
        do throws(FileError) {
            guard let information = try folder.information(of: path.name) else {
                refused[path] = nil
                return forget(path)
            }
            guard !information.isFolder else { return forget(path) }
            examine(path, information, in: folder, isWhole: isWhole, &listing)
        } catch {
            refuse(path, .unreadable, error.message, &listing)
        }
        inLedger { ledger throws(FileError) in try ledger.add(listing.moved) }
    }

    private func examine(
        _ path: RelativePath, _ information: stat, in folder: Directory, isWhole: Bool,
        _ listing: inout HotListing
    ) {
        guard PictureFileExtensions.match(path.name.text) else {
            return refuse(
                path, .notAPicture, "its name does not end like that of a picture", &listing)
        }
        guard information.isRegularFile else {
            return refuse(path, .notAFile, "it is not a regular file", &listing)
        }
        if Self.isForeign(information, in: folder) {
            return refuse(path, .notAFile, Self.foreign, &listing)
        }
        guard let seen else { return forget(path) }
        if let identity = records?.ledger.identity(of: information, at: path, in: seen) {
            return isKnown(path, identity, &listing)
        }
        let identity: String
        do throws(FileError) {
            guard let found = try folder.droppedIdentity(of: path.name) else { return forget(path) }
            identity = found
        } catch {
            listing.isWhole = false
            return refuse(path, .unreadable, error.message, &listing)
        }
        let stamp = PictureStamp(information, identity: identity, in: seen)
        switch records?.ledger.find(path, stamp, changesInodes: watch == nil) ?? .new {
        case .known: return isKnown(path, stamp.identity, &listing)
        case .moved(let entry):
            listing.moved.append(entry)
            return isKnown(path, stamp.identity, &listing)
        case .perhaps(let entry): listing.identities.insert(entry.stamp.identity)
        case .new: break
        }
        guard information.length > 0 else { return refuse(path, .empty, "it is empty", &listing) }
        guard information.length <= settings.maximumBytes else {
            return refuse(
                path, .tooLarge,
                "it has \(Units.bytes(information.length)), more than downloads.maxBytes "
                    + "(\(Units.bytes(settings.maximumBytes)))", &listing)
        }
        if refused[path]?.reason == .unreadable {
            // Opening it has failed; it is tried again.
            listing.refused.insert(path)
        } else {
            refused[path] = nil
        }
        listing.pictures.insert(path)
        listing.identities.insert(stamp.identity)
        let file = FileIdentity(information)
        let isComplete =
            isWhole || isQuiet(information)
            || files.hasSettled(path, file, settle: settleTime, now: time.now)
        files.move(path, .seen(file, isWhole: isComplete), now: time.now)
    }

    private func isKnown(_ path: RelativePath, _ identity: ByteString, _ listing: inout HotListing)
    {
        listing.identities.insert(identity)
        forget(path)
        if refused[path]?.reason == .originalKept {
            listing.refused.insert(path)
        } else {
            refused[path] = nil
        }
    }

    /// Whether the attributes show that the file has not changed for `inbox.settle`. On a network file system they have
    /// the time of another machine, so the file is observed instead.
    private func isQuiet(_ information: stat) -> Bool {
        guard watch != nil else { return false }
        let written = FileIdentity(information).age(at: Clock.steady)
        return min(Clock.steady - information.statusChanged, written) >= settings.settle
    }

    /// Whether a name is that of a picture which may be taken.
    func isPicture(_ path: RelativePath) -> Bool {
        !isPassedOver(path) && PictureFileExtensions.match(path.name.text)
    }

    static let foreign = "it is a hard link to a file of another user than the folder's"

    /// Whether a file may have come here without its owner: by a hard link to it, which does not show that whoever made
    /// it may read it.
    static func isForeign(_ information: stat, in folder: Directory) -> Bool {
        guard information.st_nlink > 1 else { return false }
        return (try? folder.information().st_uid) != information.st_uid
    }

    /// Whether a file is not for Darkroom, or not yet, or was made by a storage box or a desktop. Such files are not
    /// even reported.
    private func isPassedOver(_ name: FileName) -> Bool {
        Self.isNotYet(name) || settings.ignored.contains(name)
    }

    private func isPassedOver(_ path: RelativePath) -> Bool {
        Self.isNotYet(path.name) || settings.ignored.contains(path)
    }

    private static func isNotYet(_ name: FileName) -> Bool {
        name.bytes.first == UInt8(ascii: ".")
            || SkipReason.Mark.endings.contains { name.hasSuffix($0.rawValue) }
    }

    /// Remembers why a file is not taken, and reports it once.
    func refuse(
        _ path: RelativePath, _ reason: HotFileReason, _ message: String,
        _ listing: inout HotListing
    ) {
        listing.refused.insert(path)
        forget(path)
        refuse(path, reason, message)
    }

    func refuse(_ path: RelativePath, _ reason: HotFileReason, _ message: String) {
        let why = HotRefusal(reason: reason, message: message)
        if refused.refuse(path, why, now: time.now) == .yes {
            log.pictureNotTaken("\(self.path)/\(path.text)", because: message)
        }
    }
}

/// Why a file of a hot folder is not taken.
struct HotRefusal: RefusalReason {
    let reason: HotFileReason
    let message: String

    var isTold: Bool { reason.isLasting }
    func isSame(as other: HotRefusal) -> Bool { reason == other.reason }
}
