import CDarkroomSystemd
import DarkroomCore
import Glibc
import Logging

/// The only log handler: it writes structured records to the journal, and readable lines to standard error unless that
/// is connected to the journal.
///
/// Metadata with the name of a field as its key becomes a field; a list becomes one field for each value. Records of
/// libraries, which do not know our events, become records of `Event.said`, so that each has a MESSAGE_ID.
package struct JournalLogHandler: LevelLogHandler {
    package var metadata: Logger.Metadata = [:]
    private let sendsRecords: Bool
    private let alsoWritesLines: Bool

    package init() {
        sendsRecords = getenv(TestDaemon.variable) == nil
        alsoWritesLines = !sendsRecords || !JournalStream.isStandardError
    }

    package func log(event: LogEvent) {
        let all = metadata.merging(event.metadata ?? [:]) { $1 }
        // Names and URLs may contain control characters.
        let message = event.message.description.visible
        if sendsRecords { send(message, event, all) }
        if alsoWritesLines { LogLine.write(message, event.level) }
    }

    // MARK: The journal

    private func send(_ message: String, _ event: LogEvent, _ metadata: Logger.Metadata) {
        var fields = [
            "MESSAGE=\(message)", "PRIORITY=\(Self.priority(event.level))",
            "SYSLOG_IDENTIFIER=darkroomd", "CODE_FILE=\(event.file)", "CODE_LINE=\(event.line)",
            "CODE_FUNC=\(event.function)",
        ]
        fields += Self.fields(of: metadata)
        // sd_journal_sendv writes each field with its length, so values may contain newlines. Without a journal it does
        // nothing and reports success. Therefore the lines are written too.
        var bytes: [UInt8] = []
        var lengths: [Int] = []
        for field in fields {
            lengths.append(field.utf8.count)
            bytes.append(contentsOf: field.utf8)
        }
        bytes.withUnsafeMutableBytes { buffer in
            var vector: [iovec] = []
            var offset = 0
            for length in lengths {
                vector.append(
                    iovec(iov_base: buffer.baseAddress.map { $0 + offset }, iov_len: length))
                offset += length
            }
            _ = sd_journal_sendv(vector, CInt(vector.count))
        }
    }

    /// Waits until the journal has read the records of this process, for at most two seconds.
    ///
    /// journald looks up the unit of a record's sender after it has read the record. If the sender has ended before, the
    /// record has no unit, and `journalctl --unit` does not show it. So a process calls this if its first record may be
    /// its last one.
    package static func waitUntilRecordsAreRead() {
        for _ in 0..<2000 {
            if !hasUnreadRecords { break }
            usleep(1000)
        }
        // For the look-up.
        usleep(20_000)
    }

    /// libsystemd keeps its socket for itself, so this looks at all datagram sockets (unix(7), SIOCOUTQ).
    private static var hasUnreadRecords: Bool {
        (3..<256).contains { descriptor in
            option(SO_DOMAIN, of: descriptor) == AF_UNIX
                && option(SO_TYPE, of: descriptor) == CInt(SOCK_DGRAM.rawValue)
                && unreadBytes(of: descriptor) > 0
        }
    }

    private static func option(_ name: CInt, of socket: CInt) -> CInt? {
        var value: CInt = 0
        var length = socklen_t(MemoryLayout.size(ofValue: value))
        return getsockopt(socket, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
    }

    private static func unreadBytes(of socket: CInt) -> CInt {
        var count: CInt = 0
        // TIOCOUTQ has the number of SIOCOUTQ.
        return ioctl(socket, UInt(TIOCOUTQ), &count) == 0 ? count : 0
    }

    /// Darkroom's own fields, and the event of the record.
    static func fields(of metadata: Logger.Metadata) -> [String] {
        var fields: [String] = []
        for field in EventField.allCases {
            switch metadata[field.name] {
            case .array(let values)?: fields += values.map { "\(field.name)=\($0)" }
            case let value?: fields.append("\(field.name)=\(value)")
            case nil: break
            }
        }
        let event = metadata[EventLog.eventKey].flatMap { Event(rawValue: "\($0)") }
        return fields + ["\(EventLog.eventKey)=\((event ?? .said).rawValue)"]
    }

    /// The level as a number of syslog.
    private static func priority(_ level: Logger.Level) -> Int {
        switch level {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}
