import DarkroomAnswer
import DarkroomClient
import DarkroomCore
import Foundation
import TestSupport
import Testing

@testable import DarkroomManifest

/// `list` and `show` of spools without a daemon, compared whole.
struct ViewsTests {
    private static let failures = [
        ClientSpool.image("cat", .filtered),
        ClientSpool.image(
            "dog", .failed,
            Failure(code: "http-status", message: "it answered 503", isTransient: true)),
        ClientSpool.image(
            "owl", .failed, Failure(code: "png-crc", message: "the CRC of IDAT is wrong")),
    ]
    private static let problems = [
        ManifestProblem(
            code: "unknown-key", message: "the key is unknown", path: "images[0].nmae", line: 3,
            column: 5,
            suggestion: "name"),
        ManifestProblem(code: "no-images", message: "there are no images"),
    ]

    /// A spool with a batch in each state, some of them answered by an older version without progress.json.
    private static func filled() throws -> ClientSpool {
        let spool = try ClientSpool()
        try spool.write(
            ClientSpool.status(
                "failed", .completedWithErrors, images: failures, received: 90000, started: 89990,
                finished: 89930))
        try spool.write(
            ClientSpool.status("wrong", .rejected, errors: problems, received: 3700, finished: 3700)
        )
        try spool.write(
            ClientSpool.status(
                "fine", .completed, images: [ClientSpool.image("cat", .filtered)], received: 30,
                started: 20,
                finished: 10))
        var held = ClientSpool.progress("held", .held, of: 3)
        held.commands = [ControlRecord(.hold, time: ClientSpool.time(100), uid: 0)]
        held.times.received = ClientSpool.time(500)
        for batch in [
            ClientSpool.progress("holiday", done: 12, failed: 1, of: 40, rate: 2, left: 20), held,
        ] {
            try spool.write(ClientSpool.status(batch.id, batch.state))
            try spool.write(batch)
        }
        return spool
    }

    private static func list(
        _ spool: ClientSpool, _ selection: BatchList.Selection = .init(),
        on terminal: Terminal = .pipe
    ) throws -> String {
        try spool.list(selection).lines(on: terminal)
            .joined(separator: "\n")
    }

    @Test func listsUnfinishedBatches() throws {
        let spool = try Self.filled()
        #expect(
            try Self.list(spool) == """
                ID       STATE        DONE  FAILED  PRIORITY  USER    AGE  REASON
                holiday  processing  12/40       1  normal    root  10min  no daemon is running
                held     held          0/3       0  normal    root   8min  no daemon is running
                """)
        let lock = try spool.lock()
        #expect(
            try Self.list(spool) == """
                ID       STATE        DONE  FAILED  PRIORITY  USER    AGE  REASON
                holiday  processing  12/40       1  normal    root  10min  -
                held     held          0/3       0  normal    root   8min  held by root
                """)
        try spool.writeQueue(.paused)
        #expect(
            try Self.list(spool, on: .screen(60)) == """
                ID       STATE        DONE  FAILED  REASON
                holiday  processing  12/40       1  the daemon is paused
                held     held          0/3       0  held by root
                """)
        withExtendedLifetime(lock) {}
    }

    @Test func listsFinishedBatches() throws {
        let spool = try Self.filled()
        #expect(
            try Self.list(spool, .init(all: true)) == """
                ID       STATE                 DONE  FAILED  PRIORITY  USER    AGE  REASON
                failed   completedWithErrors    1/3       2  normal    root    25h  -
                wrong    rejected                 -       -  normal    root     1h  line 3, column 5, images[0].nmae: \
                the key is unknown
                holiday  processing           12/40       1  normal    root  10min  no daemon is running
                held     held                   0/3       0  normal    root   8min  no daemon is running
                fine     completed              1/1       0  normal    root    30s  -
                """)
        #expect(
            try Self.list(spool, .init(all: true), on: .screen(40)) == """
                ID       STATE        DONE  FAILED
                failed   withErrors    1/3       2
                wrong    rejected        -       -
                holiday  processing  12/40       1
                held     held          0/3       0
                fine     completed     1/1       0
                """)
    }

    @Test(arguments: [
        (BatchList.Selection(), ["holiday", "held"]),
        (.init(all: true), ["failed", "wrong", "holiday", "held", "fine"]),
        (.init(states: [.held]), ["held"]),
        (.init(states: [.completed, .rejected]), ["wrong", "fine"]),
        (.init(since: ClientSpool.now - 60), ["holiday", "held", "fine"]),
        (.init(all: true, since: ClientSpool.now - 4000), ["wrong", "holiday", "held", "fine"]),
        (.init(states: [.rejected], since: ClientSpool.now - 60), []),
    ])
    func selects(selection: BatchList.Selection, ids: [String]) throws {
        let spool = try Self.filled()
        #expect(
            try spool.list(selection).rows.map(\.batch.id)
                == ids)
    }

    /// The progress file of an ended batch is known by its first words, but not while the batch is being reopened.
    @Test func passesOverEndedBatches() throws {
        let spool = try ClientSpool()
        for state in BatchState.allCases {
            try spool.write(ClientSpool.status(state.rawValue, state))
            try spool.write(ClientSpool.progress(state.rawValue, state, of: 1))
        }
        try spool.write(ClientSpool.progress("retried", .completedWithErrors, of: 1))
        try spool.backdate("outbox/retried/progress.json")
        try spool.write(ClientSpool.status("retried", .pending))
        let list = try spool.list(.init())
        #expect(list.rows.map(\.batch.id) == ["held", "pending", "processing", "retried"])
        #expect(list.rows.map(\.batch.state) == [.held, .pending, .processing, .pending])
    }

    @Test func listsJSONLines() throws {
        let spool = try Self.filled()
        let lines = try spool.list(.init(states: [.held, .rejected]))
            .jsonLines
        #expect(lines.count == 3)
        let objects = try lines.map { try jsonObject($0.utf8) }
        try #require(objects.map { $0["type"] as? String } == ["batch", "batch", "summary"])
        #expect(objects.map { $0["id"] as? String } == ["wrong", "held", nil])
        #expect(objects[1]["user"] as? String == "root")
        #expect(objects[1]["age"] as? Double == 500)
        #expect(objects[1]["reason"] as? String == "no daemon is running")
        #expect(objects[2]["batches"] as? Int == 2)
        #expect(objects[2]["states"] as? [String: Int] == ["held": 1, "rejected": 1])
    }

    /// What is in the outbox and is not Darkroom's is not listed, and what cannot be read is reported.
    @Test func passesOverOtherFiles() throws {
        let spool = try Self.filled()
        try spool.write(Array("x".utf8), "outbox/notes.txt")
        try spool.write(Array("x".utf8), "outbox/mine/notes.txt")
        try spool.write(Array("{".utf8), "outbox/broken/status.json")
        try FileManager.default.createSymbolicLink(
            atPath: spool.path + "/outbox/link", withDestinationPath: spool.path + "/outbox/fine")
        // The status beside it says the same.
        try spool.write(Array("{".utf8), "outbox/fine/progress.json")
        let list = try spool.list()
        #expect(list.rows.map(\.batch.id) == ["failed", "wrong", "holiday", "held", "fine"])
        #expect(list.errors.map(\.code) == ["unreadable-file"])
    }

    // MARK: show

    private static func show(
        _ id: String, _ spool: ClientSpool, _ images: BatchDetails.Images = .firstFailed
    ) throws -> String {
        var details = try spool.details(of: id, images)
        details.zone = .gmt
        return try details.lines(on: .pipe).joined(separator: "\n")
            .replacing(spool.path, with: "SPOOL")
    }

    @Test func showsABatchInWork() throws {
        let spool = try Self.filled()
        try spool.writeQueue(.running)
        let lock = try spool.lock()
        #expect(
            try Self.show("holiday", spool) == """
                holiday: processing
                  images     12 of 40 done, 1 failed, 27 not begun
                  rate       2.0 images/s, 1.9 MiB/s
                  time left  about 20 s
                  manifest   holiday.yaml, 1.2 KiB, submitted by root
                  priority   normal
                  received   2026-11-22 23:50:00 (10min ago)
                  started    2026-11-22 23:55:00 (5min ago)
                  answer     SPOOL/outbox/holiday
                """)
        withExtendedLifetime(lock) {}
    }

    @Test func showsFailedImages() throws {
        let spool = try Self.filled()
        let head = """
            failed: completed with errors
              images    1 of 3 done, 2 failed
              manifest  failed.yaml, 1.2 KiB, submitted by root
              priority  normal
              received  2026-11-21 23:00:00 (25h ago)
              started   2026-11-21 23:00:10 (24h ago)
              finished  2026-11-21 23:01:10 (24h ago), after 1 min 10 s
              answer    SPOOL/outbox/failed, 2.0 KiB

            """
        let failures = """
            2 failed images:
              dog: it answered 503 [http-status]; a retry may help
              owl: the CRC of IDAT is wrong [png-crc]
            A retry may help 1 of them: darkroom retry failed
            """
        #expect(try Self.show("failed", spool) == head + failures)
        #expect(try Self.show("failed", spool, .failed) == head + failures)
        #expect(
            try Self.show("failed", spool, .all) == head + """
                IMAGE  STATE     PIXELS  BYTES  TIME  FILE
                cat    filtered   80x64   2048  40ms  cat.png
                dog    failed         -      -  40ms  -
                owl    failed         -      -  40ms  -

                """ + failures)
    }

    @Test func showsWarnings() throws {
        let spool = try ClientSpool()
        var cat = ClientSpool.image("cat", .filtered)
        cat.warnings = ["the end-of-image marker is missing", "3 bytes after the picture"]
        var status = ClientSpool.status(
            "odd", .completed, images: [cat, ClientSpool.image("dog", .filtered)], received: 30,
            started: 20, finished: 10)
        status.counts.warnings = 1
        try spool.write(status)
        let all = """
            1 image with warnings:
              cat: the end-of-image marker is missing
              cat: 3 bytes after the picture
            """
        let first = try Self.show("odd", spool)
        #expect(first.contains("\n  images    2 of 2 done, 1 with warnings\n"), "\(first)")
        #expect(first.hasSuffix("\nWarnings: darkroom show odd --warnings"), "\(first)")
        #expect(try Self.show("odd", spool, .warned).hasSuffix("\n" + all))
        #expect(try Self.show("odd", spool, .all).hasSuffix("\n" + all))
        #expect(!(try Self.show("odd", spool, .failed).contains("Warnings:")))
        #expect(
            try Self.list(spool, .init(all: true)).split(separator: "\n").last?.hasSuffix(
                "  30s  1 with warnings") == true)
    }

    /// Images made from each other, which no manifest has, are in no one's way.
    @Test func aCircleOfImagesEnds() throws {
        let spool = try ClientSpool()
        let images = [("cat", "dog"), ("dog", "cat"), ("owl", "cat")].map { name, from in
            var image = ClientSpool.image(name, .failed, Failure(code: "c", message: "m"))
            (image.source, image.from) = (nil, from)
            return image
        }
        var status = ClientSpool.status("round", .completedWithErrors, images: images, finished: 1)
        status.manifest.isFolder = true
        try spool.write(status)
        let advice = try Self.show("round", spool).split(separator: "\n").last
        #expect(advice?.hasPrefix("The pictures that came with this batch are removed: ") == true)
    }

    /// A retry alone does not bring a program, and a setting neither.
    @Test func saysWhatAMissingProgramNeeds() throws {
        let spool = try ClientSpool()
        let image = ClientSpool.image("a", .failed, Failure(code: "codec-missing", message: "x"))
        try spool.write(
            ClientSpool.status("b", .completedWithErrors, images: [image], finished: 1))
        let advice = try Self.show("b", spool).split(separator: "\n").last
        #expect(advice == "After the missing package is installed: darkroom retry b")
    }

    @Test func limitsFailedImagesUnlessAsked() throws {
        let spool = try ClientSpool()
        let images = (0..<12).map {
            ClientSpool.image(
                "i\($0)", .failed, Failure(code: "timeout", message: "x", isTransient: true))
        }
        try spool.write(
            ClientSpool.status("big job", .completedWithErrors, images: images, finished: 1))
        let lines = try Self.show("big job", spool).split(separator: "\n")
        #expect(
            lines.suffix(3) == [
                "  i9: x [timeout]; a retry may help",
                "  and 2 more: darkroom show 'big job' --failed",
                "A retry may help: darkroom retry 'big job'",
            ])
        #expect(try Self.show("big job", spool, .failed).contains("  i11: x [timeout]"))
    }

    /// The images of a large batch come one by one from the file, those of a status in another form from memory.
    @Test(arguments: [BatchDetails.Images.firstFailed, .failed, .warned, .all])
    func showsTheSameHoweverTheStatusIsWritten(images: BatchDetails.Images) throws {
        let spool = try ClientSpool()
        let all = (0..<9000).map { number in
            let isFailed = number.isMultiple(of: 7)
            var image = ClientSpool.image(
                "i\(number) \"state\" : \"failed\"", isFailed ? .failed : .filtered,
                isFailed ? Failure(code: "timeout", message: "\"warnings\" : [") : nil)
            if number.isMultiple(of: 5) { image.warnings = ["odd"] }
            if number.isMultiple(of: 3) {
                image.metadata = ["copyright": "kept", "GPS": "dropped"]
            }
            return image
        }
        var status = ClientSpool.status("many", .completedWithErrors, images: all, finished: 1)
        status.counts.warnings = nil
        try spool.write(status)
        let own = try Self.show("many", spool, images)
        let details = try spool.details(of: "many", images)
        let json = try details.json()
        var groups: [[String]] = []
        try details.lines(on: .pipe) { groups.append($0) }
        #expect(groups[0].first == "many: completed with errors")
        #expect(groups.allSatisfy { $0.count <= 4200 })
        #expect(
            own.contains("\n  metadata  copyright kept in 3000 images, GPS dropped in 3000 images"))

        let path = spool.path + "/outbox/many/status.json"
        let object = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: path)))
        try spool.write(
            Array(try JSONSerialization.data(withJSONObject: object)), "outbox/many/status.json")
        #expect(try Self.show("many", spool, images) == own)
        let other = try spool.details(of: "many", images)
        #expect(try other.json() == json)
        let count = [.firstFailed: 1286, .failed: 1286, .warned: 1542, .all: 9000][images]
        #expect(try (jsonObject(json.utf8)["images"] as? [Any])?.count == count)
    }

    @Test func showsTheProblemsOfARejectedManifest() throws {
        let spool = try Self.filled()
        #expect(
            try Self.show("wrong", spool) == """
                wrong: rejected
                  manifest  wrong.yaml, 1.2 KiB, submitted by root
                  priority  normal
                  received  2026-11-22 22:58:20 (1h ago)
                  finished  2026-11-22 22:58:20 (1h ago)
                  answer    SPOOL/outbox/wrong
                2 problems of the manifest:
                  wrong.yaml:3:5: images[0].nmae: the key is unknown; did you mean ‘name’? [unknown-key]
                  wrong.yaml: there are no images [no-images]
                """)
    }

    @Test func showsJSON() throws {
        let spool = try Self.filled()
        let text = try spool.details(of: "failed").json()
        let object = try jsonObject(text.utf8)
        #expect(object["state"] as? String == "completedWithErrors")
        #expect(object["daemon"] as? String == "stopped")
        #expect(object["outputBytes"] as? Int == 2048)
        let images = try #require(object["images"] as? [[String: Any]])
        #expect(images.map { $0["name"] as? String } == ["dog", "owl"])
    }

    @Test(arguments: [
        ("holidya", "Did you mean holiday?"), ("holiday.yaml", "Did you mean holiday?"),
        ("/srv/outbox/holiday/", "Did you mean holiday?"),
        ("zzzzzzzz", "darkroom list --all shows the IDs of all batches."),
        ("new", "Its manifest new.yaml is still in the inbox: no daemon works on the spool SPOOL"),
        ("", "darkroom list --all shows the IDs of all batches."),
        ("../inbox", "darkroom list --all shows the IDs of all batches."),
    ])
    func knowsNoSuchBatch(id: String, remedy: String) throws {
        let spool = try Self.filled()
        try spool.write([], "inbox/new.yaml")
        let error = #expect(throws: ClientError.self) {
            try spool.details(of: id)
        }
        #expect(
            error
                == ClientError(
                    .missing, code: "no-such-batch", "\(id): there is no such batch",
                    remedy: remedy.replacing("SPOOL", with: spool.path)))
    }

    /// The owner of a spool may write what they like, and nobody's command ends by it.
    @Test func bearsNumbersOfAnySize() throws {
        let spool = try ClientSpool()
        let images = ["a", "b"].map { name in
            var image = ClientSpool.image(name, .filtered)
            image.output?.bytes = .max
            image.milliseconds.downloading = .max
            image.milliseconds.filtering = .max
            return image
        }
        var status = ClientSpool.status("huge", .processing, images: images)
        status.counts.total = 1 << 62
        status.counts.filtered = .max
        status.counts.failed = .max
        try spool.write(status)
        let list = try spool.list()
        #expect(list.rows.map(\.batch.id) == ["huge"] && !list.jsonLines.isEmpty)
        let batch = try #require(try spool.open().summary(of: "huge"))
        for mode in [ProgressMode.tty, .plain, .json] {
            var shown = ""
            ProgressView(mode, on: .screen(80)) { shown += $0 }
                .show([batch], DaemonState(name: .running), at: 0)
            #expect(!shown.isEmpty)
        }
        #expect(batch.counts.finished == .max)
        #expect(BatchProgress(toldBy: status).outputBytes == .max)
        let details = try spool.details(of: "huge", .all)
        #expect(try !details.lines(on: .pipe).isEmpty)
    }

    /// A folder that somebody has put there, and an answer that somebody has damaged.
    @Test func tellsAFolderFromABatch() throws {
        let spool = try Self.filled()
        try spool.write([], "outbox/mine/notes.txt")
        #expect(
            throws: ClientError(
                .missing, code: "no-such-batch",
                "\(spool.path)/outbox/mine: it is not a batch, because it has no status.json",
                remedy: "If nobody needs the folder, remove it by hand.")
        ) { try spool.details(of: "mine") }
        try spool.write(Array("{".utf8), "outbox/cut/status.json")
        let list = try spool.list()
        #expect(list.errors.map(\.code) == ["unreadable-file"])
        #expect(!list.rows.contains { $0.batch.id == "cut" || $0.batch.id == "mine" })
    }
}
