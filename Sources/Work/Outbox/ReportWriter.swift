import DarkroomAnswer
import DarkroomCore
import DarkroomSpool

/// Writes a report of the daemon for its `Pacer`. That this fails is logged once. Nothing waits for these files, so it
/// does not concern the `StorageGuard`.
package struct ReportWriter<Content: Report> {
    private let file: ReportFile<Content>
    private let log: EventLog
    private var hasFailed = false

    package init(root: Directory, log: EventLog) {
        file = ReportFile(root: root)
        self.log = log
    }

    package mutating func write(_ report: Content) -> PacedWrite {
        do {
            try file.write(report)
            hasFailed = false
            return .done
        } catch {
            if !hasFailed { log.reportFailed(error, of: Content.fileName) }
            hasFailed = true
            return .refused
        }
    }
}
