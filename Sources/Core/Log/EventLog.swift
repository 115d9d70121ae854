import Dispatch
import Logging
import Synchronization

/// Writes the journal records of Darkroom. There is one method for each kind of event, so that the words and fields of
/// an event are the same everywhere. Events of manifests and images are also counted here, so that metrics and journal
/// agree.
///
/// Every record passes `say`, which needs an `Event`, so each record has a MESSAGE_ID. The table `Event.form` has the
/// level and the fields of each kind. If many records of a kind come at once, `RecordThrottle` sums them up.
package struct EventLog: Sendable {
    private let logger: Logger
    package let metrics = Metrics()
    private let flow = Flow()

    package init(_ logger: Logger) { self.logger = logger }

    /// The state that is kept between records.
    final class Flow: Sendable {
        /// Separate for each level, so that many normal records do not hide those with a worse result.
        let bursts = Mutex<[Event: [Logger.Level: RecordThrottle]]>([:])
        let progress = Mutex(ProgressThrottle())
    }

    package typealias Fields = [EventField: String]

    /// The key of the event's ID in the metadata of a record; the keys of the fields are their names.
    package static let eventKey = "MESSAGE_ID"

    /// - Parameters:
    ///   - worse: whether the result is worse than usual; such records have a level of their own.
    ///   - fixed: the level of a summary, which is that of its records.
    ///   - batches: the IDs of several batches; the ID of a single batch is in the fields.
    package func say(
        _ event: Event, worse: Bool = false, at fixed: Logger.Level? = nil,
        _ message: @autoclosure () -> String,
        _ fields: @autoclosure () -> Fields = [:], batches: [String] = [], file: String = #fileID,
        function: String = #function, line: UInt = #line
    ) {
        let form = event.form
        let level = fixed ?? (worse ? form.worse ?? form.level : form.level)
        guard logger.logLevel <= level else { return }
        let fields = fields()
        if form.many != nil, !isSentAlone(event, form, fields, level) { return }
        var metadata = Logger.Metadata()
        for (field, value) in fields { metadata[field.name] = .string(value) }
        if !batches.isEmpty {
            metadata[EventField.batch.name] = .array(
                batches.prefix(RecordThrottle.batchesAtOnce).map { .string($0) })
        }
        metadata[Self.eventKey] = .string(event.rawValue)
        logger.log(
            level: level, .init(stringLiteral: message()), metadata: metadata, file: file,
            function: function, line: line)
    }

    // MARK: Many at once

    /// Whether a record is sent by itself; otherwise a summary will count it.
    private func isSentAlone(
        _ event: Event, _ form: EventForm, _ fields: Fields, _ level: Logger.Level
    ) -> Bool {
        let arrival = RecordThrottle.Arrival(
            batch: fields[.batch], reason: form.countedBy.flatMap { fields[$0] },
            images: fields[.count].flatMap { Int($0) } ?? 0,
            failed: fields[.failed].flatMap { Int($0) } ?? 0)
        let verdict = flow.bursts.withLock {
            $0[event, default: [:]][level, default: RecordThrottle()].take(
                arrival, at: Clock.nanoseconds)
        }
        switch verdict {
        case .tell: return true
        case .collected: break
        case .collectedFirst:
            DispatchQueue.global(qos: .utility).asyncAfter(
                deadline: .now() + .nanoseconds(Int(RecordThrottle.interval))
            ) { sumUp(event, level) }
        case .full: sumUp(event, level)
        }
        return false
    }

    /// Sends a summary of the collected records of a kind, if there are any.
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
            .summedUp, at: level,
            "\(batch)\(rest.records) more records within \(seconds), combined into this one: "
                + "\(words)\(images)\(reasons)",
            fields, batches: rest.batches)
    }

    /// Sends the summaries of all kinds.
    package func flush() {
        for event in Event.allCases {
            for level in Logger.Level.allCases { sumUp(event, level) }
        }
    }

    /// Gives access to what was logged about the progress of each batch in work.
    package func withProgress<Value>(
        _ body: (inout ProgressThrottle, _ now: UInt64) -> Value
    ) -> Value {
        flow.progress.withLock { body(&$0, Clock.nanoseconds) }
    }
}
