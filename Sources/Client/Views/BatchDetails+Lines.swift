import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomPicture
import Foundation

extension BatchDetails {
    /// The number of failed images that are shown if nobody asks for them.
    private static let shortList = 10

    /// The text for people.
    package func lines(on terminal: Terminal) -> [String] {
        let width = facts.map { DisplayWidth.of($0.name) }.max() ?? 0
        let id = terminal.paint(batch.id.visible, .bold)
        let state = terminal.paint(batch.state.words, batch.state.style)
        var lines = "\(id): \(state)".wrapped(to: terminal.width, indent: 2, keeping: [id, state])
        for (name, text) in facts {
            lines += "  \(terminal.paint(name.padded(to: width), .dim))  \(text)".wrapped(
                to: terminal.width, indent: width + 4,
                keeping: [folder.visible, status.manifest.name.visible])
        }
        return lines + problemLines(terminal) + imageLines(terminal)
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
                let place = [problem.line, problem.column].compactMap { $0 }.map { ":\($0)" }
                    .joined()
                let path = problem.path.isEmpty ? "" : "\(problem.path.visible): "
                let help = problem.suggestion.map { "; did you mean \($0.visible)?" } ?? ""
                let file = status.manifest.name.visible
                let line =
                    "  \(file)\(place): \(path)\(problem.message.visible)"
                    + " [\(problem.code.visible)]\(help)"
                return line.wrapped(to: terminal.width, indent: 4, keeping: [file])
            }
    }

    private func imageLines(_ terminal: Terminal) -> [String] {
        if images == .all {
            return table(status.images).lines(on: terminal) + failureLines(.max, terminal)
                + warningLines(terminal)
        }
        if images == .warned { return warningLines(terminal) }
        let failures = failureLines(images == .failed ? .max : Self.shortList, terminal)
        return images == .firstFailed ? failures + warningHint(terminal) : failures
    }

    /// The images with warnings, each warning in a line of its own.
    private func warningLines(_ terminal: Terminal) -> [String] {
        let warned = status.images.filter(\.isWarned)
        guard !warned.isEmpty else { return [] }
        return ["\(Words.count(warned.count, "image")) with warnings:"]
            + warned.flatMap { image in
                let name = image.name.visible
                return (image.warnings ?? []).flatMap {
                    "  \(name): \($0.visible)".wrapped(
                        to: terminal.width, indent: 4, keeping: [name])
                }
            }
    }

    /// What lists the warnings.
    private func warningHint(_ terminal: Terminal) -> [String] {
        guard batch.counts.warned > 0 else { return [] }
        let command = "darkroom show \(argument) --warnings"
        return "Warnings: \(command)".wrapped(to: terminal.width, indent: 2, keeping: [command])
    }

    private func table(_ images: [ImageStatus]) -> TextTable {
        var table = TextTable([
            .init("IMAGE"), .init("STATE"),
            .init("PIXELS", isNumber: true, dispensability: 1),
            .init("BYTES", isNumber: true, dispensability: 2),
            .init("TIME", isNumber: true, dispensability: 3),
            .init("FILE", dispensability: 4),
        ])
        for image in images {
            let time = image.milliseconds.downloading.saturatingAdd(image.milliseconds.filtering)
            table.append([
                .init(image.name), .init(image.state.rawValue, image.state == .failed ? .red : nil),
                .init(image.output.map { "\($0.width)x\($0.height)" } ?? "-"),
                .init(image.output.map { "\($0.bytes)" } ?? "-"),
                .init(image.attempts == 0 ? "-" : "\(time)ms"),
                .init(image.output?.file ?? (image.published == false ? "not published" : "-")),
            ])
        }
        return table
    }

    private func failureLines(_ limit: Int, _ terminal: Terminal) -> [String] {
        let failed = status.images.filter { $0.state == .failed }
        guard !failed.isEmpty else { return [] }
        var lines = ["\(Words.count(failed.count, "failed image")):"]
        for image in failed.prefix(limit) {
            let reason =
                image.error.map { "\($0.message.visible) [\($0.code.visible)]" }
                ?? "no reason is known"
            let help = image.error?.isTransient == true ? "; a retry may help" : ""
            let name = image.name.visible
            lines += "  \(name): \(reason)\(help)".wrapped(
                to: terminal.width, indent: 4, keeping: [name])
        }
        if failed.count > limit {
            let command = "darkroom show \(argument) --failed"
            lines += "  and \(failed.count - limit) more: \(command)".wrapped(
                to: terminal.width, indent: 4, keeping: [command])
        }
        return batch.state.isFinal ? lines + remedy(failed, terminal) : lines
    }

    private func remedy(_ failed: [ImageStatus], _ terminal: Terminal) -> [String] {
        let isRemoved = isRemoved
        let possible = failed.filter { !isRemoved($0) }
        let helped = possible.count { $0.error?.isTransient == true }
        let retry =
            isRun
            ? "darkroom run with --retry" : "darkroom retry \(batch.id.shellQuoted)"
        let text =
            switch helped {
            case 0 where possible.isEmpty:
                "A retry cannot help, because the pictures of this batch are removed. Submit better ones, or put them into the hot folder again."
            case 0 where lacksPictures:
                "The pictures that came with this batch are removed: submit them again. A retry repeats only what darkroomd can still read: \(retry)"
            case 0
            where possible.contains { $0.error?.code == PictureError.Code.codecMissing.rawValue }:
                "After the missing package is installed: \(retry)"
            case 0: "Without another source or setting, a retry fails again: \(retry)"
            case failed.count: "A retry may help: \(retry)"
            default: "A retry may help \(helped) of them: \(retry)"
            }
        return text.wrapped(to: terminal.width, indent: 2, keeping: [retry])
    }

    /// Tells of an image whether its picture came with the manifest, and so was removed when the batch ended. Only the
    /// daemon knows this of an absolute path.
    private var isRemoved: (ImageStatus) -> Bool {
        guard lacksPictures else { return { _ in false } }
        let images = Dictionary(
            status.images.map { (ByteString($0.name), $0) }, uniquingKeysWith: { first, _ in first }
        )
        return { image in
            var image = image
            // An altered status may have a circle.
            var seen: Set<ByteString> = []
            while let from = image.from.map({ ByteString($0) }), seen.insert(from).inserted,
                let other = images[from]
            {
                image = other
            }
            guard let source = image.source else { return false }
            return RedactedURL.scheme(of: source) == nil && source.utf8.first != UInt8(ascii: "/")
        }
    }

    /// What names the batch on a command line.
    private var argument: String { isRun ? folder.shellQuoted : batch.id.shellQuoted }
}
