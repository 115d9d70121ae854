import DarkroomClient
import DarkroomCore
import Glibc

/// Writes what a sender tells: calls to standard output, everything else to standard error.
struct NotificationReport {
    /// The calls for one end; 0 for no limit.
    let limit: Int
    /// Whether standard error is the journal, where a number before a line is its priority.
    private let isJournal = JournalStream.isStandardError

    init(limit: Int) {
        self.limit = limit
    }

    func tell(_ event: NotificationEvent) throws(ClientError) {
        if case .called(let end) = event { return try Console.line(end.progress.result) }
        guard let sentence = event.sentence(limit: limit) else { return }
        guard isJournal else { return Console.complain(sentence) }
        let priority = event.isWarning ? 4 : 6
        try? Console.write("<\(priority)>\(sentence.visible)\n", to: STDERR_FILENO)
    }
}
