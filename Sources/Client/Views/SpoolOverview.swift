import DarkroomAnswer
import DarkroomCore
import Foundation

/// `darkroom status`: the spool as a whole.
package struct SpoolOverview: Sendable {
    package let spool: String
    package let daemon: DaemonState
    /// What the daemon said last, without the files that are gone since.
    package let inbox: InboxReport?
    /// The number of files that wait in the inbox for a daemon; nil if one is running.
    package let unattendedFiles: Int?
    /// What the daemon said last about hot folders; nil if it has none.
    let folders: FoldersReport?
    let now: Date
    package var zone = TimeZone.current

    package init(of spool: SpoolFolder, now: Date = Date()) throws(ClientError) {
        self.spool = spool.path
        daemon = try DaemonState(of: spool, now: now)
        inbox = spool.inboxReport()?.without { (try? spool.inbox().exists(FileName($0))) == false }
        unattendedFiles =
            daemon.isPresent
            ? nil : (try? spool.inbox().names())?.count { $0.bytes.first != UInt8(ascii: ".") }
        folders = daemon.isPresent ? spool.foldersReport() : nil
        self.now = now
    }

    /// When the present state began; nil if the daemon has not said.
    var since: String? {
        switch daemon.name {
        case .running: daemon.queue?.daemon.started
        case .paused, .waiting: daemon.waiting?.since
        case .stopping: nil
        case .stopped, .killed: daemon.queue?.written ?? inbox?.written
        }
    }

    /// How old the daemon's last report is, in seconds; nil if there is none. It reports a change of its state at once,
    /// one of the batches within about a second, and otherwise every ten seconds.
    var age: Double? {
        daemon.queue.flatMap { Clock.date($0.written) }.map {
            let age = max(0, now.timeIntervalSince($0))
            return (age * 1000).rounded() / 1000
        }
    }

    package var json: String {
        let queue = daemon.queue
        // The files that are not taken.
        let inbox: JSONObject? = inbox.map {
            [
                "watch": $0.watch, "claiming": $0.claiming, "why": $0.why, "counts": $0.counts,
                "files": $0.files, "written": $0.written,
            ]
        }
        return JSONText.indented([
            "type": "status", "state": daemon.name, "since": since, "spool": spool,
            "waiting": daemon.waiting, "daemon": queue?.daemon, "counts": queue?.counts,
            "images": queue?.images, "imagesPerSecond": queue?.imagesPerSecond,
            "bytesPerSecond": queue?.bytesPerSecond, "unresumed": queue?.unresumed,
            "results": queue?.results, "inbox": inbox, "folders": folders?.folders,
            "written": queue?.written, "age": age,
        ])
    }
}

extension SpoolOverview {
    package func lines(on terminal: Terminal) -> [String] {
        let lines = headline(terminal) + work + folderLines + inboxLines(terminal)
        let names =
            [spool.visible] + (folders?.folders ?? []).map(\.path.visible)
            + (inbox?.files ?? []).map { terminal.paint($0.name.visible, .bold) }
        return lines.flatMap {
            $0.wrapped(to: terminal.width, indent: Self.indent(of: $0), keeping: names)
        }
    }

    /// Where the further lines of a wrapped one begin: below its text, which stands behind a label of eleven columns, or
    /// two columns further.
    private static func indent(of line: String) -> Int {
        let labels = ["batches", "images", "results", "left", "folder", "inbox"]
        if labels.contains(where: { line.hasPrefix("  \($0)  ") }) { return 11 }
        return line.prefix { $0 == " " }.count + (line.hasPrefix("           ") ? 0 : 2)
    }

    /// A line for each hot folder, and one for each file in it on which somebody must act.
    private var folderLines: [String] {
        (folders?.folders ?? []).flatMap { folder in
            let reason = folder.message.map { ": \($0.visible)" } ?? ""
            var lines = [
                "  folder   \(folder.path.visible) \(folder.state.rawValue)\(reason), "
                    + "\(Words.count(folder.remembered, "picture")) remembered, "
                    + "\(Words.count(folder.batches, "batch", "batches")) unfinished"
            ]
            let files = folder.files.filter(\.reason.isLasting)
            for file in files {
                lines.append(
                    "    \(file.path.visible): \(file.message.visible) [\(file.reason.rawValue)]")
            }
            if folder.lasting > files.count {
                lines.append("    and \(folder.lasting - files.count) more")
            }
            return lines
        }
    }

    private func headline(_ terminal: Terminal) -> [String] {
        let style: TextStyle =
            switch daemon.name {
            case .running: .green
            case .paused, .waiting, .stopping: .yellow
            case .stopped, .killed: .red
            }
        var line = terminal.paint(daemon.name.rawValue, style)
        if let since {
            let age = Clock.date(since).map { HumanText.age(now.timeIntervalSince($0)) } ?? "?"
            let time = HumanText.time(since, in: zone)
            line +=
                daemon.name == .killed
                ? ", last report \(time) (\(age) ago)" : " since \(time) (\(age))"
        }
        line += ": \(spool.visible)"
        if let process = daemon.queue?.daemon, daemon.isPresent {
            line += ", darkroomd \(process.version.visible), process \(process.process)"
            if daemon.isElsewhere { line += " of another machine" }
            if let age, age >= 2 { line += ", as of \(HumanText.age(age)) ago" }
        }
        let waits = daemon.waiting.map { ["  waits: \($0.message.visible)"] } ?? []
        let end = daemon.name == .paused ? ["  darkroom resume ends the pause"] : []
        return [line] + waits + end
    }

    private var work: [String] {
        guard let queue = daemon.queue else { return [] }
        let counts = queue.counts
        var lines = [
            "  batches  \(counts.processing) \(daemon.isPresent ? "in work" : "begun"), "
                + "\(counts.pending) waiting, \(counts.held) held"
                + (daemon.isPresent || counts.processing + counts.pending == 0
                    ? "" : "; they go on when the daemon starts")
        ]
        let images = queue.images
        var line =
            "  images   \(images.filtered) of \(images.total) done, "
            + (images.warningText.map { "\($0), " } ?? "") + "\(images.failed) failed"
        // What a daemon left in work begins again.
        if daemon.isPresent {
            line += ", \(images.downloading) downloading, \(images.filtering) filtering"
        }
        if daemon.name == .running, let rate = queue.imagesPerSecond {
            line += "; \(HumanText.rate(rate)) images/s"
            if let bytes = queue.bytesPerSecond { line += ", \(HumanText.bytes(bytes))/s" }
        }
        lines.append(line)
        if let results = queue.results {
            lines.append(
                "  results  \(results.hits) of \(results.hits.saturatingAdd(results.misses)) copied, "
                    + "\(HumanText.bytes(Double(results.savedBytes))), since the start; "
                    + "\(results.count) kept, \(HumanText.bytes(Double(results.bytes)))")
        }
        for batch in queue.unresumed ?? [] {
            lines.append(
                "  left     \(batch.id.visible) cannot be continued: \(batch.message.visible) [\(batch.code)]"
            )
        }
        if queue.unresumed?.isEmpty == false {
            lines.append(
                "           Correct what the message names, and restart darkroomd: its start tries again."
            )
        }
        return lines
    }

    private func inboxLines(_ terminal: Terminal) -> [String] {
        if let unattendedFiles {
            return unattendedFiles == 0
                ? [] : ["  inbox    \(Words.count(unattendedFiles, "file")) for the next daemon"]
        }
        guard let inbox else { return [] }
        var lines: [String] = []
        if inbox.watch == .polling {
            lines.append("  inbox    is read every few seconds, because there are no events")
        }
        if let why = inbox.why {
            lines.append("  inbox    no manifest is taken: \(why.message.visible)")
        }
        guard inbox.total > 0 else { return lines }
        lines.append("\(Words.count(inbox.total, "file")) in the inbox not taken:")
        for file in inbox.files {
            let age = Clock.date(file.since).map {
                ", for \(HumanText.age(now.timeIntervalSince($0)))"
            }
            lines.append(
                "  \(terminal.paint(file.name.visible, .bold)): \(file.message.visible)"
                    + " [\(file.reason.rawValue)\(age ?? "")]")
            lines.append("    \(file.help.visible)")
        }
        if inbox.total > inbox.files.count {
            lines.append("  and \(inbox.total - inbox.files.count) more")
        }
        return lines
    }
}

extension InboxReport {
    /// The report without the files for which `isGone` is true. The daemon replaces its report up to a second later.
    fileprivate func without(_ isGone: (String) -> Bool) -> InboxReport {
        var report = self
        // A name that is not UTF-8 is shown by another one.
        for file in files where file.nameBytes == nil && isGone(file.name) {
            report.files.removeAll { $0 == file }
            report.counts.countDown(file.reason.rawValue)
        }
        return report
    }
}
