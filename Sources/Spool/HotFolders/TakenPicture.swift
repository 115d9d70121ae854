import DarkroomAnswer
import DarkroomCore
import Glibc

/// Which folder is at a path. Both numbers change when another file system is mounted there; the device may change when
/// the same one is mounted again.
package struct FolderIdentity: Sendable, Hashable {
    package var device: UInt64
    package var inode: UInt64

    package init(device: UInt64, inode: UInt64) {
        self.device = device
        self.inode = inode
    }

    package init(_ information: stat) {
        self.init(device: UInt64(information.st_dev), inode: UInt64(information.st_ino))
    }
}

/// Which file a picture of a hot folder is, and whether it has changed.
package struct PictureStamp: Sendable, Equatable {
    /// The hot folder. On overlayfs, files have other devices than their folder.
    package var folder: FolderIdentity
    /// The inode and the time of birth (`DroppedFile`).
    package var identity: ByteString
    package var size: Int
    /// The time of the last change of the content.
    package var seconds: Int
    package var nanoseconds: Int

    package init(_ information: stat, identity: String, in folder: FolderIdentity) {
        self.folder = folder
        self.identity = ByteString(identity)
        size = information.length
        seconds = information.st_mtim.tv_sec
        nanoseconds = information.st_mtim.tv_nsec
    }

    fileprivate init?(_ words: ArraySlice<Substring>) {
        guard words.count == 5 else { return nil }
        let words = Array(words)
        let time = words[4].split(separator: ".")
        guard let device = UInt64(words[0]), let root = UInt64(words[1]), let size = Int(words[3]),
            time.count == 2, let seconds = Int(time[0]), let nanoseconds = Int(time[1])
        else { return nil }
        folder = FolderIdentity(device: device, inode: root)
        identity = ByteString(words[2])
        self.size = size
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    fileprivate var words: String {
        "\(folder.device) \(folder.inode) \(identity) \(size) \(seconds).\(nanoseconds)"
    }

    func isUnchanged(since other: PictureStamp) -> Bool {
        (size, seconds, nanoseconds) == (other.size, other.seconds, other.nanoseconds)
    }

    /// Whether an entry of a folder is this file with this content, as far as its attributes show it. The time of birth
    /// is not among them, and the device is that of the folder.
    package func matches(_ information: stat) -> Bool {
        information.isRegularFile
            && identity.hasPrefix("\(information.st_ino)-") && information.length == size
            && information.st_mtim.tv_sec == seconds && information.st_mtim.tv_nsec == nanoseconds
    }
}

/// A picture of a hot folder that belongs to a batch: a line of the ledger and of the batch's record.
package struct TakenPicture: Sendable, Equatable {
    /// From the hot folder.
    package var path: RelativePath
    package var stamp: PictureStamp
    /// In hexadecimal.
    package var sha256: ByteString
    /// The name of its batch in the inbox.
    package var batch: ByteString
    package var source: ByteString

    package init(
        path: RelativePath, stamp: PictureStamp, sha256: String, batch: String, source: String
    ) {
        self.path = path
        self.stamp = stamp
        self.sha256 = ByteString(sha256)
        self.batch = ByteString(batch)
        self.source = ByteString(source)
    }

    var copyName: String {
        let parts = Array(source.utf8).split(separator: UInt8(ascii: "/"))
        return String(decoding: parts.last ?? [], as: UTF8.self)
    }

    /// Words that are separated by single spaces.
    var line: String {
        [
            stamp.words, sha256.string, RelativePath.word(batch.utf8),
            RelativePath.word(source.utf8),
            path.word,
        ].joined(separator: " ")
    }

    init?(line words: ArraySlice<Substring>) {
        guard words.count == 9, let stamp = PictureStamp(words.prefix(5)) else { return nil }
        let rest = Array(words.dropFirst(5))
        guard rest[0].utf8.count == 64,
            let batch = RelativePath.bytes(ofWord: rest[1]),
            let source = RelativePath.bytes(ofWord: rest[2]),
            let path = RelativePath(word: rest[3])
        else { return nil }
        self.path = path
        self.stamp = stamp
        sha256 = ByteString(rest[0])
        self.batch = ByteString(decoding: batch)
        self.source = ByteString(decoding: source)
    }
}
