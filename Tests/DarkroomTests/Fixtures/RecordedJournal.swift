import Logging
import Synchronization
import Testing

@testable import DarkroomCore
@testable import DarkroomDaemon

/// Keeps what an event log has said, as the journal would have it.
final class RecordedJournal: Sendable {
    struct Record: Sendable {
        let event: Event?
        let level: Logger.Level
        let message: String
        /// By their names in the journal; a field may have several values.
        let fields: [String: [String]]
        let place: String

        subscript(field: EventField) -> String? { fields[field.name]?.first }

        /// Expects level and fields as the table of forms has them, no secrets, and the place of its words, which is in a file
        /// of `EventLog`.
        func expectItsForm() throws {
            let event = try #require(event)
            let form = event.form
            if event != .summedUp {
                #expect(level == form.level || level == form.worse, "\(event)")
            }
            #expect(!message.isEmpty)
            #expect(!message.contains("pw") && !message.contains("t=1"), "\(event)")
            let names = Set(fields.keys).subtracting([EventLog.eventKey])
            #expect(names.isSuperset(of: form.always.map(\.name)), "\(event)")
            #expect(names.isSubset(of: (form.always + form.sometimes).map(\.name)), "\(event)")
            #expect(Set(form.always).isDisjoint(with: form.sometimes))
            #expect(place.wholeMatch(of: /Darkroom[A-Za-z]+\/EventLog.*/) != nil, "\(place)")
        }
    }

    private let kept = Mutex<[Record]>([])

    var records: [Record] { kept.withLock { $0 } }

    /// Those of one kind.
    func all(_ event: Event) -> [Record] { records.filter { $0.event == event } }

    func log(from level: Logger.Level = .trace) -> EventLog {
        EventLog(Logger(label: "test") { _ in Handler(journal: self, logLevel: level) })
    }

    private struct Handler: LogHandler {
        let journal: RecordedJournal
        var logLevel: Logger.Level
        var metadata = Logger.Metadata()

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            // As the journal is given them.
            var fields: [String: [String]] = [:]
            for field in JournalLogHandler.fields(of: event.metadata ?? [:]) {
                let parts = field.split(
                    separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                fields[String(parts[0]), default: []].append(String(parts[1]))
            }
            let record = Record(
                event: fields[EventLog.eventKey]?.first.flatMap(Event.init), level: event.level,
                message: event.message.description, fields: fields,
                place: "\(event.file):\(event.line) \(event.function)")
            journal.kept.withLock { $0.append(record) }
        }
    }
}
