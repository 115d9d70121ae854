import Testing

@testable import DarkroomAnswer
@testable import DarkroomClient

/// What counts about a batch if its files differ.
struct BatchViewTests {
    struct Case: Sendable {
        var progress: (state: BatchState, retries: Int?, age: Double)?
        var status: (state: BatchState, retries: Int?, age: Double)?
        let state: BatchState?
        var retries = 0
    }

    static let cases = [
        Case(state: nil),
        Case(status: (.pending, nil, 0), state: .pending),
        Case(progress: (.processing, nil, 0), status: (.pending, nil, 9), state: .processing),
        // The progress is written after the final status, or not at all.
        Case(progress: (.processing, nil, 9), status: (.completed, nil, 0), state: .completed),
        Case(
            progress: (.completed, nil, 0), status: (.completed, 1, 9), state: .completed,
            retries: 1),
        // A retry has begun, and the progress tells of the end before it.
        Case(
            progress: (.completed, nil, 0), status: (.processing, 1, 9), state: .processing,
            retries: 1),
        Case(
            progress: (.processing, 1, 0), status: (.pending, 1, 9), state: .processing, retries: 1),
    ]

    @Test(arguments: cases.indices) func seesTheNewest(index: Int) throws {
        let outbox = try ClientSpool()
        let row = Self.cases[index]
        if let status = row.status {
            try outbox.writeStatus(
                "x", identity: "1-2.3", status.state, retries: status.retries, age: status.age)
        }
        if let progress = row.progress {
            try outbox.writeProgress(
                "x", identity: "1-2.3", progress.state, retries: progress.retries,
                age: progress.age)
        }
        let view = try BatchView("x", in: outbox.open())
        for _ in 0..<2 {
            let batch = try view.read()
            #expect(batch?.state == row.state)
            #expect(batch?.retries ?? 0 == row.retries)
            #expect(batch == nil || batch?.identity == "1-2.3")
        }
    }

    @Test func seesAStatusThatIsReplaced() throws {
        let outbox = try ClientSpool()
        let view = try BatchView("x", in: outbox.open())
        #expect(try view.read() == nil)
        try outbox.writeStatus("x", identity: nil, .processing)
        #expect(try view.read()?.state == .processing)
        try outbox.writeStatus("x", identity: nil, .cancelled)
        #expect(try view.read()?.state == .cancelled)
    }

    @Test(arguments: ["", ".", "..", ".x", "a/b", "../outbox/x", "a\0b", "y"])
    func othersAreNoBatches(id: String) throws {
        let outbox = try ClientSpool()
        try outbox.writeStatus("x", identity: nil)
        #expect(try BatchView(id, in: outbox.open()).read() == nil)
    }
}
