import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import Foundation

/// `darkroom list`: one line for each batch.
package struct BatchList: Sendable {
    package struct Selection: Sendable, Equatable {
        /// Whether finished batches are listed, too.
        package var all = false
        /// The states of the batches that are listed; empty for any.
        package var states: Set<BatchState> = []
        /// If not nil, unfinished batches are listed, and those that ended after this time.
        package var since: Date?

        package init(all: Bool = false, states: Set<BatchState> = [], since: Date? = nil) {
            self.all = all
            self.states = states
            self.since = since
        }

        var wantsFinished: Bool {
            states.isEmpty ? all || since != nil : states.contains(where: \.isFinal)
        }

        func contains(_ batch: BatchProgress) -> Bool {
            if !states.isEmpty, !states.contains(batch.state) { return false }
            guard batch.state.isFinal else { return true }
            if let since {
                return batch.times.finished.flatMap(Clock.date).map { $0 >= since } ?? false
            }
            return all || !states.isEmpty
        }
    }

    package private(set) var rows: [Row] = []
    package private(set) var errors: [ClientError] = []

    package init(
        of spool: SpoolFolder, _ selection: Selection, now: Date = Date()
    ) throws(ClientError) {
        let daemon = try DaemonState(of: spool, now: now)
        let outbox = try spool.outbox()
        for id in try spool.batchIDs() {
            if !selection.wantsFinished, Self.hasEnded(id, in: outbox) { continue }
            do throws(ClientError) {
                guard let batch = try spool.summary(of: id), selection.contains(batch) else {
                    continue
                }
                let problem = batch.state == .rejected ? try spool.firstProblem(of: id) : nil
                rows.append(Row(batch, batch.reason(daemon, problem: problem), now: now))
            } catch {
                errors.append(error)
            }
        }
        rows.sort {
            ($0.batch.times.received, $0.batch.id) < ($1.batch.times.received, $1.batch.id)
        }
    }

    /// Whether the batch has ended for sure, without a look at the rest of its file: a spool may have 100,000 ended
    /// batches and few others.
    private static func hasEnded(_ id: String, in outbox: Directory) -> Bool {
        let file: FileName = "\(id)/progress.json"
        guard let bytes = try? outbox.read(file, upTo: BatchProgress.capacity),
            // In JSON, no string contains a quotation mark, so this is the key.
            let state = bytes.firstRange(of: Array(#""state":""#.utf8)),
            let end = bytes[state.upperBound...].firstIndex(of: UInt8(ascii: "\"")),
            BatchState(rawValue: String(decoding: bytes[state.upperBound..<end], as: UTF8.self))?
                .isFinal == true
        else { return false }
        // A batch that is being reopened has a newer status.
        return (try? AnswerStamp(of: FileName(id), in: outbox))?.hasPresentProgress == true
    }

    package func lines(on terminal: Terminal) -> [String] {
        guard !rows.isEmpty else { return [] }
        var table = TextTable([
            .init("ID"), .init("STATE"), .init("DONE", isNumber: true, dispensability: 1),
            .init("FAILED", isNumber: true, dispensability: 2),
            .init("PRIORITY", dispensability: 6), .init("USER", dispensability: 5),
            .init("AGE", isNumber: true, dispensability: 4),
            .init("REASON", minimum: 12, comfortable: 24, dispensability: 3),
        ])
        for row in rows { table.append(row.cells) }
        return table.lines(on: terminal)
    }

    package var jsonLines: [String] {
        let summary: JSONObject = [
            "type": "summary", "batches": rows.count,
            "states": Dictionary(grouping: rows, by: \.batch.state.rawValue).mapValues(\.count),
            "unreadable": errors.count, "exit": (errors.first?.exit ?? .success).rawValue,
        ]
        return rows.map { JSONText.line($0.json) } + [JSONText.line(summary)]
    }

    package struct Row: Sendable {
        package let batch: BatchProgress
        package let reason: String?
        /// The seconds since it was received.
        package let age: Double

        init(_ batch: BatchProgress, _ reason: String?, now: Date) {
            self.batch = batch
            self.reason = reason
            let received = Clock.date(batch.times.received) ?? now
            age = (max(0, now.timeIntervalSince(received)) * 1000).rounded() / 1000
        }

        fileprivate var json: JSONObject {
            JSONObject(["reason": reason, "age": age], with: batch.json)
        }

        fileprivate var cells: [TextTable.Cell] {
            let (state, counts) = (batch.state, batch.counts)
            // A rejected manifest has no images.
            let hasImages = state != .rejected
            return [
                .init(batch.id, .bold), .init(state.rawValue, state.style, short: state.shortWord),
                .init(hasImages ? "\(counts.filtered)/\(counts.total)" : "-"),
                .init(hasImages ? "\(counts.failed)" : "-", counts.failed > 0 ? .red : nil),
                .init(batch.priority.rawValue), .init(batch.uid.map { HumanText.user($0) } ?? "-"),
                .init(HumanText.age(age)), .init(reason ?? counts.warningText ?? "-"),
            ]
        }
    }
}

extension BatchProgress {
    /// What programs are told of each batch.
    var json: JSONObject {
        [
            "type": "batch", "id": id, "state": state, "priority": priority, "uid": uid,
            "user": uid.map { HumanText.user($0) }, "counts": counts, "times": times,
            "imagesPerSecond": imagesPerSecond, "secondsLeft": secondsLeft, "waiting": waiting,
        ]
    }
}

extension SpoolFolder {
    fileprivate func firstProblem(of id: String) throws(ClientError) -> ManifestProblem? {
        guard let folder = try folder(of: id) else { return nil }
        return try frame(in: folder)?.errors?.first
    }
}
