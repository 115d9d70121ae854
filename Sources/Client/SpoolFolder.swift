import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Foundation
import SystemPackage

/// A spool as its users see it: its folders and files, without its lock and without any right of the daemon.
package struct SpoolFolder: Sendable {
    package let root: Directory
    package var path: String { root.path }

    /// - Throws: if there is no folder at the path, or no spool in it.
    package init(path: String) throws(ClientError) {
        do throws(FileError) {
            root = try Directory(path: path)
            guard try root.exists("outbox") else {
                throw FileError("find its outbox", path, .noSuchFileOrDirectory)
            }
        } catch {
            throw ClientError(
                error,
                remedy:
                    "Name the folder with --spool or DARKROOM_SPOOL. darkroomd creates it when it starts."
            )
        }
    }

    package func inbox() throws(ClientError) -> Directory { try folder("inbox") }
    package func outbox() throws(ClientError) -> Directory { try folder("outbox") }

    private func folder(_ name: FileName) throws(ClientError) -> Directory {
        do {
            return try Directory(name, in: root)
        } catch {
            throw ClientError(error)
        }
    }

    /// The IDs of all batches that have an answer, in alphabetical order.
    package func batchIDs() throws(ClientError) -> [String] {
        let outbox = try outbox()
        do {
            return try outbox.names().filter { $0.bytes.first != UInt8(ascii: ".") }.map(\.text)
                .sorted()
        } catch {
            throw ClientError(error)
        }
    }

    /// The progress of a batch; nil if there is no such batch.
    package func progress(of id: String) throws(ClientError) -> BatchProgress? {
        guard let folder = try folder(of: id) else { return nil }
        return try decode(BatchProgress.self, BatchProgress.fileName, in: folder)
    }

    /// What the daemon wrote last about itself; nil if no daemon has written yet.
    package func queue() throws(ClientError) -> QueueReport? {
        try decode(QueueReport.self, QueueReport.fileName, in: root)
    }

    /// In bytes. The reports on a full inbox and a full queue have less than a tenth of this.
    static let mostBytes = 16 << 20

    func decode<Value: Decodable>(
        _ type: Value.Type, _ name: FileName, in folder: Directory
    ) throws(ClientError) -> Value? {
        let bytes: [UInt8]
        do {
            bytes = try folder.read(name, upTo: Self.mostBytes)
        } catch {
            if error.errno == .noSuchFileOrDirectory { return nil }
            throw ClientError(error)
        }
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch {
            throw ClientError.unreadable(folder.path(of: name))
        }
    }
}
