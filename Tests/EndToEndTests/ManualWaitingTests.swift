import Foundation
import TestSupport
import Testing

/// The waiting that darkroomd(8) and the cookbook show, as scripts do it.
@Suite(.fewAtATime) struct ManualWaitingTests {
    /// Writes a manifest whose images have these documents for sources.
    private func write(_ place: ManualFixture, _ name: String, _ documents: [String]) throws {
        let images = documents.map { ["name": $0, "source": place.fixture.url($0)] }
        let text = try DaemonFixture.json(["images": images])
        try Data(text.utf8).write(to: place.work.appending(path: name))
    }

    private static func submit(_ name: String) -> String {
        "darkroom submit --anyway \(name) --wait 2>/dev/null"
    }

    /// The same name three times, and each has its own answer.
    @Test func isNotAnsweredByAFormerAnswer() async throws {
        let place = try ManualFixture()
        let daemon = try await place.run()
        for (documents, id, code) in [
            (["0.png"], "nightly", Int32(0)), (["0.png", "none.png"], "nightly-2", 3),
        ] {
            try write(place, "nightly.json", documents)
            let (ended, output) = try await place.shellThatWaits(Self.submit("nightly.json"))
            #expect(ended == code && output == "\(id)\n")
            #expect(try place.fixture.spool.status(of: id)?.images.map(\.name) == documents)
        }
        #expect(place.fixture.spool.list("tmp") == [])
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func givesEachOfManyAtOnceItsOwn() async throws {
        let count = 20
        let place = try ManualFixture()
        let daemon = try await place.run()
        for index in 0..<count {
            let document = "\(index).png"
            try place.fixture.documents.write(DaemonFixture.picture, to: document)
            try FileManager.default.makeFolder(at: place.work.appending(path: "\(index)"))
            try write(place, "\(index)/nightly.json", [document])
        }
        let (code, output) = try await place.shellThatWaits(
            """
            for i in $(seq 0 \(count - 1)); do
                { id=$(\(Self.submit("$i/nightly.json"))); echo "$i $id"; } &
            done
            wait
            """)
        #expect(code == 0)
        let lines = output.split(separator: "\n").map { $0.split(separator: " ") }
        #expect(Set(lines.map { $0[0] }).count == count && Set(lines.map { $0[1] }).count == count)
        for line in lines {
            let status = try #require(try place.fixture.spool.status(of: String(line[1])))
            #expect(status.images.map(\.name) == ["\(line[0]).png"])
        }
        #expect(place.fixture.spool.list("outbox").count == count)
        #expect(place.fixture.spool.list("tmp") == [])
        #expect(try await daemon.stop() == .exited(0))
    }

    /// What becomes of the daemon while the script waits.
    enum Meanwhile: CaseIterable, Sendable { case notStarted, stopped, killedAtTheClaim }

    @Test(arguments: Meanwhile.allCases) func waitsForADaemon(meanwhile: Meanwhile) async throws {
        let place = try ManualFixture()
        try place.fixture.spool.makeFolders()
        try place.fixture.spool.makeFolder("outbox")
        try write(place, "nightly.json", ["0.png"])
        let script: ManualFixture.Script
        switch meanwhile {
        case .notStarted:
            script = try place.begin(Self.submit("nightly.json"))
            try await eventually("the manifest") {
                place.fixture.spool.exists("inbox/nightly.json") ? true : nil
            }
        case .stopped:
            let first = try await place.run()
            try await first.pause()
            script = try place.begin(Self.submit("nightly.json"))
            _ = try await place.fixture.spool.waitForStatus(of: "nightly", first, "there") { _ in
                true
            }
            #expect(try await first.stop() == .exited(0))
            try place.fixture.spool.remove("paused")
        case .killedAtTheClaim:
            let first = try await place.run(environment: ["DARKROOM_FAULT": "claim-moved:1"])
            script = try place.begin(Self.submit("nightly.json"))
            #expect(try await first.waitForEnding() == .killed(signal: SIGKILL))
            #expect(place.fixture.spool.list("outbox") == [])
        }
        #expect(script.process.isRunning)
        let daemon = try await place.run()
        let (code, output) = try await place.end(of: script)
        #expect(code == 0 && output == "nightly\n")
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func waitsForTheNewAnswerOfARetry() async throws {
        let place = try ManualFixture()
        let daemon = try await place.run()
        let retry = "darkroom retry nightly --wait"
        try write(place, "nightly.json", ["0.png", "late.png"])
        #expect(try await place.shellThatWaits(Self.submit("nightly.json")).code == 3)
        // It fails again, and that is the new answer.
        #expect(try await place.shellThatWaits(retry).code == 3)
        #expect(try place.fixture.spool.status(of: "nightly")?.retries == 1)
        try place.fixture.documents.write(DaemonFixture.picture, to: "late.png")
        let (code, output) = try await place.shellThatWaits(retry)
        #expect(code == 0 && output == "nightly is reopened\n")
        #expect(try place.fixture.spool.status(of: "nightly")?.retries == 2)
        // Nothing is left to be done again.
        let (last, words) = try await place.shellThatWaits(retry)
        #expect(
            last == 1
                && words
                    == "darkroom: nightly has nothing to repeat: all images are filtered\n"
        )
        #expect(try await daemon.stop() == .exited(0))
    }
}
