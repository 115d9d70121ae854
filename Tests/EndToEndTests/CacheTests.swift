import Foundation
import Synchronization
import TestPictures
import TestSupport
import Testing

/// What is fetched once and used several times, against a real nginx and an origin that says what the tests want.
@Suite(.fewAtATime) struct CacheTests {
    private let fixture: DaemonFixture
    private let cache: ScratchDirectory

    init() throws {
        fixture = try DaemonFixture(pictures: 3)
        cache = try ScratchDirectory()
    }

    private func run(
        _ settings: [String: String] = [:], environment: [String: String] = [:]
    ) async throws -> DaemonProcess {
        let own = ["cache.folder": cache.path + "/c", "cache.maxBytes": "64MiB"]
        return try await fixture.run(own.merging(settings) { $1 }, environment: environment)
    }

    /// Drops a manifest of one image.
    private func drop(_ id: String, _ source: String) throws {
        try fixture.drop(id, images: [("a", source)])
    }

    /// Drops so many manifests of the same image, `m0`, `m1`, …, none of which begins before all are there.
    private func dropTogether(_ count: Int, _ source: String, _ daemon: DaemonProcess) async throws
    {
        try await daemon.pause()
        for number in 0..<count { try drop("m\(number)", source) }
        try await daemon.waitForStatusText("Paused: \(count) batches")
        daemon.send(SIGUSR2)
    }

    /// Has it done, and gives what the cache had to do with it.
    private func finish(_ id: String, _ daemon: DaemonProcess) async throws -> String? {
        let status = try await fixture.complete(id, daemon)
        return try status.image("a").download?.cache
    }

    private func answer(_ fields: [String], _ body: [UInt8] = DaemonFixture.picture)
        -> ScriptedOrigin.Reply
    {
        ScriptedOrigin.Reply(
            ["HTTP/1.1 200 OK", "Content-Length: \(body.count)", "Connection: close"] + fields,
            body: body)
    }

    // MARK: Fetched once

    @Test func tenManifestsAtOnceFetchOnce() async throws {
        let daemon = try await run()
        try await dropTogether(10, fixture.slowURL("0.png"), daemon)
        var kinds: [String?] = []
        for number in 0..<10 { kinds.append(try await finish("m\(number)", daemon)) }
        #expect(kinds.count { $0 == "stored" } == 1)
        #expect(kinds.count { $0 == "hit" } == 9)
        #expect(try await fixture.logged(1).map(\.path) == ["/slow/0.png"])
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func secondRunIsConfirmed() async throws {
        let first = try await run()
        try drop("one", fixture.url("0.png"))
        #expect(try await finish("one", first) == "stored")
        #expect(try await first.stop() == .exited(0))

        let second = try await run()
        try drop("two", fixture.url("0.png"))
        #expect(try await finish("two", second) == "revalidated")
        #expect(try await fixture.logged(2).map(\.status) == [200, 304])

        // Another file under the same name is seen.
        let other = Starfield.png(width: 40, height: 30, seed: 9)
        try fixture.documents.write(other, to: "0.png")
        try drop("three", fixture.url("0.png"))
        #expect(try await finish("three", second) == "stored")
        let status = try #require(try fixture.spool.status(of: "three"))
        #expect(try status.image("a").output?.width == 40)
        try drop("four", fixture.url("0.png"))
        #expect(try await finish("four", second) == "revalidated")
        #expect(try fixture.spool.status(of: "four")?.image("a").output?.width == 40)
        #expect(try await fixture.logged(4).map(\.status) == [200, 304, 200, 304])
        #expect(try await second.stop() == .exited(0))
    }

    @Test func freshAnswerIsNotAskedFor() async throws {
        let origin = try ScriptedOrigin { _ in answer(["Cache-Control: max-age=3600"]) }
        let daemon = try await run()
        try drop("one", "\(origin.baseURL)/a.png")
        #expect(try await finish("one", daemon) == "stored")
        for number in 2...4 {
            try drop("m\(number)", "\(origin.baseURL)/a.png#part-\(number)")
            #expect(try await finish("m\(number)", daemon) == "hit")
        }
        #expect(origin.requests.count == 1)
        #expect(try await daemon.stop() == .exited(0))
        let again = try await run()
        try drop("five", "\(origin.baseURL)/a.png")
        #expect(try await finish("five", again) == "hit")
        #expect(origin.requests.count == 1)
        // Another user is another one.
        try drop("six", "http://ann:secret@127.0.0.1:\(origin.port)/a.png")
        #expect(try await finish("six", again) == nil)
        #expect(origin.requests.count == 2)
        #expect(try await again.stop() == .exited(0))
    }

    @Test func whatMustNotBeKeptIsFetchedByEach() async throws {
        let origin = try ScriptedOrigin { _ in
            answer(["Cache-Control: no-store, max-age=60", "ETag: \"1\""])
        }
        let daemon = try await run()
        try await dropTogether(10, "\(origin.baseURL)/a.png", daemon)
        for number in 0..<10 { #expect(try await finish("m\(number)", daemon) == nil) }
        #expect(origin.requests.count == 10)
        #expect(origin.requests.allSatisfy { $0.fields["if-none-match"] == nil })
        #expect(try await daemon.stop() == .exited(0))
    }

    /// An answer that says nothing of itself is shared by those who wait for it, and by nobody later.
    @Test func answerWithoutValidatorIsSharedOnce() async throws {
        let origin = try ScriptedOrigin { _ in
            usleep(200_000)
            return answer([])
        }
        let daemon = try await run()
        try await dropTogether(3, "\(origin.baseURL)/a.png", daemon)
        for number in 0..<3 { #expect(try await finish("m\(number)", daemon) != nil) }
        #expect(origin.requests.count == 1)
        try drop("later", "\(origin.baseURL)/a.png")
        #expect(try await finish("later", daemon) == nil)
        #expect(origin.requests.count == 2)
        #expect(try await daemon.stop() == .exited(0))
    }

    // MARK: Redirects

    @Test func redirectIsFollowedEachTime() async throws {
        let daemon = try await run()
        for (id, kind) in [("one", "stored"), ("two", "revalidated")] {
            try drop(id, fixture.url("moved/1.png"))
            #expect(try await finish(id, daemon) == kind)
        }
        #expect(try await fixture.logged(4).map(\.status) == [302, 200, 302, 304])
        #expect(try await daemon.stop() == .exited(0))
    }

    /// The file behind the redirect is an older one: asked for what has changed since the newer one, a server would
    /// say that nothing has.
    @Test func redirectThatLeadsElsewhereIsSeen() async throws {
        let other = Starfield.png(width: 40, height: 30, seed: 9)
        let target = Mutex("/new.png")
        let origin = try ScriptedOrigin { request in
            if request.path == "/a.png" {
                return ScriptedOrigin.Reply([
                    "HTTP/1.1 302 Found", "Location: \(target.withLock { $0 })",
                    "Content-Length: 0", "Connection: close",
                ])
            }
            if request.fields["if-modified-since"] != nil || request.fields["if-none-match"] != nil
            {
                return ScriptedOrigin.Reply(["HTTP/1.1 304 Not Modified", "Connection: close"])
            }
            return answer(
                ["Last-Modified: Sat, 01 Jan 2022 00:00:00 GMT"],
                request.path == "/new.png" ? DaemonFixture.picture : other)
        }
        let daemon = try await run()
        try drop("one", "\(origin.baseURL)/a.png")
        #expect(try await finish("one", daemon) == "stored")
        target.withLock { $0 = "/old.png" }
        try drop("two", "\(origin.baseURL)/a.png")
        #expect(try await finish("two", daemon) == "stored")
        #expect(try fixture.spool.status(of: "two")?.image("a").output?.width == 40)
        #expect(try await daemon.stop() == .exited(0))
    }

    // MARK: Those who wait

    @Test func failureIsToldToAll() async throws {
        let origin = try ScriptedOrigin { _ in
            usleep(200_000)
            return ScriptedOrigin.Reply([
                "HTTP/1.1 404 Not Found", "Content-Length: 0", "Connection: close",
            ])
        }
        let daemon = try await run()
        try await dropTogether(4, "\(origin.baseURL)/a.png", daemon)
        var shared = 0
        for number in 0..<4 {
            let status = try await fixture.spool.finish("m\(number)", daemon)
            let error = try #require(try status.image("a").error)
            #expect(error.code == "http-status")
            if error.message.contains("fetched once for several") { shared += 1 }
        }
        #expect(shared == 3)
        #expect(origin.requests.count == 1)
        #expect(try await daemon.stop() == .exited(0))
    }

    /// The one that fetches for the others waits for its next attempt: nobody tries in its place.
    @Test func nextAttemptIsWaitedForByAll() async throws {
        let isFirst = Atomic(true)
        let origin = try ScriptedOrigin { _ in
            guard isFirst.exchange(false, ordering: .relaxed) else {
                // One that begins when all is over needs no request of its own either.
                return answer(["Cache-Control: max-age=600"])
            }
            return ScriptedOrigin.Reply([
                "HTTP/1.1 503 Service Unavailable", "Retry-After: 1", "Content-Length: 0",
                "Connection: close",
            ])
        }
        let daemon = try await run(["downloads.retryDelay": "10ms"])
        try await dropTogether(4, "\(origin.baseURL)/a.png", daemon)
        var kinds: [String?] = []
        for number in 0..<4 { kinds.append(try await finish("m\(number)", daemon)) }
        #expect(kinds.count { $0 == "stored" } == 1)
        #expect(kinds.count { $0 == "hit" } == 3)
        #expect(origin.requests.count == 2)
        #expect(try await daemon.stop() == .exited(0))
    }

    /// The one that fetches for the others is cancelled: another one takes over.
    @Test func cancellingTheFirstOneLetsTheOthersGoOn() async throws {
        let isStuck = Atomic(true)
        let origin = try ScriptedOrigin { _ in
            if isStuck.load(ordering: .relaxed) {
                return ScriptedOrigin.Reply(bytes: [], ending: .hold)
            }
            // On a busy machine one may begin only when all is over. It needs no request of its own then.
            return answer(["Cache-Control: max-age=600"])
        }
        let daemon = try await run(DaemonFixture.patient)
        try drop("first", "\(origin.baseURL)/a.png")
        try await eventually("the first request") { origin.requests.isEmpty ? nil : true }
        for number in 0..<3 { try drop("m\(number)", "\(origin.baseURL)/a.png") }
        try drop("other", fixture.url("0.png"))
        _ = try await finish("other", daemon)
        #expect(origin.requests.count == 1)
        isStuck.store(false, ordering: .relaxed)
        try fixture.spool.drop("first.cancel", "")
        #expect(try await fixture.spool.finish("first", daemon).state == .cancelled)
        for number in 0..<3 { _ = try await finish("m\(number)", daemon) }
        #expect(origin.requests.count == 2)
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func oneThatWaitsCanBeCancelledAndHeld() async throws {
        let isStuck = Atomic(true)
        let origin = try ScriptedOrigin { _ in
            while isStuck.load(ordering: .relaxed) { usleep(10_000) }
            return answer(["Cache-Control: max-age=600"])
        }
        defer {
            isStuck.store(false, ordering: .relaxed)
            origin.stop()
        }
        let daemon = try await run(DaemonFixture.patient)
        try drop("first", "\(origin.baseURL)/a.png")
        try await eventually("the first request") { origin.requests.isEmpty ? nil : true }
        for id in ["cancelled", "held", "waiting"] { try drop(id, "\(origin.baseURL)/a.png") }
        for id in ["cancelled", "held", "waiting"] {
            _ = try await fixture.spool.waitForStatus(of: id, daemon, .processing)
        }
        try fixture.spool.drop("cancelled.cancel", "")
        try fixture.spool.drop("held.hold", "")
        #expect(try await fixture.spool.finish("cancelled", daemon).state == .cancelled)
        _ = try await fixture.spool.waitForStatus(of: "held", daemon, .held)
        isStuck.store(false, ordering: .relaxed)
        #expect(try await finish("first", daemon) == "stored")
        #expect(try await finish("waiting", daemon) == "hit")
        try fixture.spool.drop("held.release", "")
        #expect(try await finish("held", daemon) != nil)
        #expect(try await daemon.stop() == .exited(0))
    }

    // MARK: Trouble

    @Test(arguments: ["cache-head-written", "cache-written", "cache-moved"])
    func deathWhileItIsWrittenHarmsNothing(point: String) async throws {
        let first = try await run(environment: ["DARKROOM_FAULT": point])
        try drop("one", fixture.url("0.png"))
        #expect(try await first.waitForEnding() == .killed(signal: SIGKILL))
        let second = try await run()
        let kind = try await finish("one", second)
        #expect(kind == (point == "cache-moved" ? "revalidated" : "stored"))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: cache.path + "/c/new") == [])
        #expect(try await second.stop() == .exited(0))
    }

    @Test func damageIsFetchedAnew() async throws {
        let daemon = try await run()
        try drop("one", fixture.url("0.png"))
        #expect(try await finish("one", daemon) == "stored")
        let root = URL(filePath: cache.path + "/c")
        let files = try #require(FileManager.default.enumerator(atPath: root.path))
            .compactMap { $0 as? String }.filter { $0.count == 65 }
        #expect(files.count == 1)
        let handle = try FileHandle(forUpdating: root.appending(path: try #require(files.first)))
        try handle.seek(toOffset: 4096 + 100)
        try handle.write(contentsOf: Data([0, 0, 0, 0, 0, 0, 0, 0]))
        try handle.close()
        try drop("two", fixture.url("0.png"))
        // It was confirmed, and only then seen to be damaged.
        #expect(try await finish("two", daemon) == "stored")
        #expect(try await fixture.logged(3).map(\.status) == [200, 304, 200])
        try await daemon.says("its body is damaged")
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func folderIsForOneDaemon() async throws {
        let daemon = try await run()
        let other = try DaemonFixture(pictures: 1)
        let second = try await other.run([
            "cache.folder": cache.path + "/c", "cache.maxBytes": "1MiB",
        ])
        try await second.says("is not used as a cache")
        let status = try await other.finish("one", images: [("a", other.url("0.png"))], second)
        try other.checkCompleted(status)
        #expect(try status.image("a").download?.cache == nil)
        #expect(try await second.stop() == .exited(0))
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func folderThatIsNamedMustBeUsable() async throws {
        let spool = try ScratchDirectory()
        let (ending, output) = try await DaemonProcess.end(
            arguments: DaemonProcess.arguments(
                spool: spool.path,
                settings: ["cache.folder": "/proc/none", "cache.maxBytes": "1MiB"]))
        #expect(ending == .exited(78))
        #expect(output.contains("cache.folder: /proc/none"))
    }

    /// No secret of a URL is in a file of the cache.
    @Test func keepsNoSecret() async throws {
        let origin = try ScriptedOrigin { _ in
            answer(["Cache-Control: public, max-age=60"])
        }
        let daemon = try await run()
        try drop("one", "http://ann:topsecret@127.0.0.1:\(origin.port)/a.png?key=topsecret")
        #expect(try await finish("one", daemon) == "stored")
        let root = URL(filePath: cache.path + "/c")
        let files = try #require(FileManager.default.enumerator(atPath: root.path))
            .compactMap { $0 as? String }.filter { $0.count == 65 }
        let content = try Data(contentsOf: root.appending(path: try #require(files.first)))
        #expect(content.range(of: Data("127.0.0.1".utf8)) != nil)
        #expect(content.range(of: Data("topsecret".utf8)) == nil)
        #expect(!daemon.outputText.contains("topsecret"))
        #expect(try await daemon.stop() == .exited(0))
    }
}
