import ArgumentParser
import DarkroomAnswer
import DarkroomClient
import DarkroomCore
import DarkroomRun
import DarkroomSpool
import Foundation

struct VerifyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Compare all outputs with the digests in status.json.",
        usage: "darkroom verify [<options>] <id|dir>",
        discussion: """
            The command reads each output and says which ones differ or are missing, and which files no image has. It \
            works on the folder of darkroom run or darkroom merge, and on the answer of a batch in the outbox. A name \
            without a slash is an ID if there is such a batch, otherwise that of a folder. It also looks at the copies \
            that deliver has placed in other folders. If one of them is gone or changed, it says so, and that does not \
            count as a finding.

            With --again, it also filters all pictures again, in a scratch folder in TMPDIR, and compares the bytes. If a \
            source has changed since then, it says so. The options and the configuration must be those of the run.

            Examples:
              darkroom verify out/
              darkroom verify holiday
              darkroom verify out/ --again --jobs 2
              darkroom verify out/ --json | jq -r 'select(.kind == "missing").image'

            Exit status: 0 everything is as it was written, 64 the command line is wrong, 65 something is not, 66 there is \
            no such folder or batch, 74 a disk is full or broken, 75 it is not finished or a signal has stopped the \
            command, 77 no permission, 78 the configuration is wrong.
            """)

    @Argument(
        help: ArgumentHelp("The ID of a batch, or a folder of results.", valueName: "id|dir"),
        completion: SpoolCompletion.all)
    var place: String

    @Flag(help: "Filter the pictures again and compare the new files.")
    var again = false

    @Flag(help: "Print JSON Lines: one object for each finding, then a summary.")
    var json = false

    @OptionGroup var spool: SpoolOptions
    @OptionGroup var engine: EngineOptions
    @OptionGroup var progress: ReadingProgressOptions

    func run() throws {
        let path = try ResultFolder(place, spool).path
        let json = json
        do {
            let check = try FolderCheck(path) { finding in
                try json
                    ? Console.json([
                        "type": "finding", "kind": finding.kind.rawValue, "image": finding.image,
                        "file": finding.file, "message": finding.message,
                    ])
                    : Console.sentence(
                        "\(finding.file.visible): \(finding.kind.rawValue): \(finding.message.visible)",
                        keeping: [finding.file.visible])
            }
            let reading = ReadingProgress("Reading outputs", mode: progress.mode)
            defer { reading.clear() }
            let signal = try again ? repeated(check, reading) : read(check, reading)
            reading.clear()
            try tell(check.summary, signal)
        } catch let error as RunError {
            throw Self.error(error)
        }
    }

    private func read(_ check: FolderCheck, _ reading: ReadingProgress) throws -> CInt? {
        try check.run { reading.show($0, of: $1) }
        return nil
    }

    private func repeated(_ check: FolderCheck, _ reading: ReadingProgress) throws -> CInt? {
        let loaded = try engine.load()
        try ProcessLimits.prepare()
        let making = ReadingProgress("Filtering again", mode: progress.mode)
        defer { making.clear() }
        let again = try Recomputation(
            check, loaded, base: FileManager.default.currentDirectoryPath, log: engine.log())
        return try again.run {
            reading.show($0, of: $1)
        } making: { done, total in
            reading.clear()
            making.show(done, of: total)
        }
    }

    private func tell(_ summary: FolderSummary, _ signal: CInt?) throws {
        let exit: ClientExit =
            signal != nil ? .tryAgain : summary.findings > 0 ? .rejected : .success
        if json {
            try Console.json([
                "type": "summary", "id": summary.id, "folder": summary.folder,
                "state": summary.state, "images": summary.images, "outputs": summary.outputs,
                "bytes": summary.bytes, "findings": summary.findings,
                "delivered": summary.delivered, "deliveredFindings": summary.deliveredFindings,
                "complete": signal == nil,
                "exit": exit.rawValue,
            ])
        } else if let signal {
            Console.complain("stopped by \(signal.signalName) before the end")
        } else if summary.findings > 0 {
            Console.complain(
                "\(summary.id): \(Words.count(summary.findings, "finding")) in \(Words.count(summary.outputs, "output"))"
            )
            if let remedy = Self.remedy(summary) { Console.complain(remedy) }
        } else if summary.outputs == 0 {
            try Console.sentence(
                "\(summary.id.visible): nothing to verify: \(Self.emptiness(summary))",
                keeping: [summary.id.visible])
        } else {
            let outputs = Words.count(summary.outputs, "output")
            try Console.sentence(
                "\(summary.id.visible): \(outputs), \(HumanText.bytes(Double(summary.bytes))), all as they were written",
                keeping: [summary.id.visible])
        }
        if !json, signal == nil, let words = Self.deliveries(summary) { Console.complain(words) }
        throw exit
    }

    /// What has become of the copies that were delivered; nil if all are as they were.
    private static func deliveries(_ summary: FolderSummary) -> String? {
        guard summary.deliveredFindings > 0 else { return nil }
        let copies = Words.count(summary.delivered, "delivered copy", "delivered copies")
        let verb = summary.deliveredFindings == 1 ? "is" : "are"
        return
            "\(summary.deliveredFindings) of \(copies) \(verb) not where deliver has put them, or changed; no output is "
            + "lost by that"
    }

    /// What makes the outputs again that are missing or were changed; nil if there are none.
    private static func remedy(_ summary: FolderSummary) -> String? {
        guard summary.missing + summary.changed > 0 else { return nil }
        let away = "Move the changed \(summary.changed == 1 ? "file" : "files") away"
        if summary.isOfRun {
            return summary.changed > 0
                ? "\(away). Then the same darkroom run as before makes the outputs again."
                : "The same darkroom run as before makes the outputs again."
        }
        let retry = "darkroom retry \(summary.id.shellQuoted)"
        let advice =
            summary.changed > 0
            ? "\(away), then: \(retry)" : "To make the missing ones again: \(retry)"
        guard summary.lacksPictures else { return advice }
        return "\(advice). It cannot repeat pictures that came with the batch: submit those again."
    }

    private static func emptiness(_ summary: FolderSummary) -> String {
        let counts = summary.counts
        let reasons = [
            counts.failed > 0 ? "\(Words.count(counts.failed, "image")) failed" : nil,
            counts.cancelled > 0 ? "\(Words.count(counts.cancelled, "image")) cancelled" : nil,
        ].compactMap(\.self)
        return "no image has an output"
            + (reasons.isEmpty ? "" : " (\(reasons.joined(separator: ", ")))")
    }

    private static func error(_ error: RunError) -> ClientError {
        switch error {
        case .otherSetting(_, let key, let known, _):
            ClientError(
                .rejected, code: error.code, error.message,
                remedy: "Add --set \("\(key)=\(known)".shellQuoted).")
        case .cannotCreate(let cause): ClientError(cause)
        default: ClientError(error)
        }
    }
}
