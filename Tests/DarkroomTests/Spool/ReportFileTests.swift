import Foundation
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomDaemon
@testable import DarkroomFixtures
@testable import DarkroomSpool

final class ReportFileTests: FolderSuite {
    private func report(files count: Int, _ message: String = "") -> InboxReport {
        var report = InboxReport(written: "2026-11-21T08:00:00.000Z")
        // The longest names there are, every byte of which has to be replaced.
        let name = FileName(bytes: [UInt8](repeating: 0xff, count: 255))
        let file = InboxReport.File(name, .overLimit, message, since: "2026-11-21T08:00:00.000Z")
        report.files = [InboxReport.File](repeating: file, count: count)
        for reason in InboxReason.allCases { report.counts[reason.rawValue] = 1 }
        return report
    }

    private func read(_ root: Directory) throws -> InboxReport {
        try JSONDecoder().decode(
            InboxReport.self, from: Data(root.read(ReportFile<InboxReport>.name)))
    }

    @Test func replacesTheReportWhole() throws {
        for count in [0, 1000, 3] {
            try ReportFile(root: folder).write(report(files: count))
            #expect(try read(folder) == report(files: count))
        }
        #expect(
            Set(try folder.names()) == [ReportFile<InboxReport>.name, ReportFile<InboxReport>.next])
        // Whoever may read the spool may read it.
        let mode = try #require(try folder.information(of: ReportFile<InboxReport>.name)).st_mode
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("Umask:") })
        let mask = try #require(
            mode_t(line.dropFirst("Umask:".count).trimmingCharacters(in: .whitespaces), radix: 8))
        #expect(mode & 0o777 == 0o666 & ~mask)
    }

    /// What the daemon before has left of the next report does not matter.
    @Test func writesOverALeftover() throws {
        try folder.write(
            [UInt8](repeating: 1, count: 100_000), to: ReportFile<InboxReport>.next, durably: false)
        try ReportFile(root: folder).write(report(files: 1))
        #expect(try read(folder) == report(files: 1))
    }

    @Test(.enabled(if: SmallDisk.isAvailable, "only root can mount a small file system"))
    func writesOnAFullDisk() throws {
        let disk = try SmallDisk(kilobytes: 1024)
        let root = try Directory(path: disk.root.path)
        let file = ReportFile<InboxReport>(root: root)
        try file.write(report(files: 0))
        try disk.fill(butFor: 0)
        // More than once, and whatever there is to list.
        for count in [0, 1000, 5, 20, 1000, 0] {
            try file.write(report(files: count, "a message of the usual length, more or less"))
            let found = try read(root)
            #expect(found.files.count == min(count, 8))
            #expect(found.total == InboxReason.allCases.count)
        }
        disk.empty()
        try file.write(report(files: 300))
        #expect(try read(root).files.count == 300)
    }
}
