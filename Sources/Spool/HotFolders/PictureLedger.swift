import DarkroomAnswer
import DarkroomCore
import Glibc
import SystemPackage

/// The pictures of a hot folder that were taken and still exist: `hot/KEY/ledger`.
///
/// | a file of the hot folder                                             | it is                           |
/// |----------------------------------------------------------------------|---------------------------------|
/// | has the identity, size and time of an entry, and its folder or path  | known                           |
/// | has the identity of an entry and its size, but another time or place | known if its digest is the same |
/// | has the path, size and time of an entry of another mount, or of a    | known if its digest is the same |
/// | network file system, whose inodes may change                         |                                 |
/// | any other                                                            | new                             |
///
/// An entry is forgotten when two whole listings of the same hot folder, with the same device and inode, do not contain
/// its file: a folder that is empty because its share is not mounted proves nothing.
///
/// The file has a line for each picture that was taken (`taken …`) or forgotten (`gone IDENTITY`). The last line of an
/// identity counts. A line that a crash has cut is removed; the record of its batch (`HotBatch`) has it too.
package struct PictureLedger {
    static let fileName: FileName = "ledger"
    private static let newName: FileName = "ledger.new"
    /// The file is rewritten when it has so many more lines than twice its entries.
    private static let slack = 1000

    private let folder: Directory
    private let durably: Bool
    /// By the identities of their files.
    private var entries: [ByteString: TakenPicture] = [:]
    private var identities: [RelativePath: ByteString] = [:]
    private var lines = 0
    private var missing: Set<ByteString> = []

    package var count: Int { entries.count }

    package enum Finding: Sendable, Equatable {
        case known
        /// It is known, but the entry has another place or time.
        case moved(TakenPicture)
        /// It is this one if it has the same digest.
        case perhaps(TakenPicture)
        case new
    }

    /// - Parameter folder: `hot/KEY`.
    /// - Throws: also if a line cannot be read. Nothing may be taken then: it could be taken for the second time.
    package init(in folder: Directory, durably: Bool) throws(FileError) {
        self.folder = folder
        self.durably = durably
        guard let bytes = try ifExists({ () throws(FileError) in try folder.read(Self.fileName) })
        else { return }
        let whole = bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        if whole < bytes.count {
            let path = folder.path(of: Self.fileName)
            try folder.append(to: Self.fileName).truncate(to: whole, path: path)
        }
        for line in bytes[..<whole].split(separator: UInt8(ascii: "\n")) {
            lines += 1
            let words = String(decoding: line, as: UTF8.self).split(
                separator: " ", omittingEmptySubsequences: false)
            if words.first == "gone", words.count == 2 {
                drop(ByteString(words[1]))
            } else if words.first == "taken", let picture = TakenPicture(line: words.dropFirst()) {
                put(picture)
            } else {
                throw FileError(
                    .use, folder.path(of: Self.fileName), .illegalByteSequence,
                    detail:
                        "it: its line \(lines) is damaged; without it pictures would be taken twice"
                )
            }
        }
    }

    private mutating func put(_ picture: TakenPicture) {
        drop(picture.stamp.identity)
        entries[picture.stamp.identity] = picture
        identities[picture.path] = picture.stamp.identity
    }

    private mutating func drop(_ identity: ByteString) {
        guard let former = entries.removeValue(forKey: identity) else { return }
        if identities[former.path] == identity { identities[former.path] = nil }
    }

    // MARK: Questions

    /// The identity of the entry that has this path, if its file is this one; it saves asking for the time of birth.
    ///
    /// - Parameter folder: the hot folder; an entry of another one is not meant.
    package func identity(
        of information: stat, at path: RelativePath, in folder: FolderIdentity
    ) -> ByteString? {
        guard let identity = identities[path], let stamp = entries[identity]?.stamp,
            stamp.folder == folder, stamp.matches(information)
        else { return nil }
        return identity
    }

    /// - Parameter changesInodes: whether the file system may give the same file another inode.
    package func find(_ path: RelativePath, _ stamp: PictureStamp, changesInodes: Bool) -> Finding {
        if let entry = entries[stamp.identity] {
            guard entry.stamp.size == stamp.size else { return .new }
            guard stamp.isUnchanged(since: entry.stamp) else { return .perhaps(entry) }
            if stamp.folder == entry.stamp.folder { return .known }
            guard entry.path == path else { return .perhaps(entry) }
            var moved = entry
            moved.stamp = stamp
            return .moved(moved)
        }
        if let identity = identities[path], let entry = entries[identity],
            changesInodes || entry.stamp.folder.device != stamp.folder.device,
            stamp.isUnchanged(since: entry.stamp)
        {
            return .perhaps(entry)
        }
        return .new
    }

    /// Whether it has entries, and all of them were seen in other folders than this one.
    package func isOfOthers(than folder: FolderIdentity) -> Bool {
        !entries.isEmpty && entries.values.allSatisfy { $0.stamp.folder != folder }
    }

    // MARK: Changes

    /// Adds pictures, or replaces their entries.
    ///
    /// - Parameter replaced: the identities of entries that other identities replace.
    package mutating func add(
        _ pictures: [TakenPicture], replacing replaced: [ByteString] = []
    ) throws(FileError) {
        let gone = replaced.filter { entries[$0] != nil }
        for identity in gone { drop(identity) }
        let news = pictures.filter { entries[$0.stamp.identity] != $0 }
        for picture in news { put(picture) }
        try append(gone.map { "gone \($0)" } + news.map { "taken \($0.line)" })
    }

    /// Forgets what a whole listing of the folder and the one before did not contain.
    ///
    /// - Parameter seen: the identities of all files.
    package mutating func forget(
        allBut seen: Set<ByteString>, in folder: FolderIdentity
    ) throws(FileError) {
        let unseen = Set(
            entries.values.filter {
                $0.stamp.folder == folder && !seen.contains($0.stamp.identity)
            }.map(\.stamp.identity))
        let gone = unseen.intersection(missing).sorted()
        missing = unseen.subtracting(gone)
        for identity in gone { drop(identity) }
        try append(gone.map { "gone \($0)" })
    }

    /// A listing was not whole, so that the next one is the first again.
    package mutating func forgetMissing() { missing = [] }

    private mutating func append(_ new: [String]) throws(FileError) {
        guard !new.isEmpty else { return }
        if lines + new.count > 2 * entries.count + Self.slack { return try rewrite() }
        let file = try folder.append(to: Self.fileName)
        let path = folder.path(of: Self.fileName)
        try file.write(Array(new.map { $0 + "\n" }.joined().utf8), path: path)
        if durably { try file.sync(path: path) }
        lines += new.count
        FaultPoint.hotLedgerWritten.pass()
    }

    private mutating func rewrite() throws(FileError) {
        let all = entries.values.sorted { $0.stamp.identity < $1.stamp.identity }
        try folder.write(
            Array(all.map { "taken \($0.line)\n" }.joined().utf8), to: Self.newName,
            replacing: true,
            durably: durably)
        FaultPoint.hotLedgerWritten.pass()
        try folder.rename(Self.newName, to: folder, as: Self.fileName, replacing: true)
        if durably { try folder.sync() }
        lines = all.count
    }
}
