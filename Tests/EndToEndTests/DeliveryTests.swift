import DarkroomAnswer
import DarkroomCore
import Foundation
import Glibc
import TestSupport
import Testing

/// Outputs that are placed in other folders, too.
@Suite(.fewAtATime) struct DeliveryTests {
    private let fixture: DaemonFixture
    private let root: ScratchDirectory

    init() throws {
        fixture = try DaemonFixture(pictures: 3)
        root = try ScratchDirectory()
        try root.makeFolder("web")
    }

    private var spool: SpoolFixture { fixture.spool }
    private var web: String { "\(root.path)/web" }

    private func run(
        _ settings: [String: String] = [:], fault: FaultPoint? = nil
    ) async throws -> DaemonProcess {
        try await fixture.run(
            ["deliver.roots": "[\(root.path)]"].merging(settings) { $1 },
            environment: fault?.environment ?? [:])
    }

    private func drop(
        _ id: String, to folder: String? = nil, ifExists: String? = nil, images: [String] = ["a"]
    ) throws {
        var deliver: [String: String] = ["to": folder ?? web]
        deliver["ifExists"] = ifExists
        try fixture.drop(
            id,
            [
                "deliver": deliver, "filters": ["mono"],
                "images": images.map { ["name": $0, "source": fixture.url("0.png")] },
            ])
    }

    private func put(_ name: String, _ text: String = "somebody else's") throws {
        try text.write(toFile: "\(web)/\(name)", atomically: false, encoding: .utf8)
    }

    private func list(_ folder: String? = nil) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder ?? web)) ?? []).sorted()
    }

    private func content(_ path: String) -> Data? { FileManager.default.contents(atPath: path) }

    private func output(_ id: String, _ name: String = "a.png") throws -> Data {
        Data(try spool.bytes("outbox/\(id)/\(name)"))
    }

    private func waiting(_ id: String, _ daemon: DaemonProcess) async throws -> Status.Waiting {
        let status = try await spool.waitForStatus(of: id, daemon, "waiting") {
            $0.waiting?.code == "delivery"
        }
        return try #require(status.waiting)
    }

    @Test func deliversEachOutput() async throws {
        let daemon = try await run()
        try drop("b", images: ["a", "b c", "-é"])
        let status = try await fixture.complete("b", daemon)
        #expect(list() == ["-é.png", "a.png", "b c.png"].sorted())
        for image in status.images {
            let file = try #require(image.output?.file)
            #expect(image.deliveredTo == "\(web)/\(file)")
            #expect(content("\(web)/\(file)") == (try output("b", file)))
        }
        // Without `deliver`, nothing is delivered.
        try fixture.drop("c", images: [("a", fixture.url("0.png"))])
        #expect(try await fixture.complete("c", daemon).images[0].deliveredTo == nil)
        #expect(list().count == 3)
        #expect(try await daemon.stop() == .exited(0))
    }

    /// Folders of `output.name` are made in the folder, at each step of a kill.
    @Test(arguments: kills + [.outputFolderMade])
    func deliversIntoFolders(point: FaultPoint) async throws {
        #expect(chmod(web, 0o755) == 0)
        func drop() throws {
            try fixture.drop(
                "b",
                [
                    "deliver": web, "filters": ["mono"], "output": ["name": "2026/{name}.{ext}"],
                    "images": ["a", "b"].map { ["name": $0, "source": fixture.url("0.png")] },
                ])
        }
        let first = try await run(fault: point)
        try drop()
        #expect(try await first.waitForEnding() == .killed(signal: SIGKILL))
        let second = try await run()
        let status = try await fixture.complete("b", second)
        #expect(
            status.images.map(\.deliveredTo?.value) == ["a", "b"].map { "\(web)/2026/\($0).png" })
        #expect(list("\(web)/2026") == ["a.png", "b.png"])
        #expect(content("\(web)/2026/a.png") == (try output("b", "2026/a.png")))
        var made = stat()
        #expect(stat("\(web)/2026", &made) == 0 && made.st_mode & 0o777 == 0o755)
        #expect(stat("\(web)/2026/a.png", &made) == 0 && made.st_mode & 0o777 == 0o644)
        #expect(try await second.stop() == .exited(0))
    }

    struct Taken: Sendable, CustomTestStringConvertible {
        let ifExists: String?
        var isFolder = false
        /// The name that the output gets; nil if the image fails.
        let name: String?
        let error: String?
        var testDescription: String { "\(ifExists ?? "-") \(isFolder)" }
    }

    @Test(arguments: [
        Taken(ifExists: nil, name: "a-3.png", error: nil),
        Taken(ifExists: "number", name: "a-3.png", error: nil),
        Taken(ifExists: "replace", name: "a.png", error: nil),
        Taken(ifExists: "fail", name: nil, error: "delivery-exists"),
        Taken(ifExists: "number", isFolder: true, name: "a-3.png", error: nil),
        Taken(ifExists: "replace", isFolder: true, name: nil, error: "file-error"),
        Taken(ifExists: "fail", isFolder: true, name: nil, error: "delivery-exists"),
    ]) func aNameIsTaken(_ taken: Taken) async throws {
        if taken.isFolder {
            try FileManager.default.makeFolder(atPath: "\(web)/a.png")
        } else {
            try put("a.png")
        }
        try put("a-2.png")
        let daemon = try await run()
        try drop("b", ifExists: taken.ifExists)
        let status = try await spool.finish("b", daemon)
        let image = status.images[0]
        #expect(image.deliveredTo?.value == taken.name.map { "\(web)/\($0)" })
        #expect(image.error?.code == taken.error)
        #expect(image.state == (taken.error == nil ? .filtered : .failed))
        let names: Set<String> = ["a.png", "a-2.png", taken.name ?? "a.png"]
        #expect(list() == names.sorted())
        if let name = taken.name { #expect(content("\(web)/\(name)") == (try output("b"))) }
        // A failed image leaves nothing in the answer, and can be repeated.
        if taken.name == nil {
            #expect(!spool.exists("outbox/b/a.png"))
            try FileManager.default.removeItem(atPath: "\(web)/a.png")
            try spool.drop("b.retry", "")
            let again = try await spool.waitForStatus(of: "b", daemon, "done") {
                $0.state == .completed
            }
            #expect(again.images[0].deliveredTo == "\(web)/a.png")
        }
        #expect(try await daemon.stop() == .exited(0))
    }

    static let kills = FaultPoint.allCases.filter { $0.rawValue.hasPrefix("delivery-") }
    static let steps: [FaultPoint] =
        kills + [.filterWritten, .publishOutputsSynced, .publishJournalSynced, .publishOutputMoved]

    /// At each step: one file, also if somebody takes it away at once, and no number or failure because of the own file.
    @Test(arguments: steps, ["number", "replace", "fail"])
    func aKillDeliversOnce(point: FaultPoint, ifExists: String) async throws {
        let first = try await run(fault: point)
        try drop("b", ifExists: ifExists)
        #expect(try await first.waitForEnding() == .killed(signal: SIGKILL))
        var taken: [UInt8]?
        // A consumer takes the file away.
        if point == .deliverySynced {
            #expect(list().filter { !$0.hasPrefix(".") } == ["a.png"])
            taken = try Array(Data(contentsOf: URL(filePath: "\(web)/a.png")))
            try FileManager.default.removeItem(atPath: "\(web)/a.png")
        }
        let second = try await run()
        let status = try await fixture.complete("b", second)
        #expect(status.images[0].deliveredTo == "\(web)/a.png")
        #expect((status.images[0].warnings != nil) == (taken != nil))
        #expect(list() == (taken == nil ? ["a.png"] : []))
        let delivered = try taken ?? Array(Data(contentsOf: URL(filePath: "\(web)/a.png")))
        #expect(try delivered == spool.bytes("outbox/b/a.png"))
        #expect(try await second.stop() == .exited(0))
    }

    enum Loss: CaseIterable { case copy, folder, disk }

    /// The hidden copy is lost after its promise: the output is delivered again, or the status tells.
    @Test(
        .enabled(if: SmallDisk.isAvailable, "only root can mount another file system"),
        arguments: Loss.allCases) func aLostCopyIsNotSilent(loss: Loss) async throws
    {
        func mountDisk() { #expect(mount("tmpfs", web, "tmpfs", 0, "size=1m") == 0) }
        if loss == .disk { mountDisk() }
        defer { if loss == .disk { umount2(web, CInt(MNT_DETACH)) } }
        let first = try await run(fault: .deliveryPromised)
        try drop("b")
        #expect(try await first.waitForEnding() == .killed(signal: SIGKILL))
        let copy = try #require(list().first)
        #expect(list().count == 1 && copy.hasPrefix(".darkroom-"))
        switch loss {
        case .copy: try FileManager.default.removeItem(atPath: "\(web)/\(copy)")
        case .folder:
            #expect(rename(web, "\(web)-old") == 0)
            try FileManager.default.makeFolder(atPath: web)
        case .disk:
            // The roots of both have the same inode.
            #expect(umount(web) == 0)
            mountDisk()
        }
        let second = try await run()
        let image = try await fixture.complete("b", second).images[0]
        #expect(image.deliveredTo == "\(web)/a.png")
        #expect(list() == (loss == .copy ? [] : ["a.png"]))
        #expect(
            image.warnings?.contains { $0.contains("interrupted while it delivered") }
                == (loss == .copy ? true : nil))
        #expect(try await second.stop() == .exited(0))
    }

    /// An output that cannot get its name keeps neither the others of its batch nor other batches waiting, and no other
    /// status names it.
    @Test(.enabled(if: SmallDisk.isAvailable, "only root can mount"))
    func anOutputThatIsRefusedWaitsAlone() async throws {
        try put("a.png")
        try put("mounted")
        // Nobody can replace the place of a mount.
        #expect(mount("\(web)/mounted", "\(web)/a.png", nil, UInt(MS_BIND), nil) == 0)
        defer { umount2("\(web)/a.png", CInt(MNT_DETACH)) }
        var daemon = try await run()
        try drop("b", ifExists: "replace", images: ["a", "b"])
        let reason = try await waiting("b", daemon)
        #expect(reason.message.contains("a waits to be delivered: "))
        #expect(reason.message.contains("to \(web)/a.png: Device or resource busy"))
        try await daemon.says("\(web): some outputs cannot be delivered there")
        try drop("c", ifExists: "replace", images: ["c"])
        _ = try await fixture.complete("c", daemon)
        _ = try await spool.waitForStatus(of: "b", daemon, "the other one") {
            $0.images[1].deliveredTo != nil
        }
        #expect(list().filter { !$0.hasPrefix(".") } == ["a.png", "b.png", "c.png", "mounted"])
        #expect(try await daemon.stop() == .exited(0))
        daemon = try await run()
        _ = try await waiting("b", daemon)
        #expect(umount2("\(web)/a.png", CInt(MNT_DETACH)) == 0)
        _ = try await fixture.complete("b", daemon)
        #expect(list() == ["a.png", "b.png", "c.png", "mounted"])
        #expect(content("\(web)/a.png") == (try output("b")))
        #expect(try await daemon.stop() == .exited(0))
    }

    /// A folder that is away keeps its images waiting, and no others; a restart keeps what was filtered.
    @Test func aFolderIsAwayAndComesBack() async throws {
        try FileManager.default.removeItem(atPath: web)
        var daemon = try await run()
        try drop("b", images: ["a", "b", "c"])
        let reason = try await waiting("b", daemon)
        #expect(reason.message.contains("\(web): cannot open: No such file or directory"))
        #expect(reason.message.contains(" to be delivered: "))
        try await daemon.says("\(web): outputs cannot be delivered there")
        // Others go on.
        try await fixture.complete("c", images: [("a", fixture.url("0.png"))], daemon)
        _ = try await spool.waitForStatus(of: "b", daemon, "all to wait") {
            $0.counts.filtering == 3
        }
        #expect(!spool.exists("outbox/b/a.png"))
        #expect(try await daemon.stop() == .exited(0))

        daemon = try await run()
        _ = try await waiting("b", daemon)
        try FileManager.default.makeFolder(atPath: web)
        let status = try await fixture.complete("b", daemon)
        #expect(status.waiting == nil)
        #expect(list() == ["a.png", "b.png", "c.png"])
        #expect(status.images.allSatisfy { $0.attempts == 1 })
        try await daemon.says("outputs can be delivered there again")
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func aCancelEndsTheWait() async throws {
        try FileManager.default.removeItem(atPath: web)
        let daemon = try await run()
        try drop("b")
        _ = try await waiting("b", daemon)
        try spool.drop("b.cancel", "")
        let status = try await spool.finish("b", daemon)
        #expect(status.state == .cancelled && status.images[0].state == .cancelled)
        #expect(!spool.exists("outbox/b/a.png"))
        try FileManager.default.makeFolder(atPath: web)
        try drop("c")
        _ = try await fixture.complete("c", daemon)
        #expect(list() == ["a.png"])
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test(.enabled(if: SmallDisk.isAvailable, "only root can mount a small file system"))
    func aFullDiskGetsSpace() async throws {
        let disk = try SmallDisk(kilobytes: 256)
        try disk.fill(butFor: 0)
        let daemon = try await run(["deliver.roots": "[\(disk.root.path)]"])
        try drop("b", to: disk.root.path, images: ["a", "b"])
        let reason = try await waiting("b", daemon)
        #expect(reason.message.contains("No space left on device"))
        // The spool has space.
        try await fixture.complete("c", images: [("a", fixture.url("0.png"))], daemon)
        disk.empty()
        let status = try await fixture.complete("b", daemon)
        #expect(list(disk.root.path).filter { $0 != "filler" } == ["a.png", "b.png"])
        #expect(
            status.images.map(\.deliveredTo?.value)
                == ["a", "b"].map { "\(disk.root.path)/\($0).png" })
        #expect(try await daemon.stop() == .exited(0))
    }

    /// A link in the way is not followed out of the root.
    @Test func aLinkIsNotFollowed() async throws {
        let other = try ScratchDirectory()
        try FileManager.default.removeItem(atPath: web)
        #expect(symlink(other.path, web) == 0)
        let daemon = try await run()
        try drop("b")
        let reason = try await waiting("b", daemon)
        #expect(reason.message.contains(web))
        #expect(list(other.path) == [])
        #expect(unlink(web) == 0)
        try FileManager.default.makeFolder(atPath: web)
        _ = try await fixture.complete("b", daemon)
        #expect(list() == ["a.png"] && list(other.path) == [])
        #expect(try await daemon.stop() == .exited(0))
    }

    /// What the configuration does not allow, and loops, are refused when the manifest is taken.
    @Test func refusesOtherFolders() async throws {
        let scans = root.url("scans")
        try root.makeFolder("scans")
        try root.write("filters: mono\n", to: "recipes/small.yaml")
        try root.write("", to: "darkroomd.yaml")
        let daemon = try await fixture.run(
            [
                "deliver.roots": "[\(root.path), \(spool.path)]",
                "folders": "[{path: \(scans.path), recipe: small}]",
            ], arguments: ["--config", root.path("darkroomd.yaml")])
        let refused = [
            ("/etc", "/etc is not beneath one of deliver.roots"),
            ("\(root.path)x", "is not beneath one of deliver.roots"),
            ("\(root.path)/../x", "must be an absolute path without ‘..’"),
            ("web", "must be an absolute path without ‘..’"),
            ("\(spool.path)/inbox", "is in the spool"),
            ("\(scans.path)/deep/", "is in the hot folder"),
        ]
        for (number, (folder, words)) in refused.enumerated() {
            try drop("b\(number)", to: folder)
            let status = try await spool.finish("b\(number)", daemon)
            #expect(status.state == .rejected)
            #expect(status.errors?.first?.message.contains(words) == true, "\(status.errors ?? [])")
        }
        // A bind mount or a link hides the hot folder; the folder itself is looked at.
        #expect(mount(scans.path, web, nil, UInt(MS_BIND), nil) == 0 || geteuid() != 0)
        defer { umount2(web, CInt(MNT_DETACH)) }
        if geteuid() == 0 {
            try drop("bound")
            let reason = try await waiting("bound", daemon)
            #expect(reason.message.contains("it is in the hot folder"))
            #expect(list(scans.path) == [])
        }
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func aLongNameGetsANumber() async throws {
        let name = String(repeating: "n", count: 150) + String(repeating: "é", count: 25)
        try put("\(name).png")
        let daemon = try await run()
        try drop("b", images: [name])
        let status = try await fixture.complete("b", daemon)
        #expect(status.images[0].deliveredTo == "\(web)/\(name)-2.png")
        #expect(list().count == 2)
        #expect(try await daemon.stop() == .exited(0))
    }

    /// Two batches that give their outputs the same name at once.
    @Test func batchesMeet() async throws {
        let daemon = try await run()
        for number in 0..<8 { try drop("b\(number)", images: ["a", "b"]) }
        for number in 0..<8 { _ = try await fixture.complete("b\(number)", daemon) }
        let names = ["a", "b"].flatMap { name in
            ["\(name).png"] + (2...8).map { "\(name)-\($0).png" }
        }
        #expect(list() == names.sorted())
        #expect(try await daemon.stop() == .exited(0))
    }
}
