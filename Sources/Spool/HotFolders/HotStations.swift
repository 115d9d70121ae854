import DarkroomAnswer
import DarkroomCore
import SystemPackage

/// The folders of the spool that belong to hot folders: `hot/KEY`, which only the daemon can enter.
package struct HotStations {
    private static let name: FileName = "hot"

    private let spool: Spool

    package init(_ spool: Spool) { self.spool = spool }

    /// The name of the station of a hot folder: the name of the folder, for people, and a digest of its path.
    package static func key(_ path: String) -> FileName {
        let digest = SHA256Digest.word(of: ByteString(path))
        return FileName("\(shortName(path))-\(digest.digits(width: 16, radix: 16))")
    }

    /// The name of a folder, of which nothing is left but letters, digits, hyphens and underscores of ASCII.
    package static func shortName(_ path: String) -> String {
        let last = path.utf8.split(separator: UInt8(ascii: "/")).last ?? []
        let plain = last.prefix(40).map { byte -> UInt8 in
            let isPlain = byte.isLetterOrDigit || byte == UInt8(ascii: "-")
            return isPlain ? byte : UInt8(ascii: "_")
        }
        return plain.isEmpty ? "root" : String(decoding: plain, as: UTF8.self)
    }

    /// Opens the station of a hot folder, and creates it if it is missing.
    package func open(_ path: String) throws(FileError) -> Directory {
        try spool.root.folder(Self.name, mode: 0o700).folder(Self.key(path), mode: 0o700)
    }

    /// The folder of all stations; nil if there are no hot folders.
    private func all() throws(FileError) -> Directory? {
        return try ignoringMissing(Directory(Self.name, in: spool.root))
    }

    /// Whether a submitted folder is a batch of a hot folder.
    func hasBatch(named name: FileName) throws(FileError) -> Bool {
        try station(ofBatch: name) != nil
    }

    /// The record of the batch of this name, and the name of its station; nil if it is not one of a hot folder.
    func batch(named name: FileName) throws(FileError) -> (HotBatch, station: FileName)? {
        // The station may just have removed it.
        guard let station = try station(ofBatch: name),
            let batch = try ifExists({ () throws(FileError) in try HotBatch(name, in: station) })
        else { return nil }
        let last = station.path.utf8.split(separator: UInt8(ascii: "/")).last ?? []
        return (batch, FileName(bytes: last))
    }

    private func station(ofBatch name: FileName) throws(FileError) -> Directory? {
        return try ifExists { () throws(FileError) in
            guard let stations = try all() else { return nil }
            for entry in try stations.names() {
                guard try stations.information(of: entry)?.isFolder == true else { continue }
                let station = try Directory(entry, in: stations)
                if try HotBatch.isTaken(name, in: station) { return station }
            }
            return nil
        }
    }

    /// Moves batches into the inbox that a daemon has taken and not submitted, also those of hot folders that are not
    /// configured any more: their pictures are taken.
    package func submitLeft(durably: Bool) throws(FileError) {
        guard let stations = try all() else { return }
        let inbox = try spool.openInbox()
        for name in try stations.names() {
            let station = try Directory(name, in: stations)
            for batch in try HotBatch.recover(in: station) {
                try batch.submit(from: station, to: inbox, durably: durably)
            }
        }
    }
}
