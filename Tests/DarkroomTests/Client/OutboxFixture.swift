import Foundation
import TestSupport

@testable import DarkroomAnswer
@testable import DarkroomClient

/// A spool on the disk, and a daemon's answers that a test writes into it.
struct OutboxFixture {
    private let scratch: ScratchDirectory
    let spool: SpoolFolder
    var path: String { scratch.path }

    init() throws {
        scratch = try ScratchDirectory()
        for name in ["tmp", "inbox", "outbox"] {
            try FileManager.default.makeFolder(at: scratch.url.appending(path: name))
        }
        spool = try SpoolFolder(path: scratch.path)
    }

    func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(path)/\(folder)").sorted()
    }

    private func folder(_ id: String) throws -> URL {
        let url = scratch.url.appending(path: "outbox/\(id)")
        try FileManager.default.makeFolder(at: url)
        return url
    }

    /// - Parameter age: how long ago the file was written, in seconds.
    func writeStatus(
        _ id: String, identity: String?, _ state: BatchState = .pending, retries: Int? = nil,
        commands: [ControlRecord]? = nil, age: Double = 0
    ) throws {
        let status = Status(
            id: id,
            manifest: .init(
                name: "\(id).json", file: "manifest.json", sha256: "00", bytes: 1, uid: geteuid(),
                identity: identity), state: state, times: .init(received: "r"),
            counts: .init(new: 2), commands: commands, retries: retries, images: [])
        try write(Data(status.encoded()), to: "status.json", of: id, age)
    }

    func writeProgress(
        _ id: String, identity: String?, _ state: BatchState = .pending, retries: Int? = nil,
        commands: [ControlRecord]? = nil, age: Double = 0
    ) throws {
        let progress = BatchProgress(
            id: id, identity: identity, uid: geteuid(), state: state, priority: .normal,
            counts: .init(new: 2), times: .init(received: "r"), retries: retries, outputBytes: 0,
            commands: commands, written: "w")
        try write(try JSONEncoder().encode(progress), to: "progress.json", of: id, age)
    }

    private func write(_ data: Data, to name: String, of id: String, _ age: Double) throws {
        let file = try folder(id).appending(path: name)
        try data.write(to: file, options: .atomic)
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -age)], ofItemAtPath: file.path)
    }
}
