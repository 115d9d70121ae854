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
    let metrics = Metrics()
    private let flow = Flow()

    package init(_ logger: Logger) {
        self.logger = logger
    }

    /// What is remembered from one record to the next.
    final class Flow: Sendable {
        /// Those that went less well are not drowned by those that went well.
        let bursts = Mutex<[Event: [Logger.Level: Burst]]>([:])
        let stories = Mutex(Stories())
    }

    typealias Fields = [EventField: String]

    /// The key of the event's id in a record's metadata; those of the fields are their names.
    package static let eventKey = "MESSAGE_ID"

    /// - Parameters:
    ///   - worse: whether it went less well, which has a level of its own.
    ///   - kin: of a summary, the level of what it sums up.
    ///   - batches: the IDs of several batches that it concerns; of one the fields have it.
    func say(
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
            "\(batch)\(rest.records) more within \(seconds), too many to tell one by one: "
                + "\(words)\(images)\(reasons)",
            fields, batches: rest.batches)
    }

    /// Tells what has been collected of every kind.
    func flush() {
        for event in Event.allCases {
            for level in Logger.Level.allCases { sumUp(event, level) }
        }
    }

    /// What has been told of the batches in work.
    func withStories<Value>(_ body: (inout Stories, _ now: UInt64) -> Value) -> Value {
        flow.stories.withLock { body(&$0, Clock.nanoseconds) }
    }

    // MARK: The daemon

    package func started(version: String, spool: String, paused: Bool) {
        say(
            .started,
            "Darkroom \(version) watches \(spool)\(paused ? ", paused as it was left" : "")")
    }

    /// - Parameter message: names what is wrong, with its place; of several things one a line.
    package func notStarted(_ message: String, code: String) {
        let lines = message.split(separator: "\n").joined(separator: "; ")
        say(.notStarted, "darkroomd does not start: \(lines)", [.error: code])
    }

    package func configured(_ summary: String) { say(.configured, summary) }

    package func warned(_ warning: ConfigurationWarning) {
        let event: Event =
            switch warning.kind {
            case .rootMissing: .rootMissing
            case .headersExposed: .headersExposed
            }
        say(event, warning.message, [.file: warning.path])
    }

    package func reloadRefused(_ reason: String) {
        say(.reloadRefused, "The configuration stays as it was: \(reason)")
    }

    /// - Parameter batches: those in work and waiting, whose stories it is part of; so, too, in what follows.
    package func stopping(signal: String, running: Int, batches: [String]) {
        say(
            .stopping, "Stopping (\(signal)): \(Words.count(running, "operation")) finishing",
            batches: batches)
    }

    /// A second signal has come, and what runs is not waited for any more.
    func stopHurried(signal: String, running: Int) {
        say(
            .stopHurried,
            "\(signal) again: not waiting for \(Words.count(running, "operation")) any more; what is broken off "
                + "is done again after the next start", [.count: "\(running)"])
    }

    /// The time for stopping is over, and what runs is not waited for any more.
    func stopTimedOut(after seconds: Double, running: Int) {
        let time = Words.time(microseconds: UInt64(clamping: seconds * 1e6))
        say(
            .stopTimedOut,
            "stop.timeout (\(time)) is over: \(Words.count(running, "operation")) still at work broken off, to be "
                + "done again after the next start", [.count: "\(running)"])
    }

    /// Also tells what had been collected to be summed up.
    package func stopped(unfinished: Int) {
        flush()
        say(
            .stopped,
            unfinished == 0
                ? "Stopped; nothing is left to do"
                : "Stopped; \(Words.count(unfinished, "unfinished batch", "unfinished batches")) "
                    + "will be resumed at the next start")
    }

    package func paused(batches: [String]) {
        say(.paused, "Paused (SIGUSR1): nothing new starts until SIGUSR2", batches: batches)
    }

    package func resumed(batches: [String]) {
        say(.resumed, "Resumed (SIGUSR2): work goes on", batches: batches)
    }
}
