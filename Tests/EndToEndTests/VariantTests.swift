import DarkroomAnswer
import Foundation
import TestSupport
import Testing

/// Variants with the real daemon and the real command.
@Suite(.fewAtATime) struct VariantTests {
    private let fixture: DaemonFixture

    init() throws {
        fixture = try DaemonFixture(pictures: 3)
    }

    /// Two pictures in three sizes, of which `-cut` fails.
    private static func variants(_ first: String, _ second: String) -> String {
        """
        filters: flop
        variants:
          - {suffix: -40, filters: {resize: 40}}
          - {suffix: -20, filters: [{resize: 20}, mono], output: {format: jpeg, quality: 70}}
          - {suffix: -cut, filters: {crop: {x: 0, y: 0, width: 400, height: 1}}}
        images:
          one: \(first)
          two: \(second)
          three: {from: one-20, filters: invert, variants: [{suffix: ""}]}

        """
    }

    /// The same with separate images.
    private static func separate(_ first: String, _ second: String) -> String {
        let images = [("one", first), ("two", second)].map { name, source in
            """
              \(name)-40: {source: \(source), filters: [flop, {resize: 40}]}
              \(name)-20: {source: \(source), filters: [flop, {resize: 20}, mono], output: {format: jpeg, quality: 70}}
              \(name)-cut: {source: \(source), filters: [flop, {crop: {x: 0, y: 0, width: 400, height: 1}}]}
            """
        }
        return "images:\n" + images.joined(separator: "\n")
            + "\n  three: {from: one-20, filters: invert}\n"
    }

    private static let names = [
        "one-40", "one-20", "one-cut", "two-40", "two-20", "two-cut", "three",
    ]

    private static func results(_ status: Status) -> [[String?]] {
        status.images.map {
            [
                $0.name, $0.state.rawValue, $0.output?.file, $0.output?.sha256, $0.error?.code,
                $0.error?.message, $0.source, $0.from, $0.sourceSHA256,
            ]
        }
    }

    /// A retry repeats only those that failed, and one whose output has gone.
    @Test func aRetryRepeatsSome() async throws {
        let daemon = try await fixture.run()
        try fixture.spool.drop(
            "v.yaml", Self.variants(fixture.url("0.png"), fixture.url("1.png")))
        let before = try await fixture.spool.finish("v", daemon)
        let path = "outbox/v/two-20.jpg"
        try fixture.spool.remove(path)
        #expect(try await fixture.client("retry", "v", "--wait").exit == 3)
        let status = try await fixture.spool.finish("v", daemon)
        try fixture.checkOutcome(status)
        #expect(Self.results(status) == Self.results(before))
        #expect(status.images.map(\.attempts) == [1, 1, 2, 1, 2, 2, 1])
        #expect(try await daemon.stop() == .exited(0))
    }

    /// Killed between the publishing of two variants: what is published stays as it is, and nothing is lost.
    @Test(arguments: [
        "filter-written:1", "filter-written:2", "publish-journal-synced:1",
        "publish-output-moved:1", "publish-output-moved:2", "publish-outputs-moved:1",
    ])
    func survivesAKill(point: String) async throws {
        let first = try await fixture.run(environment: ["DARKROOM_FAULT": point])
        let text = """
            variants: [{suffix: -a, filters: {resize: 40}}, {suffix: -b, filters: mono}, {suffix: -c, output: jpeg}]
            images: {one: '\(fixture.url("0.png"))'}

            """
        try fixture.spool.drop("v.yaml", text)
        #expect(try await first.waitForEnding() == .killed(signal: SIGKILL))
        let published = fixture.spool.list("outbox/v").filter { $0.hasPrefix("one-") }
        let identities = published.map { fixture.identity("outbox/v/\($0)") }
        let second = try await fixture.run()
        let status = try await fixture.spool.finish("v", second)
        try fixture.checkCompleted(status)
        #expect(published.map { fixture.identity("outbox/v/\($0)") } == identities)
        try fixture.spool.drop("w.yaml", text)
        let whole = try await fixture.spool.finish("w", second)
        #expect(status.images.map(\.output?.sha256) == whole.images.map(\.output?.sha256))
        #expect(try await second.stop() == .exited(0))
    }

    /// One whose decoding ends the daemon is set aside; the others are made.
    @Test func aCrashSetsAsideOnlyOne() async throws {
        try fixture.spool.makeFolders()
        try fixture.spool.drop(
            "v.yaml",
            "variants: [{suffix: a}, {suffix: b}, {suffix: c}]\nimages: {x: '\(fixture.url("0.png"))'}\n"
        )
        let fault = ["DARKROOM_FAULT": "decode=xb:segv", "SWIFT_BACKTRACE": "enable=no"]
        for _ in 0..<8 {
            let daemon = try fixture.launch(environment: fault)
            if try await ended(daemon) { break }
        }
        let status = try #require(try fixture.spool.status(of: "v"))
        #expect(status.counts.filtered == 2)
        #expect(try status.image("xb").error?.code == "quarantined")
        try fixture.checkOutcome(status)
    }

    /// Waits for the end of the batch or of the daemon.
    ///
    /// - Returns: whether the batch has ended.
    private func ended(_ daemon: DaemonProcess) async throws -> Bool {
        let hasEnded = try await eventually("an end", context: { daemon.describe() }) {
            if let status = try? fixture.spool.status(of: "v"), status.state.isFinal { return true }
            return daemon.currentEnding() == nil ? nil : false
        }
        if hasEnded { #expect(try await daemon.stop() == .exited(0)) }
        return hasEnded
    }

    // MARK: Without a daemon

    /// `darkroom run`, `check`, `verify` and shards.
    @Test func aRunHasTheSameFiles() async throws {
        let fixture = try RunFixture()
        try fixture.write(Self.variants("large.png", "alpha.png"), to: "v.yaml")
        try fixture.write(Self.separate("large.png", "alpha.png"), to: "s.yaml")
        for name in ["v", "s"] {
            try await fixture.darkroom("run", "\(name).yaml", "-o", name, "--quiet").shows(exit: 3)
            try fixture.checkOutcome(of: name)
        }
        let status = try #require(try fixture.status("v"))
        #expect(Self.results(status) == Self.results(try #require(try fixture.status("s"))))
        try await fixture.end("verify v --again").shows(exit: 0, output: .begins("v: 5 outputs, "))
        let check = try await fixture.end("check v.yaml --sources")
        // Two are cut beyond their edges.
        #expect(check.exit == 65, "\(check)")
        for name in Self.names {
            #expect((check.output + check.errors).contains(name), "\(check)")
        }
        for shard in ["1/3", "2/3", "3/3"] {
            let part = try await fixture.darkroom(
                "run", "v.yaml", "-o", "parts", "--quiet", "--shard", shard)
            #expect([0, 3].contains(part.exit), "\(part)")
        }
        #expect(try await fixture.end("merge parts").exit == 3)
        #expect(Self.results(try #require(try fixture.status("parts"))) == Self.results(status))
    }
}

extension DaemonFixture {
    /// Which file this is, and when it was written.
    fileprivate func identity(_ path: String) -> String {
        var information = stat()
        guard lstat(spool.root.appending(path: path).path, &information) == 0 else { return "none" }
        return "\(information.st_ino) \(information.st_mtim.tv_sec).\(information.st_mtim.tv_nsec)"
    }
}
