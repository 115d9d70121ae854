import DarkroomAnswer
import DarkroomCore
import DarkroomSpool

/// The part of the inbox that the status line reports: files that stay there until somebody acts.
package struct InboxBacklog: Sendable, Equatable {
    /// Files that are not taken in their present state, by their reasons.
    var refused: [InboxReason: Int] = [:]
    /// Manifests that wait because of `batches.maxWaiting`.
    var overLimit = 0

    /// The reasons that do not end by themselves. An ignored name is not one of them: it may mean "not yet".
    static let lasting: [InboxReason] = [.unreadable, .notAFile, .folder, .picture, .hasActed]

    package init() {}

    init(_ report: InboxReport) {
        for reason in Self.lasting {
            let count = report.counts[reason.rawValue] ?? 0
            if count > 0 { refused[reason] = count }
        }
        overLimit = report.counts[InboxReason.overLimit.rawValue] ?? 0
    }

    /// As parts of the status line.
    var details: [String] {
        var details: [String] = []
        let count = refused.values.reduce(0, +)
        if count > 0 {
            let reasons = Self.lasting.compactMap { reason in
                refused[reason].map { "\($0) \(reason.rawValue)" }
            }
            details.append(
                "\(Words.count(count, "file")) in the inbox cannot be taken "
                    + "(\(reasons.joined(separator: ", ")))")
        }
        if overLimit > 0 {
            details.append(
                "\(Words.count(overLimit, "manifest")) in the inbox over batches.maxWaiting")
        }
        return details
    }
}
