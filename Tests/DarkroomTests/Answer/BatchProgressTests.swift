import Foundation
import TestPictures
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomManifest

/// What `progress.json` says of a batch, and that it is small.
struct BatchProgressTests {
    private static let time = "2026-11-21T08:00:00.000Z"

    /// Everything that a progress may have, as long as it may be.
    private static func longest(id: String) -> BatchProgress {
        var counts = Status.Counts()
        counts.total = 10_000_000
        for state in ImageState.allCases { counts[state] = 1_428_571 }
        let identity = "\(UInt64.max)--\(Int64.max).999999999"
        var status = Status(
            id: id,
            manifest: .init(
                name: "", file: nil, sha256: nil, bytes: 0, uid: .max, identity: identity),
            state: .completedWithErrors, priority: .veryHigh,
            times: .init(
                received: time, started: time, finished: time, workMilliseconds: .max),
            counts: counts,
            commands: (0..<16).map { index in
                ControlRecord(
                    .release, time: time, uid: .max,
                    file: "\(UInt64.max)-\(Int64.max).99999999\(index % 10)")
            }, retries: .max)
        status.waiting = .init(
            code: "too-many-files", message: String(repeating: "\"/\\\u{1}é", count: 1000),
            since: time)
        var progress = BatchProgress(of: status, outputBytes: .max)
        progress.imagesPerSecond = 0.012345678901234567
        progress.bytesPerSecond = 12345678.901234567
        progress.secondsLeft = 12345678.901234567
        return progress
    }

    private static func decoded(_ progress: BatchProgress) throws -> BatchProgress {
        let bytes = progress.encoded()
        #expect(bytes.count <= BatchProgress.capacity && bytes.last == UInt8(ascii: "\n"))
        #expect(bytes.count { $0 == UInt8(ascii: "\n") } == 1)
        return try #require(BatchProgress(decoding: bytes))
    }

    private static func reference(_ progress: BatchProgress) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(progress)) + [UInt8(ascii: "\n")]
    }

    /// The encoder would take much longer.
    @Test func isWrittenAsByTheEncoder() throws {
        var numbers = SplitMix64(seed: 14)
        let scalars =
            (0..<0x180).compactMap { Unicode.Scalar($0) } + ["€", "\u{2028}", "🎞", "\u{FEFF}"]
        func text() -> String {
            var text = ""
            for _ in 0..<Int.random(in: 0...6, using: &numbers) {
                text.unicodeScalars.append(scalars.randomElement(using: &numbers) ?? "a")
            }
            return text
        }
        func maybe<Value>(_ value: @autoclosure () -> Value) -> Value? {
            Bool.random(using: &numbers) ? value() : nil
        }
        func rate() -> Double {
            let value = Double.random(in: 0...1, using: &numbers)
            let scales = [1e-9, 1e-4, 1, 1e3, 1e9, 1e17, 1e30]
            let scale: Double = scales.randomElement(using: &numbers) ?? 1
            return [0, 1, (value * scale).rounded(), value * scale, (value * scale).shortened]
                .randomElement(using: &numbers) ?? 0
        }
        for _ in 0..<3000 {
            var counts = Status.Counts()
            counts.total = Int.random(in: 0...(.max), using: &numbers)
            for state in ImageState.allCases {
                counts[state] = Int.random(in: 0...1000, using: &numbers)
            }
            var status = Status(
                id: text(),
                manifest: .init(
                    name: "", file: nil, sha256: nil, bytes: 0,
                    uid: maybe(.random(in: 0...(.max), using: &numbers)), identity: maybe(text())),
                state: BatchState.allCases.randomElement(using: &numbers) ?? .pending,
                priority: Priority.allCases.randomElement(using: &numbers) ?? .normal,
                times: .init(received: text(), started: maybe(text()), finished: maybe(text())),
                counts: counts,
                commands: maybe(
                    (0..<Int.random(in: 0...3, using: &numbers)).map { _ in
                        ControlRecord(.hold, time: text(), uid: .max, file: maybe(text()))
                    }),
                retries: maybe(Int.random(in: 0...9, using: &numbers)))
            status.waiting = maybe(.init(code: text(), message: text(), since: text()))
            var progress = BatchProgress(of: status, outputBytes: .max)
            progress.imagesPerSecond = maybe(rate())
            progress.bytesPerSecond = maybe(rate())
            progress.secondsLeft = maybe(rate())
            let expected = try Self.reference(progress)
            try #require(expected.count <= BatchProgress.capacity)
            try #require(progress.encoded() == expected)
        }
    }

    @Test func saysWhatTheStatusSays() throws {
        var status = Status(
            id: "trip", manifest: .init(name: "", file: nil, sha256: nil, bytes: 0, uid: 7),
            state: .processing, times: .init(received: Self.time), counts: Status.Counts(new: 3),
            commands: ["a", "b", "c"].map {
                ControlRecord(.hold, time: Self.time, uid: 7, file: $0)
            },
            retries: 2,
            images: ["x", "y", "z"].map { name in
                ImageStatus(
                    name: name, state: name == "z" ? .failed : .filtered,
                    output: .init(
                        file: "", format: .png, sha256: "", bytes: 10, width: 1, height: 1,
                        depth: 8, channels: 3))
            })
        status.waiting = .init(code: "paused", message: "m", since: Self.time)
        let progress = BatchProgress(of: status)
        #expect(progress.outputBytes == 20)
        #expect(progress.commands?.map(\.file) == ["b", "c"])
        #expect(progress.id == "trip" && progress.uid == 7 && progress.retries == 2)
        #expect(progress.counts == status.counts && progress.waiting == status.waiting)
        #expect(try Self.decoded(progress) == progress)
    }

    /// The message takes what is left, so no rule can be seen in one case alone.
    @Test(arguments: [
        // The longest ID that a manifest gets, its number included.
        (String(repeating: "a", count: 208), 0, true),
        (String(repeating: "a", count: 80), 1, true),
        (String(repeating: "\"", count: 208), 0, false),
        ("short", 1, true),
    ])
    func leavesOutTheLeastImportant(id: String, commands: Int, hasRates: Bool) throws {
        let whole = Self.longest(id: id)
        let shown = try Self.decoded(whole)
        #expect(shown.commands?.count ?? 0 == commands)
        #expect(shown.commands?.last?.file == (commands > 0 ? whole.commands?.last?.file : nil))
        #expect((shown.secondsLeft != nil) == hasRates)
        #expect((shown.imagesPerSecond != nil) == hasRates)
        #expect(shown.id == id && shown.identity == whole.identity && shown.uid == whole.uid)
        #expect(shown.counts == whole.counts && shown.times == whole.times)
        #expect(shown.retries == .max && shown.outputBytes == .max)
    }

    /// A folder that someone has put into `active` may have any name.
    @Test(arguments: ["\u{1}", "\"", "é", "a"], [0, 1, 100, 200, 255])
    func isSmallWhateverTheFolderIsCalled(character: String, count: Int) throws {
        let id = String(repeating: character, count: count)
        let shown = try Self.decoded(Self.longest(id: id))
        let isLong = try JSONEncoder().encode(id).count > 2 * 208 + 2
        #expect(shown.id == id || shown.id.isEmpty && isLong)
    }

    /// As much of a message is shown as there is room for.
    @Test(arguments: 0..<40) func cutsTheMessage(length: Int) throws {
        var progress = Self.longest(id: String(repeating: "i", count: 60 + length))
        progress.commands = nil
        let message = String(repeating: "Why? ", count: 300)
        progress.waiting?.message = message
        let bytes = progress.encoded()
        #expect(bytes.count == BatchProgress.capacity)
        let shown = try #require(try Self.decoded(progress).waiting?.message)
        #expect(shown.hasSuffix("…") && message.hasPrefix(shown.dropLast()))
    }

    @Test func refusesAnotherVersion() throws {
        var progress = Self.longest(id: "x")
        progress.schemaVersion = 2
        #expect(BatchProgress(decoding: progress.encoded()) == nil)
        #expect(BatchProgress(decoding: []) == nil)
    }

    /// Every key that a progress can have is described in the schema, and the schema has no other.
    @Test func agreesWithItsSchema() throws {
        let schema = try JSONSchema(file: "progress.schema.json")
        let members = schema.members
        #expect(
            try JSONSchema.paths(of: Self.longest(id: "x").encoded()) == Set(members.keys))
        #expect(members["state"]?["enum"] as? [String] == BatchState.allCases.map(\.rawValue))
        #expect(members["priority"]?["enum"] as? [String] == Priority.allCases.map(\.rawValue))
        // What is always there is required.
        var least = BatchProgress(
            of: Status(
                id: "x", manifest: .init(name: "", file: nil, sha256: nil, bytes: 0),
                state: .pending, times: .init(received: Self.time)))
        least.written = Self.time
        let paths = try JSONSchema.paths(of: least.encoded())
        #expect(paths.filter { !$0.contains(".") } == schema.required)
    }
}
