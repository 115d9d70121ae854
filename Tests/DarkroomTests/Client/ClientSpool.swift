import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import Foundation
import TestSupport

@testable import DarkroomClient

/// A spool folder with files as a daemon writes them, and no daemon.
final class ClientSpool: Sendable {
    let scratch: ScratchDirectory
    /// 2026-11-23 00:00:00 UTC.
    static let now = Date(timeIntervalSince1970: 1_795_392_000)

    init() throws {
        scratch = try ScratchDirectory()
        for name in ["inbox", "outbox", "tmp"] {
            try FileManager.default.makeFolder(at: scratch.url.appending(path: name))
        }
    }

    var path: String { scratch.path }
    func open() throws -> SpoolFolder { try SpoolFolder(path: path) }

    func list(_ selection: BatchList.Selection = .init(all: true)) throws -> BatchList {
        try BatchList(of: open(), selection, now: Self.now)
    }

    func details(
        of id: String, _ images: BatchDetails.Images = .firstFailed
    ) throws -> BatchDetails {
        try BatchDetails(of: id, in: open(), images: images, now: Self.now)
    }

    /// A timestamp so many seconds before `now`.
    static func time(_ seconds: Double) -> String {
        Clock.timestamp(now.addingTimeInterval(-seconds))
    }

    static func status(
        _ id: String, _ state: BatchState, images: [ImageStatus] = [],
        errors: [ManifestProblem]? = nil,
        received: Double = 600, started: Double? = nil, finished: Double? = nil, uid: UInt32 = 0
    ) -> Status {
        Status(
            id: id,
            manifest: .init(
                name: "\(id).yaml", file: "\(id).yaml", sha256: String(repeating: "0", count: 64),
                bytes: 1234, uid: uid),
            state: state,
            times: .init(
                received: time(received), started: started.map(time), finished: finished.map(time)),
            counts: .init(of: images), errors: errors, images: images)
    }

    static func image(
        _ name: String, _ state: ImageState, _ error: Failure? = nil
    ) -> ImageStatus {
        var image = ImageStatus(
            name: name, source: "https://example.org/\(name)", state: state, attempts: 1)
        image.error = error
        image.milliseconds.filtering = 40
        if state == .filtered {
            image.output = .init(
                file: "\(name).png", format: .png, sha256: String(repeating: "0", count: 64),
                bytes: 2048,
                width: 80, height: 64, depth: 8, channels: 3)
        }
        return image
    }

    static func progress(
        _ id: String, _ state: BatchState = .processing, done: Int = 0, failed: Int = 0,
        warned: Int? = nil, of total: Int,
        rate: Double? = nil, left: Double? = nil, waiting: Status.Waiting? = nil
    ) -> BatchProgress {
        var batch = BatchProgress(toldBy: status(id, state, started: 300))
        batch.counts.total = total
        batch.counts.filtered = done
        batch.counts.failed = failed
        batch.counts.warnings = warned
        batch.counts.new = total - done - failed
        batch.imagesPerSecond = rate
        batch.bytesPerSecond = rate.map { $0 * 1e6 }
        batch.secondsLeft = left
        batch.waiting = waiting
        return batch
    }

    static func waiting(_ code: String, _ message: String, since: Double = 60) -> Status.Waiting {
        .init(code: code, message: message, since: time(since))
    }

    func write(_ status: Status) throws {
        try write(status.encoded(), "outbox/\(status.id)/status.json")
    }

    func write(_ batch: BatchProgress) throws {
        try write(Array(try JSONEncoder().encode(batch)), "outbox/\(batch.id)/progress.json")
    }

    /// Replaces the file as a whole, as the daemon does.
    func write(_ bytes: [UInt8], _ file: String) throws {
        let url = scratch.url.appending(path: file)
        try FileManager.default.makeFolder(at: url.deletingLastPathComponent())
        let staged = url.deletingLastPathComponent().appending(path: ".new")
        try Data(bytes).write(to: staged)
        guard rename(staged.path, url.path) == 0 else {
            throw POSIXError(.init(rawValue: errno) ?? .EIO)
        }
    }

    /// Writes a status or a progress file of a batch, so many seconds ago.
    func writeStatus(
        _ id: String, identity: String?, _ state: BatchState = .pending, retries: Int? = nil,
        age: Double = 0
    ) throws {
        var status = Self.status(id, state)
        status.manifest.identity = identity
        status.retries = retries
        try write(status)
        try backdate("outbox/\(id)/status.json", by: age)
    }

    func writeProgress(
        _ id: String, identity: String?, _ state: BatchState = .pending, retries: Int? = nil,
        age: Double = 0
    ) throws {
        var batch = Self.progress(id, state, of: 2)
        batch.identity = identity
        batch.retries = retries
        try write(batch)
        try backdate("outbox/\(id)/progress.json", by: age)
    }

    func names(_ folder: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(path)/\(folder)").sorted()
    }

    /// Has the file seem older than those that are written later.
    func backdate(_ file: String, by seconds: Double = 60) throws {
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSinceNow: -seconds)],
            ofItemAtPath: "\(path)/\(file)")
    }

    /// `queue.json`.
    func writeQueue(
        _ state: QueueReport.State, written: Double = 1, warnings: Int = 0,
        waiting: Status.Waiting? = nil,
        unresumed: [QueueReport.Unresumed] = [], results: QueueReport.Results? = nil
    ) throws {
        var text = """
            {"schemaVersion": 1, "written": "\(Self.time(written))", "state": "\(state.rawValue)",
            "daemon": {"version": "9.9", "process": \(getpid()), "started": "\(Self.time(3600))", "uid": 0},
            "limits": {"manifestBytes": 1, "images": 1, "filters": 1, "defaultFilters": "[]", "sourceRoots": [],
            "readableRoots": [], "sourceBytes": 1,
            "downloads": {"allowNetworks": [], "allowHosts": [], "denyHosts": [], "redirects": 5, "connectTimeout": 5,
            "timeout": 300, "stallTime": 30, "stallRate": 1024, "maxHeaderBytes": 65536, "hasHeaders": false},
            "pictures": {"pixels": 1000000, "memory": 1000000000, "cores": 2}},
            "counts": {"processing": 2, "pending": 5, "held": 1},
            "images": {"total": 400, "new": 380, "downloading": 4, "downloaded": 1, "filtering": 2, "filtered": 12,
            "failed": 1, "cancelled": 0, "warnings": \(warnings)},
            "imagesPerSecond": 1.25, "bytesPerSecond": 3500000, "batches": []
            """
        func add(_ key: String, _ value: (some Encodable)?) throws {
            guard let value else { return }
            text +=
                ", \"\(key)\": \(String(decoding: try JSONEncoder().encode(value), as: UTF8.self))"
        }
        try add("waiting", waiting)
        try add("results", results)
        try add("unresumed", unresumed.isEmpty ? nil : unresumed)
        try write(Array((text + "}").utf8), "queue.json")
    }

    /// Locks the spool as a daemon does, as long as the result lives.
    func lock() throws -> Lock { try Lock(path + "/lock") }

    final class Lock: Sendable {
        private let number: CInt

        init(_ path: String) throws {
            number = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
            guard number >= 0, flock(number, LOCK_EX | LOCK_NB) == 0 else {
                throw POSIXError(.init(rawValue: errno) ?? .EIO)
            }
        }

        deinit { close(number) }
    }
}

extension Terminal {
    /// Standard output that is a file or a pipe.
    static let pipe = Terminal(isTerminal: false, canRedraw: false)

    /// A terminal of this size without colours.
    static func screen(_ width: Int, _ height: Int = 24) -> Terminal {
        Terminal(isTerminal: true, canRedraw: true, width: width, height: height)
    }
}
