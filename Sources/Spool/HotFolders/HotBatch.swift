import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import Foundation
import Glibc
import SystemPackage

/// A batch that the daemon has made of pictures in a hot folder: a folder with a manifest (`FolderJob`), and a record of
/// the pictures until the batch has ended and its originals are where they belong.
///
/// KEY is made from the path of the hot folder, NAME from its name and the time. Each step is a rename:
///
/// | state     | hot/KEY/new | hot/KEY/NAME | hot/KEY/NAME.batch | the batch     | a restart                          |
/// |-----------|-------------|--------------|--------------------|---------------|------------------------------------|
/// | collected | copies      | –            | –                  | –             | removes the copies; none is taken  |
/// | made      | –           | copies       | –                  | –             | the same                           |
/// | taken     | –           | copies       | yes                | –             | moves NAME into the inbox          |
/// | submitted | –           | –            | yes                | inbox, active | nothing; its answer comes          |
/// | answered  | –           | –            | yes                | outbox, ended | moves or removes originals that    |
/// |           |             |              |                    |               | are there; removes the record      |
///
/// The record decides: with it the pictures are taken, without it they are not. It is in its place before the folder
/// leaves `hot/KEY`, by one rename, so that nobody gets two answers. The ledger gets the lines of the record next; a
/// restart adds those that it lacks.
package struct HotBatch: Sendable, Equatable {
    package var name: String
    package var originals: HotFolder.Originals
    /// The identity of the folder, by which its answer is found (`DroppedFile`).
    package var identity: String
    package var pictures: [TakenPicture]
    /// nil in the record of a daemon whose hidden names could be guessed.
    package var hidingKey: HidingKey?

    private static let suffix = ".batch"
    private static let newName: FileName = "batch.new"

    private var recordName: FileName { FileName(name + Self.suffix) }

    private var text: String {
        let head =
            ["batch", RelativePath.word(name.utf8), originals.rawValue, identity]
            + (hidingKey.map { [$0.word] } ?? [])
        return ([head.joined(separator: " ")] + pictures.map(\.line) + ["end", ""])
            .joined(separator: "\n")
    }

    /// nil if the text is not whole: after a power cut, without `durability: full`.
    private init?(text: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 3, lines.last == "", lines[lines.count - 2] == "end" else {
            return nil
        }
        let head = lines[0].split(separator: " ")
        guard [4, 5].contains(head.count), head[0] == "batch",
            let name = RelativePath.bytes(ofWord: head[1]),
            let originals = HotFolder.Originals(rawValue: String(head[2]))
        else { return nil }
        let key = head.count > 4 ? HidingKey(word: String(head[4])) : nil
        guard (key != nil) == (head.count > 4) else { return nil }
        let pictures = lines[1..<(lines.count - 2)].map { line in
            TakenPicture(line: line.split(separator: " ", omittingEmptySubsequences: false)[...])
        }
        guard pictures.allSatisfy({ $0 != nil }) else { return nil }
        self.name = String(decoding: name, as: UTF8.self)
        self.originals = originals
        identity = String(head[3])
        self.pictures = pictures.compactMap(\.self)
        hidingKey = key
    }

    /// Reads the record of a batch; nil if it is not whole.
    init?(_ name: FileName, in folder: Directory) throws(FileError) {
        let bytes = try folder.read(FileName(bytes: name.bytes + Array(Self.suffix.utf8)))
        self.init(text: String(decoding: bytes, as: UTF8.self))
    }

    package init(
        name: String, originals: HotFolder.Originals, identity: String,
        pictures: [TakenPicture], hidingKey: HidingKey? = HidingKey()
    ) {
        self.name = name
        self.originals = originals
        self.identity = identity
        self.pictures = pictures
        self.hidingKey = hidingKey
    }

    /// Takes the pictures: writes the record. The caller syncs the folder.
    package func record(in folder: Directory, durably: Bool) throws(FileError) {
        try folder.write(Array(text.utf8), to: Self.newName, replacing: true, durably: durably)
        // The copies are there as soon as the record is.
        if durably { try folder.sync() }
        FaultPoint.hotRecordWritten.pass()
        try folder.rename(Self.newName, to: folder, as: recordName)
        FaultPoint.hotRecorded.pass()
    }

    /// Moves the folder into the inbox, unless that was done before.
    package func submit(from folder: Directory, to inbox: Directory, durably: Bool)
        throws(FileError)
    {
        guard try folder.exists(FileName(name)) else { return }
        try folder.rename(FileName(name), to: inbox, as: FileName(name), rivals: .some)
        FaultPoint.hotSubmitted.pass()
        if durably {
            try inbox.sync()
            try folder.sync()
        }
    }

    /// Removes the record, when nothing is left to be done.
    package func forget(in folder: Directory) throws(FileError) {
        try folder.remove(recordName)
        FaultPoint.hotForgotten.pass()
    }

    /// Whether a batch has this name: its record, or its folder.
    package static func exists(_ name: String, in folder: Directory) throws(FileError) -> Bool {
        for file in [name, name + suffix] where try folder.exists(FileName(file)) { return true }
        return false
    }

    static func isTaken(_ name: FileName, in folder: Directory) throws(FileError) -> Bool {
        let record = name.bytes + Array(suffix.utf8)
        guard record.count <= Int(NAME_MAX) else { return false }
        return try folder.exists(FileName(bytes: record))
    }

    /// Removes the folder of a batch that could not be recorded. With a record its pictures are taken, and it stays.
    package static func discard(_ name: String, in folder: Directory) throws(FileError) {
        guard try !folder.exists(FileName(name + suffix)), try folder.exists(FileName(name)) else {
            return
        }
        try folder.removeTree(FileName(name))
    }

    /// The batches with a record, sorted by their names. What a daemon had begun and not taken is removed.
    package static func recover(in folder: Directory) throws(FileError) -> [HotBatch] {
        var batches: [HotBatch] = []
        let names = try folder.names()
        for name in names where name.hasSuffix(suffix) {
            let bytes = try folder.read(name)
            if let batch = HotBatch(text: String(decoding: bytes, as: UTF8.self)),
                batch.recordName == name
            {
                batches.append(batch)
            } else {
                try folder.remove(name)
            }
        }
        let taken = Set(batches.map { FileName($0.name) })
        for name in names where !taken.contains(name) {
            if try folder.information(of: name)?.isFolder == true { try folder.removeTree(name) }
        }
        return batches.sorted { ByteString($0.name) < ByteString($1.name) }
    }

    // MARK: The answer

    package enum Fate: Sendable {
        case waiting
        case ended(id: String, Status)
        /// Somebody has removed the batch or its answer.
        case gone
    }

    /// How many IDs are tried: an ID that exists gets a number.
    private static let mostNumbers = 9

    /// What has become of the batch. It moves from the inbox to `active` and to the outbox, so it is looked for in this
    /// order.
    package func fate(in spool: Spool) throws(FileError) -> Fate {
        if try spool.openInbox().exists(FileName(name)) { return .waiting }
        let ids = [name] + (2...Self.mostNumbers).map { "\(name)-\($0)" }
        for id in ids where try spool.active.exists(FileName(id)) { return .waiting }
        for id in ids {
            guard let outbox = try FinishedBatch.open(FileName(id), in: spool.outbox),
                try outbox.exists(BatchFile.status), let frame = try Status(frameIn: outbox),
                frame.manifest.identity == identity
            else { continue }
            guard frame.state.isFinal, try !spool.active.exists(FileName(id)),
                let status = try Status(in: outbox), status.state.isFinal
            else { return .waiting }
            return .ended(id: id, status)
        }
        return .gone
    }

    /// The pictures all of whose images were filtered.
    package func done(by status: Status) -> [TakenPicture] {
        var isFiltered: [ByteString: Bool] = [:]
        for image in status.images {
            guard let source = image.source.map({ ByteString($0) }) else { continue }
            isFiltered[source] = isFiltered[source] != false && image.state == .filtered
        }
        return pictures.filter { isFiltered[$0.source] == true }
    }

    /// The sources of the pictures whose originals were moved into another folder.
    package func moved(by status: Status) -> Set<ByteString> {
        Set(
            status.images.compactMap {
                $0.originalAt == nil ? nil : $0.source.map { ByteString($0) }
            })
    }

    /// The name of the first output of a picture, for the name of its original in the answer.
    package func outputName(of picture: TakenPicture, in status: Status) -> String {
        status.images.first { $0.source.map { ByteString($0) } == picture.source }?.name
            ?? picture.copyName
    }
}
