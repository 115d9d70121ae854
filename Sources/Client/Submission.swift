import DarkroomCore
import DarkroomSpool
import SystemPackage

/// A complete file or folder before it has its name in the inbox.
package protocol StagedItem: AnyObject {
    /// As in the status of its batch (`DroppedFile`).
    var identity: String { get }
    /// Whether it is a folder with a manifest and its pictures.
    var isFolder: Bool { get }
    var inbox: Directory { get }
    /// Gives it this name in the inbox, unless that is taken.
    func place(as name: FileName) throws(FileError)
    func take(_ name: FileName) throws(FileError)
}

extension StagedItem {
    /// Drops it; returns false if the name is taken.
    package func drop(as name: FileName) throws(ClientError) -> Bool {
        do throws(FileError) {
            try place(as: name)
            return true
        } catch {
            if error.errno == .fileExists { return false }
            throw ClientError(error)
        }
    }

    package func isWaiting(as name: FileName) throws(ClientError) -> Bool {
        try asClientError(inbox.droppedIdentity(of: name)) == identity
    }

    /// Takes it back; returns false if the daemon has taken it.
    package func withdraw(_ name: FileName) throws(ClientError) -> Bool {
        guard try isWaiting(as: name) else { return false }
        do throws(FileError) {
            try take(name)
            return true
        } catch {
            if error.errno == .noSuchFileOrDirectory { return false }
            throw ClientError(error)
        }
    }
}

/// A checked manifest on its way: dropped into the inbox, then taken as a batch.
package final class Submission {
    private let staged: any StagedItem
    /// The hold that was dropped before it, and its name.
    private let hold: StagedFile?
    private let holdName: FileName
    private var search: AnswerSearch
    package let name: FileName

    package var identity: String { staged.identity }

    private static let attempts = 100_000

    /// Drops it under the first free name of `stem.json`, `stem-2.json`, …; a folder has no extension.
    ///
    /// - Parameter isHeld: whether to drop a hold before it; see `drop(_:holding:…)`.
    package init(
        _ staged: any StagedItem, stem: String, ending: String = "", isHeld: Bool,
        in spool: SpoolFolder
    ) throws(ClientError) {
        self.staged = staged
        search = try AnswerSearch(stem: stem, in: spool)
        let hold = isHeld ? try StagedFile([], in: spool) : nil
        self.hold = hold
        (name, holdName) = try Self.drop(
            staged, holding: hold, stem: stem, ending: ending, in: spool)
    }

    /// A hold takes effect on the manifest that arrives with it, but on an unfinished batch of this name before. So a
    /// held manifest gets a name that no batch has. And `NAME.hold` belongs to the manifest of its submitter: others
    /// leave the name alone as long as it is there.
    ///
    /// - Returns: the names of both.
    private static func drop(
        _ manifest: any StagedItem, holding hold: StagedFile?, stem: String, ending: String,
        in spool: SpoolFolder
    ) throws(ClientError) -> (FileName, hold: FileName) {
        let (inbox, outbox) = (try spool.inbox(), try spool.outbox())
        for number in 1...attempts {
            let id = number == 1 ? stem : "\(stem)-\(number)"
            let (name, holdName) = (FileName(id + ending), FileName("\(id).hold"))
            if try asClientError(inbox.exists(holdName)) { continue }
            if hold != nil || number > 1 {
                // Otherwise the hold would be for that batch, or this one would get a second number: `stem-2-2`.
                let taken = Claim.id(of: name.text, isFolder: manifest.isFolder)
                if try asClientError(outbox.exists(FileName(taken))) { continue }
            }
            if let hold {
                guard try hold.drop(as: holdName) else { continue }
                if try manifest.drop(as: name) { return (name, holdName) }
                _ = try hold.withdraw(holdName)
                throw ClientError(
                    .tryAgain, code: "file-exists",
                    "\(inbox.path(of: name)): another manifest has this name",
                    remedy: "Nothing was submitted. Choose another name with --name.")
            } else if try manifest.drop(as: name) {
                return (name, holdName)
            }
        }
        throw ClientError(
            .tryAgain, code: "file-exists", "\(inbox.path): no name is free for \(stem)",
            remedy: "Choose another name with --name.")
    }

    /// The ID of its batch; nil if the daemon has not taken it yet.
    package func id() throws(ClientError) -> String? {
        try search.find(name, isFolder: staged.isFolder, identity: staged.identity)
    }

    /// Takes the manifest back, with its hold; returns false if the daemon has taken it.
    package func withdraw() throws(ClientError) -> Bool {
        guard try staged.withdraw(name) else { return false }
        _ = try hold?.withdraw(holdName)
        return true
    }
}

/// The names of submitted manifests, without their extension.
package enum SubmissionName {
    /// In bytes: an ID has as many at most, and a number and an extension still fit into a file name.
    private static let capacity = 200

    /// A name that a user has chosen.
    package static func checked(_ name: String) throws(ClientError) -> String {
        let fault: String? =
            if name.isEmpty {
                "is empty"
            } else if name.utf8.first == UInt8(ascii: ".") {
                "begins with a dot"
            } else if name.utf8.contains(UInt8(ascii: "/")) {
                "contains a slash"
            } else if name.unicodeScalars.contains(where: \.isControl) {
                "contains a control character"
            } else if name.utf8.count > capacity {
                "has \(name.utf8.count) bytes; the limit is \(capacity)"
            } else {
                nil
            }
        guard let fault else { return name }
        throw ClientError(
            .usage, code: "bad-name", "--name \(FileName(name).text): the name \(fault)")
    }

    /// A name for a folder: not one that means something else, or "not yet", without an extension.
    ///
    /// - Parameter isChosen: whether the user has chosen the name. Then it is not changed.
    package static func ofFolder(_ name: String, isChosen: Bool) throws(ClientError) -> String {
        guard Examination.reasonToIgnore(FileName(name), isFolder: true) != nil else { return name }
        guard isChosen else { return name + "_" }
        throw ClientError(
            .usage, code: "bad-name",
            "--name \(FileName(name).text): with --copy, the name cannot have this ending")
    }

    /// The name of a manifest's file without its extension.
    package static func of(_ file: FileName) -> String {
        let text = file.text
        return usable(text.partsAtLastDot.map { String($0.stem) } ?? text)
    }

    /// For pictures: their folder, if all are in one, else the first picture.
    package static func of(_ pictures: [PictureSource]) -> String {
        let folders = Set(pictures.map { $0.path.map { FilePath($0).removingLastComponent() } })
        if pictures.count > 1, folders.count == 1, let folder = folders.first ?? nil,
            let last = folder.lastComponent
        {
            return usable(last.string)
        }
        return usable(pictures.first?.imageName.string ?? "")
    }

    /// A name that is the beginning of this text, without what a name cannot have.
    package static func usable(_ text: String) -> String {
        var name = FileName(text).text.prefix(utf8: capacity)
        if name.utf8.first == UInt8(ascii: ".") { name = "_" + name.dropFirst() }
        return name.isEmpty ? "pictures" : name
    }
}
