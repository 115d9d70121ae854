import Foundation
import Synchronization
import TestSupport
import Testing

@testable import DarkroomFetch
@testable import DarkroomFixtures

/// Cancelling transfers, stopping the engine, and the operation that stands for a transfer.
@Suite(.tags(.concurrency)) struct TransferEndTests {
    typealias Outcome = TransferOperation.Outcome

    static func kind(_ outcome: Outcome) -> String {
        switch outcome {
        case .fetched: "fetched"
        case .failed(let error): error.code
        case .deferred: "deferred"
        case .unwanted: "unwanted"
        }
    }

    @Test(arguments: [MisbehavingOrigin.Behaviour.stalled, .silent, .endless])
    func cancelsATransfer(behaviour: MisbehavingOrigin.Behaviour) async throws {
        let origin = try MisbehavingOrigin()
        var limits = TransferLimits.patient
        limits.bytes = .max
        let fixture = try EngineFixture(limits: limits)
        let outcomes = Collected<Result<TransferReport, FetchError>>()
        let request = try fixture.request(origin.url(behaviour))
        let id = fixture.engine.start(request) { outcomes.add($0) }
        fixture.engine.cancel(id)
        fixture.engine.cancel(id)
        #expect(await outcomes.wait(for: 1).first?.failure == .cancelled(request.url))
        fixture.engine.stop()
        #expect(outcomes.all.count == 1)
    }

    /// Without a limit worth the name, a body of no stated length arrives until it is cancelled.
    @Test func cancelsWhatArrivesWithoutALimit() async throws {
        // It waits at its end, for a busy test may come to look much later.
        let body = [UInt8](repeating: 1, count: 4 << 20)
        let origin = try ScriptedOrigin { _ in
            ScriptedOrigin.Reply(["HTTP/1.1 200 OK"], body: body, ending: .hold)
        }
        var limits = TransferLimits.patient
        limits.bytes = .max
        let fixture = try EngineFixture(limits: limits)
        let outcomes = Collected<Result<TransferReport, FetchError>>()
        let request = try fixture.request(origin.baseURL)
        let id = fixture.engine.start(request) { outcomes.add($0) }
        while try fixture.size(of: request) < body.count, outcomes.all.isEmpty {
            try await Task.sleep(for: .milliseconds(1))
        }
        fixture.engine.cancel(id)
        #expect(await outcomes.wait(for: 1).first?.failure == .cancelled(request.url))
    }

    /// What a server has begun to answer goes on, at the same time.
    @Test func cancelsWhatIsNotAnswered() async throws {
        let origin = try MisbehavingOrigin()
        let listener = try DeafListener()
        let fixture = try EngineFixture()
        let answered = Collected<Result<TransferReport, FetchError>>()
        let unanswered = Collected<Result<TransferReport, FetchError>>()
        let begun = try fixture.request(origin.url(.stalled))
        let id = fixture.engine.start(begun) { answered.add($0) }
        while try fixture.size(of: begun) == 0 { await Task.yield() }
        for url in [origin.url(.silent), "http://127.0.0.1:\(listener.port)/"] {
            fixture.engine.start(try fixture.request(url)) { unanswered.add($0) }
        }
        fixture.engine.cancelUnanswered()
        #expect(await unanswered.wait(for: 2).map { $0.failure?.kind } == [.cancelled, .cancelled])
        #expect(answered.all.isEmpty)
        fixture.engine.cancel(id)
        #expect(await answered.wait(for: 1).count == 1)
    }

    @Test func stopsWithTransfersInFlight() async throws {
        let origin = try MisbehavingOrigin()
        let fixture = try EngineFixture()
        let outcomes = Collected<Result<TransferReport, FetchError>>()
        for _ in 0..<20 {
            let request = try fixture.request(origin.url(.stalled))
            fixture.engine.start(request) { outcomes.add($0) }
        }
        fixture.engine.stop()
        #expect(outcomes.all.map { $0.failure?.kind } == Array(repeating: .cancelled, count: 20))
        fixture.engine.stop()
        let late = try await fixture.fetch(origin.url(.stalled)).failure
        #expect(late?.kind == .cancelled)
        fixture.engine.nudge()
        fixture.engine.update(TransferSettings(userAgent: "late"))
    }

    /// The last reference to an engine may go away on its own thread.
    @Test func mayBeLetGoOfInACompletion() async throws {
        let fixture = try EngineFixture()
        let url = try RemoteURL("http://127.0.0.1:\(unusedPort())/")
        let settings = TransferSettings(rules: .loopback, userAgent: "test")
        for _ in 0..<20 {
            let output = try fixture.request("http://127.0.0.1/").output
            let holder = Mutex<TransferEngine?>(try TransferEngine(settings: settings))
            let outcomes = Collected<Bool>()
            let engine = holder.withLock { $0 }
            engine?.start(TransferRequest(url: url, output: output)) { _ in
                let last = holder.withLock { $0.take() }
                outcomes.add(last != nil)
            }
            #expect(await outcomes.wait(for: 1) == [true])
        }
    }

    @Test func turnsWhenNudged() async throws {
        let fixture = try EngineFixture()
        let before = fixture.engine.turns
        fixture.engine.nudge()
        // Ends only if the thread answers; the test run's own limit is the judge of "stuck".
        while fixture.engine.turns == before { await Task.yield() }
        #expect(fixture.engine.turns > before)
    }

    @Test func operationFetches() async throws {
        let fixture = try NginxFixture()
        let outcomes = Collected<Outcome>()
        let operation = try fixture.client.operation(
            fixture.url("/0.png"), completion: outcomes.add)
        #expect(operation.isAsynchronous && !operation.isExecuting && !operation.isFinished)
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        // The dependent and a later operation of a queue of width 1 both wait for the end.
        let finished = Collected<Bool>()
        let after = BlockOperation { finished.add(operation.isFinished) }
        after.addDependency(operation)
        queue.add([after, operation])
        #expect(await finished.wait(for: 1) == [true])
        #expect(outcomes.all.map(Self.kind) == ["fetched"])
        #expect(!operation.isExecuting)
        operation.cancel()
        #expect(outcomes.all.count == 1)
    }

    @Test(arguments: [
        (TransferOperation.Preparation.deferred, "deferred"), (.unwanted, "unwanted"),
        (.failed(FetchError(.writeFailed, "the disk is full")), "write-failed"),
    ])
    func operationWithoutATransfer(
        preparation: TransferOperation.Preparation, kind: String
    ) async throws {
        let fixture = try EngineFixture()
        let outcomes = Collected<Outcome>()
        let operation = TransferOperation(
            engine: fixture.engine, url: try RemoteURL("http://127.0.0.1/"),
            prepare: { preparation }, completion: outcomes.add)
        await OperationQueue().run([operation])
        #expect(outcomes.all.map(Self.kind) == [kind])
        #expect(operation.isFinished && !operation.isCancelled)
    }

    @Test func operationCancelsWhileRunning() async throws {
        let origin = try MisbehavingOrigin()
        let fixture = try EngineFixture()
        let outcomes = Collected<Outcome>()
        let started = Collected<Void>()
        let request = try fixture.request(origin.url(.stalled))
        let operation = TransferOperation(
            engine: fixture.engine, url: request.url,
            prepare: {
                started.add(())
                return .transfer(request)
            }, completion: outcomes.add)
        let queue = OperationQueue()
        queue.addOperation(operation)
        _ = await started.wait(for: 1)
        operation.cancel()
        operation.cancel()
        #expect(await outcomes.wait(for: 1).map(Self.kind) == ["cancelled"])
        await queue.run([])
        #expect(operation.isFinished)
    }

    /// A suspended queue starts a cancelled operation only when it goes on; the word is given at once.
    @Test func operationCancelsInASuspendedQueue() throws {
        let fixture = try EngineFixture()
        let outcomes = Collected<Outcome>()
        let operation = try fixture.operation("http://127.0.0.1/", completion: outcomes.add)
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        queue.addOperation(operation)
        operation.cancel()
        #expect(outcomes.all.map(Self.kind) == ["cancelled"])
        #expect(!operation.isFinished)
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(operation.isFinished)
        #expect(outcomes.all.count == 1)
    }

    /// Operations cancelled at any moment of their lives complete once each, and their queue empties.
    @Test func operationsCancelAtAnyMoment() async throws {
        let fixture = try NginxFixture()
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 8
        let outcomes = Collected<Outcome>()
        let operations = try (0..<300).map { _ in
            try fixture.client.operation(fixture.url("/0.png"), completion: outcomes.add)
        }
        queue.add(operations)
        DispatchQueue.concurrentPerform(iterations: 300) { index in
            if index % 3 != 0 { operations[index].cancel() }
        }
        await queue.run([])
        let kinds = outcomes.all.map(Self.kind)
        #expect(kinds.count == 300)
        #expect(kinds.filter { $0 == "fetched" }.count >= 100)
        #expect(kinds.allSatisfy { $0 == "fetched" || $0 == "cancelled" })
    }

    /// A finished operation that somebody still holds keeps no file open.
    @Test func operationLetsGoOfItsFile() async throws {
        let fixture = try EngineFixture()
        let outcomes = Collected<String>()
        weak var output: TransferOutput?
        let operation: TransferOperation
        do {
            let request = try fixture.request("http://127.0.0.1:\(unusedPort())/")
            output = request.output
            operation = fixture.operation(request) { outcomes.add(Self.kind($0)) }
        }
        await OperationQueue().run([operation])
        #expect(outcomes.all == ["connect-failed"])
        fixture.engine.stop()
        #expect(output == nil)
        #expect(operation.isFinished)
    }
}
