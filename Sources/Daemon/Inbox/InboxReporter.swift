import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Glibc

/// What the intake remembers for `spool/inbox.json` and for the number of missed events. A value without files or
/// queues; it is used on the intake's queue only.
struct InboxReporter {
    var lastScan: String?

    /// What the file says.
    var last: InboxReport?
    /// For each listed file, why it is there and since when.
    private var known: [FileName: (reason: InboxReason, since: String)] = [:]
    /// The inbox's modification time before the last listing; nil if it may have changed during the listing.
    var listed: FileIdentity?

    // MARK: The report

    /// Describes the files of these names. `judge` returns why each is there, and nil for a file that is being taken.
    mutating func report(
        _ names: [FileName], at time: String,
        judge: (FileName) -> (reason: InboxReason, message: String)?
    ) -> InboxReport {
        var report = InboxReport(written: time)
        for reason in InboxReason.allCases { report.counts[reason.rawValue] = 0 }
        var groups: [InboxReason: [(name: FileName, message: String)]] = [:]
        for name in names {
            guard let (reason, message) = judge(name) else { continue }
            report.counts[reason.rawValue, default: 0] += 1
            guard groups[reason, default: []].count < InboxReport.capacity else { continue }
            groups[reason, default: []].append((name, message))
        }
        var listed: [FileName: (reason: InboxReason, since: String)] = [:]
        for reason in InboxReason.allCases {
            let room = InboxReport.capacity - report.files.count
            let group = (groups[reason] ?? []).prefix(room)
            let sorted = group.sorted { $0.name < $1.name }
            for (name, message) in sorted {
                let before = known[name]
                let since = before?.reason == reason ? before?.since ?? time : time
                listed[name] = (reason, since)
                report.files.append(InboxReport.File(name, reason, message, since: since))
            }
        }
        known = listed
        return report
    }
}

extension InboxReport.File {
    init(_ file: FileName, _ reason: InboxReason, _ message: String, since: String) {
        let text = file.text
        let isWhole = Array(text.utf8) == file.bytes
        self.init(
            name: text, nameBytes: isWhole ? nil : Hexadecimal.text(of: file.bytes), reason: reason,
            message: message, since: since, help: reason.help)
    }
}
