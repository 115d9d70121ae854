import DarkroomAnswer
import DarkroomCore
import Foundation

extension EventLog {
    // MARK: Retention

    func expired(id: String, finished: String, bytes: Int) {
        say(
            .entryExpired, "outbox/\(id) removed: finished \(finished), \(Units.bytes(bytes))",
            [.batch: id, .bytes: "\(bytes)"])
    }

    /// The sum of removals that were not logged individually.
    func expired(entries: Int, bytes: Int) {
        say(
            .entriesExpired,
            "\(entries) finished batches removed from the outbox, \(Units.bytes(bytes))",
            [.bytes: "\(bytes)", .count: "\(entries)"])
    }

    /// A batch that is old enough is not removed.
    package func kept(_ name: String, because reason: String) {
        say(.entryKept, "outbox/\(name) is not removed: \(reason)", [.batch: name])
    }

    /// The clock is not trusted, so nothing is removed by age.
    ///
    /// - Parameter program: the time of the program's file, in seconds since 1970.
    package func clockDoubted(_ doubt: ClockTrust.Doubt, program: Double) {
        func time(_ seconds: Double) -> String {
            Words.time(microseconds: UInt64(min(max(0, seconds), 1e12) * 1e6))
        }
        switch doubt {
        case .beforeProgram:
            let made = Clock.timestamp(Date(timeIntervalSince1970: program))
            say(
                .clockDoubted, worse: true,
                "Nothing is removed by age until the clock is correct, and for one day more: it shows "
                    + "\(Clock.timestamp), but this program was built at \(made)")
        case .ahead(let seconds):
            say(
                .clockDoubted, worse: true,
                "Nothing is removed by age for a day, or until the clock is set back: the clock has "
                    + "jumped ahead by \(time(seconds))")
        case .longAfter(let seconds):
            say(
                .clockDoubted,
                "Nothing is removed by age for a quarter of an hour: the last check of the clock was "
                    + "\(time(seconds)) ago, before the machine was started, and the clock may not be "
                    + "correct yet")
        }
    }

    package func clockBelieved() {
        say(.clockDoubted, "Removal by age continues: the clock is trusted again")
    }

    // MARK: Orphans

    package func orphan(_ name: String, left reason: String) {
        say(.orphanFound, "active/\(name) is not touched: \(reason)", [.file: name])
    }

    package func leftoversRemoved(_ count: Int) {
        orphansRemoved(
            count,
            "\(Words.count(count, "expired batch", "expired batches")) removed from active/, where a previous "
                + "process had left them")
    }

    package func endedFoldersRemoved(_ count: Int) {
        orphansRemoved(
            count,
            "\(Words.count(count, "folder")) of ended batches removed from active/, which the submitters had kept from "
                + "being removed")
    }

    package func exactManifestsRemoved(_ count: Int) {
        orphansRemoved(
            count,
            "\(Words.count(count, "manifest")) removed from private/, whose answers are gone from the "
                + "outbox")
    }

    package func orphan(_ name: String, removed reason: String) {
        orphansRemoved(1, "active/\(name) removed: \(reason)")
    }

    private func orphansRemoved(_ count: Int, _ words: String) {
        if count > 0 { say(.orphanRemoved, words, [.count: "\(count)"]) }
    }

    package func staleUploads(_ stale: StaleUploads, hours: Int) {
        say(
            .uploadsStale,
            "\(Words.count(stale.count, "file")) in tmp/, \(Units.bytes(stale.bytes)), unchanged for \(hours) hours or "
                + "longer; the oldest is \(stale.oldest ?? "")",
            [.bytes: "\(stale.bytes)", .count: "\(stale.count)"])
    }

    package func stagedFoldersRemoved(_ count: Int) {
        orphansRemoved(
            count,
            "\(Words.count(count, "folder")) in tmp/ removed, whose submitters were killed before they were "
                + "complete")
    }

    package func uploadsRemoved(_ count: Int, bytes: Int) {
        say(
            .uploadsRemoved,
            "\(Words.count(count, "file")) in tmp/ removed, \(Units.bytes(bytes)): unchanged for longer than retention.tmp",
            [.bytes: "\(bytes)", .count: "\(count)"])
    }
}
