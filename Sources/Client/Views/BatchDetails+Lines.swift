import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture
import Foundation

extension BatchDetails {
    /// The number of failed images that are shown if nobody asks for them.
    private static let shortList = 10

    package typealias Writer = ([String]) throws(ClientError) -> Void

    /// The text for people, passed on in groups of lines. What needs a look at all images comes last.
    package func lines(on terminal: Terminal, _ write: Writer) throws(ClientError) {
        let facts = facts
        let width = facts.map { DisplayWidth.of($0.name) }.max() ?? 0
        func lines(_ name: String, _ text: String) -> [String] {
            "  \(terminal.paint(name.padded(to: width), .dim))  \(text)".wrapped(
                to: terminal.width, indent: width + 4,
                keeping: [folder.visible, status.manifest.name.visible])
        }
        let id = terminal.paint(batch.id.visible, .bold)
        let state = terminal.paint(batch.state.words, batch.state.style)
        try write(
            "\(id): \(state)".wrapped(to: terminal.width, indent: 2, keeping: [id, state])
                + facts.flatMap { lines($0.name, $0.text) })
        let sums = try all.sums()
        if let metadata = Self.metadataText(sums) { try write(lines("metadata", metadata)) }
        try write(problemLines(terminal))
        try writeImages(sums, terminal, write)
    }

    private var facts: [(name: String, text: String)] {
        var facts: [(String, String)] = []
        if batch.state != .rejected { facts.append(("images", countText)) }
        if let speed { facts.append(("rate", speed)) }
        if let left = batch.secondsLeft, !batch.state.isFinal, daemon.name == .running {
            facts.append(("time left", "about \(HumanText.estimate(left))"))
        }
        if !batch.state.isFinal, let reason = batch.reason(daemon) {
            facts.append(("reason", reason))
        }
        facts.append(("manifest", manifestText))
        facts.append(("priority", batch.priority.rawValue))
        facts += times
        if let retries = batch.retries { facts.append(("retries", "\(retries)")) }
        for command in batch.commands ?? [] {
            facts.append(
                (
                    "command",
                    "\(command.command.rawValue) by \(HumanText.user(command.uid)), \(moment(command.time))"
                ))
        }
        let size = batch.outputBytes > 0 ? ", \(HumanText.bytes(Double(batch.outputBytes)))" : ""
        facts.append(("answer", folder.visible + size))
        return facts
    }

    /// What became of the parts of metadata that somebody may have to account for, if any was to be kept.
    private static func metadataText(_ sums: BatchImages.Sums) -> String? {
        let parts = BatchImages.Sums.Fate.all.compactMap { fate, _ in
            sums.metadata[fate].map { "\(fate.part) \(fate.what) in \(Words.count($0, "image"))" }
        }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    private var countText: String {
        let counts = batch.counts
        var parts = ["\(counts.filtered) of \(counts.total) done"]
        if let warnings = counts.warningText { parts.append(warnings) }
        let others = [
            (counts.failed, "failed"), (counts.cancelled, "cancelled"),
            (counts.filtering, "filtering"), (counts.downloading, "downloading"),
            (counts.downloaded, "downloaded"), (counts.new, "not begun"),
        ]
        parts += others.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return parts.joined(separator: ", ")
    }

    private var speed: String? {
        guard let images = batch.imagesPerSecond, !batch.state.isFinal else { return nil }
        let bytes = batch.bytesPerSecond.map { ", \(HumanText.bytes($0))/s" } ?? ""
        return "\(HumanText.rate(images)) images/s\(bytes)"
    }

    private var manifestText: String {
        let manifest = status.manifest
        return "\(manifest.name.visible), \(HumanText.bytes(Double(manifest.bytes))), "
            + "submitted by \(HumanText.user(batch.uid))"
    }

    private var times: [(String, String)] {
        let times = batch.times
        var lines = [("received", moment(times.received))]
        if let started = times.started { lines.append(("started", moment(started))) }
        if let finished = times.finished {
            let duration = BatchDuration(times, batch.commands).map { ", after \($0.words)" }
            lines.append(("finished", moment(finished) + (duration ?? "")))
        }
        return lines
    }

    /// A time, and how long ago that is.
    private func moment(_ timestamp: String) -> String {
        guard let date = Clock.date(timestamp) else { return timestamp.visible }
        return
            "\(HumanText.time(timestamp, in: zone)) (\(HumanText.age(now.timeIntervalSince(date))) ago)"
    }

    /// The problems of a rejected manifest, with their places as compilers write them.
    private func problemLines(_ terminal: Terminal) -> [String] {
        guard let errors = status.errors, !errors.isEmpty else { return [] }
        return ["\(Words.count(errors.count, "problem")) of the manifest:"]
            + errors.flatMap { problem in
                let file = status.manifest.name
                return "  \(problem.line(in: file).visible)".wrapped(
                    to: terminal.width, indent: 4, keeping: [file.visible])
            }
    }

    private func writeImages(
        _ sums: BatchImages.Sums, _ terminal: Terminal, _ write: Writer
    ) throws(ClientError) {
        switch images {
        case .all:
            try writeTable(hasQuality: sums.chosen > 0, terminal, write)
            try writeFailures(sums.failed, .max, terminal, write)
            try writeWarnings(sums.warned, terminal, write)
        case .warned: try writeWarnings(sums.warned, terminal, write)
        case .failed: try writeFailures(sums.failed, .max, terminal, write)
        case .firstFailed:
            try writeFailures(sums.failed, Self.shortList, terminal, write)
            try write(warningHint(terminal))
        }
    }

    /// The images with warnings, each warning in a line of its own.
    private func writeWarnings(
        _ count: Int, _ terminal: Terminal, _ write: Writer
    ) throws(ClientError) {
        guard count > 0 else { return }
        var lines = ["\(Words.count(count, "image")) with warnings:"]
        try all.each(.warned) { image throws(ClientError) in
            let name = image.name.visible
            lines += (image.warnings ?? []).flatMap {
                "  \(name): \($0.visible)".wrapped(to: terminal.width, indent: 4, keeping: [name])
            }
            try Self.passOn(&lines, write)
        }
        try write(lines)
    }

    private static func passOn(_ lines: inout [String], _ write: Writer) throws(ClientError) {
        guard lines.count >= tableRows else { return }
        try write(lines)
        lines = []
    }

    private func warningHint(_ terminal: Terminal) -> [String] {
        guard batch.counts.warned > 0 else { return [] }
        let command = "darkroom show \(argument) --warnings"
        return "Warnings: \(command)".wrapped(to: terminal.width, indent: 2, keeping: [command])
    }

    /// The rows that are laid out, and the lines that are written, at once.
    private static let tableRows = 4096

    /// - Parameter hasQuality: whether the quality of an image was chosen.
    private func writeTable(
        hasQuality: Bool, _ terminal: Terminal, _ write: Writer
    ) throws(ClientError) {
        let columns: [TextTable.Column] = [
            .init("IMAGE"), .init("STATE"),
            .init("PIXELS", isNumber: true, dispensability: 1),
            .init("BYTES", isNumber: true, dispensability: 2),
            .init("TIME", isNumber: true, dispensability: 3),
            .init("FILE", dispensability: 4),
        ]
        let chosen: [TextTable.Column] = [
            .init("QUALITY", isNumber: true, dispensability: 5),
            .init("SSIM", isNumber: true, dispensability: 6),
        ]
        var table = TextTable(columns + (hasQuality ? chosen : []))
        try all.each(.all) { image throws(ClientError) in
            table.append(Self.cells(image) + (hasQuality ? Self.qualityCells(image) : []))
            if table.count == Self.tableRows { try write(table.takeLines(on: terminal)) }
        }
        try write(table.takeLines(on: terminal))
    }

    private static func file(of image: ImageStatus) -> String {
        guard let file = image.output?.file else {
            return image.published == false ? "not published" : "-"
        }
        let delivered = image.deliveredTo.map { ", \($0.value.visible)" } ?? ""
        let original = image.originalAt.map { ", original: \($0.value.visible)" } ?? ""
        return file + delivered + original
    }

    /// The chosen quality, and the similarity that it has.
    private static func qualityCells(_ image: ImageStatus) -> [TextTable.Cell] {
        [
            .init(image.output?.quality.map { "\($0)" } ?? "-"),
            .init(image.output?.ssim.map { "\($0)" } ?? "-"),
        ]
    }

    private static func cells(_ image: ImageStatus) -> [TextTable.Cell] {
        let time = image.milliseconds.downloading.saturatingAdd(image.milliseconds.filtering)
        return [
            .init(image.name),
            .init(
                image.state.rawValue + (image.made.map { " (\($0.rawValue))" } ?? ""),
                image.state == .failed ? .red : nil),
            .init(image.output.map { "\($0.width)x\($0.height)" } ?? "-"),
            .init(image.output.map { "\($0.bytes)" } ?? "-"),
            .init(image.attempts == 0 ? "-" : "\(time)ms"),
            .init(file(of: image)),
        ]
    }

    private func writeFailures(
        _ count: Int, _ limit: Int, _ terminal: Terminal, _ write: Writer
    ) throws(ClientError) {
        guard count > 0 else { return }
        var lines = ["\(Words.count(count, "failed image")):"]
        var remedy = Remedy()
        let isRemoved = try isRemoved()
        try all.each(.failed) { image throws(ClientError) in
            remedy.add(image, isRemoved: isRemoved(image))
            guard remedy.count <= limit else { return }
            let reason =
                image.error.map { "\($0.message.visible) [\($0.code.visible)]" }
                ?? "no reason is known"
            let help = image.error?.isTransient == true ? "; a retry may help" : ""
            let name = image.name.visible
            lines += "  \(name): \(reason)\(help)".wrapped(
                to: terminal.width, indent: 4, keeping: [name])
            try Self.passOn(&lines, write)
        }
        if count > limit {
            let command = "darkroom show \(argument) --failed"
            lines += "  and \(count - limit) more: \(command)".wrapped(
                to: terminal.width, indent: 4, keeping: [command])
        }
        if batch.state.isFinal { lines += remedyLines(remedy, terminal) }
        try write(lines)
    }

    /// What may help the failed images.
    private struct Remedy {
        var count = 0
        /// The failed images whose picture is still there.
        var possible = 0
        /// The possible ones that a retry may help.
        var helped = 0
        var lacksCodec = false

        mutating func add(_ image: ImageStatus, isRemoved: Bool) {
            count += 1
            guard !isRemoved else { return }
            possible += 1
            if image.error?.isTransient == true { helped += 1 }
            if image.error?.code == PictureError.Code.codecMissing.rawValue { lacksCodec = true }
        }
    }

    private func remedyLines(_ remedy: Remedy, _ terminal: Terminal) -> [String] {
        let retry = isRun ? "darkroom run with --retry" : "darkroom retry \(batch.id.shellQuoted)"
        let text =
            switch remedy.helped {
            case 0 where remedy.possible == 0:
                "A retry cannot help, because the pictures of this batch are removed. Submit better ones, or put them into the hot folder again."
            case 0 where lacksPictures:
                "The pictures that came with this batch are removed: submit them again. A retry repeats only what darkroomd can still read: \(retry)"
            case 0 where remedy.lacksCodec: "After the missing package is installed: \(retry)"
            case 0: "First correct the cause. Then: \(retry)"
            case remedy.count: "A retry may help: \(retry)"
            default: "A retry may help \(remedy.helped) of them: \(retry)"
            }
        return text.wrapped(to: terminal.width, indent: 2, keeping: [retry])
    }

    /// Tells of an image whether its picture came with the manifest, and so was removed when the batch ended. Only the
    /// daemon knows this of an absolute path.
    private func isRemoved() throws(ClientError) -> (ImageStatus) -> Bool {
        guard lacksPictures else { return { _ in false } }
        var origins: [ByteString: (from: String?, source: String?)] = [:]
        try all.each(.all) { origins[ByteString($0.name)] = ($0.from, $0.source) }
        return { [origins] image in
            var (from, source) = (image.from, image.source)
            // An altered status may have a circle.
            var seen: Set<ByteString> = []
            while let name = from.map({ ByteString($0) }), seen.insert(name).inserted,
                let other = origins[name]
            {
                (from, source) = other
            }
            guard let source else { return false }
            return SourceReference.isPath(source) && source.utf8.first != UInt8(ascii: "/")
        }
    }

    /// What names the batch on a command line.
    private var argument: String { isRun ? folder.shellQuoted : batch.id.shellQuoted }
}
