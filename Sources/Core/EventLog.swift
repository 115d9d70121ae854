import Dispatch
import Logging
import Synchronization

/// What Darkroom has to say, one method a kind of event, so that the words and fields of an event are the
/// same wherever it comes from. What it says of manifests and images it also counts, so that the metrics and
/// the journal agree.
///
/// Every record goes through `say`, which wants an `Event`: there is none without a MESSAGE_ID. A kind's level and
/// fields are in the table of `Event.form`; where many of a kind come at once, `Burst` sums them up.
package struct EventLog: Sendable {
    private let logger: Logger
    package let metrics = Metrics()
    private let flow = Flow()

    package init(_ logger: Logger) {
        self.logger = logger
    }

    /// What is remembered from one record to the next.
    final class Flow: Sendable {
        /// Those that went less well are not drowned by those that went well.
        let bursts = Mutex<[Event: [Logger.Level: Burst]]>([:])
        let stories = Mutex(ProgressThrottle())
    }

    package typealias Fields = [EventField: String]

    /// The key of the event's id in a record's metadata; those of the fields are their names.
    package static let eventKey = "MESSAGE_ID"

    /// - Parameters:
    ///   - worse: whether it went less well, which has a level of its own.
    ///   - kin: of a summary, the level of what it sums up.
    ///   - batches: the IDs of several batches that it concerns; of one the fields have it.
    package func say(
        _ event: Event, worse: Bool = false, as kin: Logger.Level? = nil,
        _ message: @autoclosure () -> String,
        _ fields: @autoclosure () -> Fields = [:], batches: [String] = [], file: String = #fileID,
        function: String = #function, line: UInt = #line
    ) {
        let form = event.form
        let level = kin ?? (worse ? form.worse ?? form.level : form.level)
        guard logger.logLevel <= level else { return }
        let fields = fields()
        if form.many != nil, !isToldAlone(event, form, fields, level) { return }
        var metadata = Logger.Metadata()
        for (field, value) in fields { metadata[field.name] = .string(value) }
        if !batches.isEmpty {
            metadata[EventField.batch.name] = .array(
                batches.prefix(Burst.batchesAtOnce).map { .string($0) })
        }
        metadata[Self.eventKey] = .string(event.rawValue)
        logger.log(
            level: level, .init(stringLiteral: message()), metadata: metadata, file: file,
            function: function, line: line)
    }

    // MARK: Many at once

    private func isToldAlone(
        _ event: Event, _ form: EventForm, _ fields: Fields, _ level: Logger.Level
    ) -> Bool {
        let arrival = Burst.Arrival(
            batch: fields[.batch], reason: form.countedBy.flatMap { fields[$0] },
            images: fields[.count].flatMap { Int($0) } ?? 0,
            failed: fields[.failed].flatMap { Int($0) } ?? 0)
        let verdict = flow.bursts.withLock {
            $0[event, default: [:]][level, default: Burst()].take(arrival, at: Clock.nanoseconds)
        }
        switch verdict {
        case .tell: return true
        case .collected: break
        case .collectedFirst:
            DispatchQueue.global(qos: .utility).asyncAfter(
                deadline: .now() + .nanoseconds(Int(Burst.interval))
            ) { sumUp(event, level) }
        case .full: sumUp(event, level)
        }
        return false
    }

    /// Tells what has been collected of a kind, if anything has.
    private func sumUp(_ event: Event, _ level: Logger.Level) {
        guard let rest = flow.bursts.withLock({ $0[event]?[level]?.takeRest() ?? nil }) else {
            return
        }
        let words = event.form.many ?? event.name
        let images = rest.images > 0 ? ", of \(Words.count(rest.images, "image"))" : ""
        let reasons = rest.reasons.isEmpty ? "" : " (\(Words.reasons(rest.reasons)))"
        let seconds = Words.time(microseconds: (Clock.nanoseconds - rest.since) / 1000)
        var fields: Fields = [.event: event.name, .count: "\(rest.records)"]
        if rest.failed > 0 { fields[.failed] = "\(rest.failed)" }
        let batch = rest.batches.count == 1 ? "\(rest.batches[0]): " : ""
        say(
            .summedUp, as: level,
            "\(batch)\(rest.records) more records within \(seconds), combined into this one: "
                + "\(words)\(images)\(reasons)",
            fields, batches: rest.batches)
    }

    /// Tells what has been collected of every kind.
    package func flush() {
        for event in Event.allCases {
            for level in Logger.Level.allCases { sumUp(event, level) }
        }
    }

    /// What has been told of the batches in work.
    package func withStories<Value>(_ body: (inout ProgressThrottle, _ now: UInt64) -> Value)
        -> Value
    {
        flow.stories.withLock { body(&$0, Clock.nanoseconds) }
    }
}
