import DarkroomManifest
import Foundation
import TestPictures
import TestSupport
import Testing

/// What one user has done for long or for ever, and another user's picture.
@Suite(.fewAtATime) struct FairnessTests {
    /// What is wrong with a host.
    enum Fault: String, CaseIterable {
        /// It does not accept connections.
        case deaf
        /// It accepts them, and that is all.
        case silent
    }

    /// Thirty hosts of one fault.
    private struct DeadHosts {
        private let listener: any Sendable
        private let port: UInt16

        init(_ fault: Fault) throws {
            switch fault {
            case .deaf:
                let listener = try DeafListener()
                (self.listener, port) = (listener, listener.port)
            case .silent:
                let listener = try SilentListener()
                (self.listener, port) = (listener, listener.port)
            }
        }

        func images(_ count: Int) -> [(name: String, source: String)] {
            (0..<count).map { ("i\($0)", "http://127.0.1.\($0 % 30 + 1):\(port)/\($0).png") }
        }

        func manifest(_ count: Int) -> [[String: String]] {
            images(count).map { ["name": $0.name, "source": $0.source] }
        }
    }

    /// No transfer is ever given up, so that no place that is taken becomes free.
    private static let settings = DaemonFixture.patient.merging([
        "downloads.connectTimeout": "1h"
    ]) { $1 }

    private static let both = Fault.allCases.flatMap { [($0, Priority.normal), ($0, .veryHigh)] }

    @Test(arguments: both) func aManifestOfDeadHosts(fault: Fault, priority: Priority) async throws
    {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1, Self.settings)
        let hosts = try DeadHosts(fault)
        try await fixture.withstands(daemon) {
            try fixture.drop("attack", images: hosts.images(600), priority: priority)
            try await Self.begun("attack", 12, fixture, daemon)
        }
    }

    /// Among what waits behind dead hosts is the very URL that the other user wants, too.
    @Test func aManifestOfDeadHostsThatNamesTheSameURL() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        let cache = try ScratchDirectory()
        var settings = Self.settings
        settings["cache.folder"] = cache.path
        settings["cache.maxBytes"] = "64MiB"
        let daemon = try await fixture.run(settings)
        let hosts = try DeadHosts(.silent)
        try await fixture.withstands(daemon) {
            var images = hosts.images(200)
            images.insert(("same", fixture.url("0.png")), at: 100)
            try fixture.drop("attack", images: images)
            try await Self.begun("attack", 12, fixture, daemon)
        }
    }

    @Test(
        .enabled(if: geteuid() == 0, "only root can submit as another user"),
        arguments: Fault.allCases)
    func fiftyManifestsOfDeadHosts(fault: Fault) async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1, Self.settings)
        let hosts = try DeadHosts(fault)
        try await fixture.withstands(daemon) {
            for number in 0..<50 {
                try fixture.drop("attack-\(number)", images: hosts.images(600))
            }
            // All of them, so that none comes to the inbox after the other user's.
            for number in 0..<50 {
                _ = try await fixture.spool.waitForStatus(of: "attack-\(number)", daemon, "claimed")
                {
                    _ in true
                }
            }
            try await Self.begun("attack-0", 12, fixture, daemon)
        }
    }

    /// They keep nobody waiting, be it for a file of this machine or for one of another server.
    @Test(
        .enabled(if: geteuid() == 0, "only root can submit as another user"),
        arguments: ["0.png", nil])
    func manyUsersOfDeadHosts(source: String?) async throws {
        let fixture = try DaemonFixture(pictures: 1)
        var settings = Self.settings
        settings["sources.roots"] = fixture.documents.path
        let daemon = try await fixture.run(settings)
        let hosts = try DeadHosts(.silent)
        let users = uid_t(3000)..<3020
        try await fixture.withstands(daemon, source: source) {
            for user in users {
                try fixture.drop("attack-\(user)", ["images": hosts.manifest(60)], as: user)
            }
            for user in users {
                _ = try await fixture.spool.waitForStatus(of: "attack-\(user)", daemon, .processing)
            }
        }
    }

    /// With one place for all, the next that is free is the other user's.
    @Test func takesTurnsAtASinglePlace() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(
            pictures: 1,
            [
                "downloads.concurrency": "1", "downloads.connectTimeout": "1s",
                "downloads.retries": "0",
            ])
        let hosts = try DeadHosts(.deaf)
        try await fixture.withstands(daemon) {
            try fixture.drop("attack", images: hosts.images(600))
            try await Self.begun("attack", 1, fixture, daemon)
        }
    }

    /// A host that answers has its turns among those of its manifest that do not.
    @Test func aHostThatAnswersBesideDeadOnes() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(
            pictures: 10,
            [
                "downloads.connectTimeout": "500ms", "downloads.retries": "0",
            ])
        let hosts = try DeadHosts(.deaf)
        var images = hosts.images(600)
        let good = (0..<10).map { (name: "good\($0)", source: fixture.url("\($0).png")) }
        images.insert(contentsOf: good, at: 30)
        try fixture.drop("mixed", images: images)
        let status = try await fixture.spool.waitForStatus(of: "mixed", daemon, "all that answers")
        {
            $0.counts.filtered == 10
        }
        #expect(!status.state.isFinal)
        try fixture.spool.drop("mixed.cancel", "")
        #expect(try await fixture.spool.finish("mixed", daemon).state == .cancelled)
    }

    /// Many manifests wait for one transfer, each under many names, and are held and released.
    @Test func manyThatWaitForOneTransfer() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        let cache = try ScratchDirectory()
        var settings = Self.settings
        settings["cache.folder"] = cache.path
        settings["cache.maxBytes"] = "64MiB"
        let daemon = try await fixture.run(settings)
        let silent = try SilentListener()
        let ids = (0..<60).map { "attack-\($0)" }
        try await fixture.withstands(daemon) {
            for id in ids {
                let images = (0..<400).map {
                    (name: "i\($0)", source: "http://127.0.1.1:\(silent.port)/a.png#\(id)-\($0)")
                }
                try fixture.drop(id, images: images)
            }
            for id in ids {
                _ = try await fixture.spool.waitForStatus(of: id, daemon, .processing)
            }
            for id in ids { try fixture.spool.drop("\(id).hold", "") }
        }
    }

    // MARK: Filters

    /// Pictures whose filters take minutes.
    private struct SlowPictures {
        private let fixture: DaemonFixture
        private let filters: [[String: [String: Int]]]

        /// - Parameter holdsAll: whether the whole picture is held.
        init(_ fixture: DaemonFixture, holdsAll: Bool = false) throws {
            self.fixture = fixture
            let picture = PNGMaker.black(width: 6000, height: 6000, colourType: .rgb, depth: 8)
            try fixture.documents.write(picture, to: "large.png")
            let blur = ["blur": ["sigma": 20]]
            filters =
                [[String: [String: Int]]](repeating: blur, count: 40)
                + (holdsAll ? [["rotate": ["angle": 90]]] : [])
        }

        func drop(
            _ id: String, _ count: Int, priority: Priority = .normal,
            quality: QualityOfServiceName = .default, as user: uid_t? = nil
        ) throws {
            let images = (0..<count).map {
                ["name": "i\($0)", "source": fixture.url("large.png?\($0)")]
            }
            let manifest: [String: Any] = [
                "images": images, "filters": filters, "priority": priority.rawValue,
                "qualityOfService": quality.rawValue,
            ]
            try fixture.drop(id, manifest, as: user ?? geteuid())
        }

        /// Waits until so many of a manifest are being filtered, and the others could be or have been: on a fast
        /// machine, one ends in between.
        func begun(
            _ id: String, _ filtering: Int, of count: Int, _ daemon: DaemonProcess
        ) async throws {
            _ = try await fixture.spool.waitForStatus(of: id, daemon, "its pictures") {
                $0.counts.filtering >= filtering
                    && $0.counts.filtering + $0.counts.downloaded + $0.counts.filtered == count
            }
        }
    }

    /// Who filters what, and on how many places.
    struct SlowFilters: CustomTestStringConvertible {
        let testDescription: String
        let manifests: Int
        /// Of each; nil for as many as there are cores.
        let images: Int?
        /// For each core.
        let places: Int
        var priority = Priority.normal
        var quality = QualityOfServiceName.default
    }

    static let slowFilters = [
        SlowFilters(
            testDescription: "three manifests have every place", manifests: 3, images: 60, places: 1
        ),
        SlowFilters(
            testDescription: "urgent ones have", manifests: 3, images: 60, places: 1,
            priority: .veryHigh),
        SlowFilters(
            testDescription: "ones of a higher quality of service have", manifests: 3, images: 60,
            places: 1, quality: .userInteractive),
        SlowFilters(
            testDescription: "every core is taken and not every place", manifests: 1, images: nil,
            places: 2),
    ]

    @Test(
        .enabled(if: geteuid() == 0, "only root can submit as another user"),
        arguments: slowFilters)
    func manifestsOfSlowFilters(_ attack: SlowFilters) async throws {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let (fixture, daemon) = try await DaemonFixture.running(
            pictures: 1,
            [
                "stop.timeout": "1s", "filters.concurrency": "\(cores * attack.places)",
            ])
        let pictures = try SlowPictures(fixture)
        let images = attack.images ?? cores
        try await fixture.withstands(daemon) {
            for number in 0..<attack.manifests {
                try pictures.drop(
                    "attack-\(number)", images, priority: attack.priority, quality: attack.quality)
            }
            for number in 0..<attack.manifests {
                // Who has the places is the first, at least.
                let filtering = number > 0 ? 0 : attack.images == nil ? cores : 1
                try await pictures.begun("attack-\(number)", filtering, of: images, daemon)
            }
        }
    }

    /// Each has one at work.
    @Test(.enabled(if: geteuid() == 0, "only root can submit as another user"))
    func manyUsersOfSlowFilters() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1, ["stop.timeout": "1s"])
        let pictures = try SlowPictures(fixture)
        let users = uid_t(3000)..<3020
        try await fixture.withstands(daemon) {
            for user in users { try pictures.drop("attack-\(user)", 2, as: user) }
            for user in users {
                try await pictures.begun("attack-\(user)", 1, of: 2, daemon)
            }
        }
    }

    /// One picture takes all the memory that one may take, beside others that take places.
    @Test(.enabled(if: geteuid() == 0, "only root can submit as another user"))
    func slowFiltersThatFillTheMemory() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        let pictures = try SlowPictures(fixture, holdsAll: true)
        // What a picture needs depends on the number of cores; the daemon says it where that is too much.
        var daemon = try await fixture.run(["limits.memory": "64MiB"])
        try pictures.drop("need", 1)
        let status = try await fixture.spool.finish("need", daemon)
        let message = try #require(try status.image("i0").error).message
        let need = try #require(
            message.firstMatch(of: /up to ([0-9]+) bytes/).flatMap { Int($0.1) }, "\(message)")
        _ = try await daemon.stop()

        daemon = try await fixture.run([
            "stop.timeout": "1s", "limits.memory": "\(need * 8 / 7 + 8)",
        ])
        try await fixture.withstands(daemon) {
            for id in ["attack-0", "attack-1"] { try pictures.drop(id, 60) }
            try await pictures.begun("attack-0", 1, of: 60, daemon)
            try await pictures.begun("attack-1", 0, of: 60, daemon)
        }
    }

    /// Pictures that were at work when someone killed the daemon are retried one by one.
    @Test(.enabled(if: geteuid() == 0, "only root can submit as another user"))
    func slowFiltersThatAKillHasInterrupted() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        let settings = ["stop.timeout": "1s", "filters.concurrency": "2"]
        let first = try await fixture.run(settings)
        let before = try await fixture.innocentPicture("innocent-before", first)
        let pictures = try SlowPictures(fixture)
        let ids = [uid_t(3000): "attack-0", 3001: "attack-1"]
        for (user, id) in ids { try pictures.drop(id, 1, as: user) }
        for id in ids.values { try await pictures.begun(id, 1, of: 1, first) }
        try await first.killAtOnce()
        let second = try await fixture.run(settings)
        try await fixture.withstands(second, before: before) {
            for id in ids.values {
                try await second.says("\(id): i0 was being filtered when darkroomd ended (killed)")
            }
            // One has what is everybody's, and the other waits for it.
            try await eventually("a suspect at work", context: { second.describe() }) {
                let counts = try ids.values.compactMap { try fixture.spool.status(of: $0)?.counts }
                return counts.map(\.filtering).sorted() == [0, 1]
                    && counts.map(\.downloaded).sorted() == [0, 1] ? () : nil
            }
        }
    }

    /// Another manifest of the same user is not kept out by one either.
    @Test func oneManifestOfSlowFilters() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1, ["stop.timeout": "1s"])
        let pictures = try SlowPictures(fixture)
        try pictures.drop("slow", 60)
        try await pictures.begun("slow", 1, of: 60, daemon)
        try await fixture.complete("quick", images: [("a", fixture.url("0.png"))], daemon)
        #expect(try fixture.spool.status(of: "slow")?.counts.filtered == 0)
        #expect(try await daemon.stop() == .exited(0))
    }

    /// Waits until so many downloads of a manifest are under way.
    private static func begun(
        _ id: String, _ count: Int, _ fixture: DaemonFixture, _ daemon: DaemonProcess
    ) async throws {
        _ = try await fixture.spool.waitForStatus(of: id, daemon, "\(count) downloads at work") {
            $0.counts.downloading >= count
        }
    }
}
