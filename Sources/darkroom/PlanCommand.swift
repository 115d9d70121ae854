import ArgumentParser
import DarkroomClient
import DarkroomCore
import DarkroomRun

struct PlanCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plan",
        abstract: "Tell what darkroom run would make, and why.",
        discussion: """
            It takes the files and the options of darkroom run that say what is made. Nothing is made, written or downloaded; a source is read only if its \
            file does not look the same as in the former run, or with --check.

            Each image that would be made has a line with the reason. Then follow the files that no image would have any \
            more, which stay without --prune, and the sums. In a folder of shards, all of them are told, or one with \
            --shard. The time is an estimate from the former run.

            Examples:
              darkroom plan trip.yaml -o out/
              darkroom plan photos/ --sizes 400,800 -o small/ --prune
              darkroom plan trip.yaml -o out/ --json | jq -r 'select(.reason=="new").name'

            Exit status: 0 it is told, 64 the command line is wrong, 65 the manifest has errors, the folder has a run of \
            another one or with other settings, or a file of the run was changed, 66 a file does not exist, 71 /proc is \
            not mounted, 73 the folder is not one of a run, 74 the disk is broken, 77 a file may not be read or the run is \
            another user's, 78 the configuration is wrong.
            """)

    @OptionGroup var arguments: RunArguments

    @Option(
        help: ArgumentHelp(
            "Tell only what this shard would make, as for darkroom run.", valueName: "i/n"))
    var shard: String?

    @Flag(help: "Print JSON Lines: one object for each image or file, then a summary.")
    var json = false

    func validate() throws {
        if shard != nil { try arguments.refusePruning() }
    }

    func run() throws {
        var loaded = try arguments.engine.load()
        let job = try RunPreparation.job(arguments, shard: shard, &loaded)
        let forecast: RunForecast
        do {
            forecast = try RunForecast(job, loaded)
        } catch {
            throw ClientError(error, isOfPictures: arguments.isOfPictures)
        }
        for image in forecast.images { try tell(image) }
        for file in forecast.changes.gone { try tell(file: file) }
        try conclude(forecast, job)
    }

    private func tell(_ image: RunForecast.Image) throws {
        let (action, reason, words): (String, String, String)
        switch image.verdict {
        case .stands: return
        case .made(let cause): (action, reason, words) = ("make", cause.rawValue, cause.words)
        case .standsAlone(let cause):
            (action, reason, words) = ("keep", cause.rawValue, cause.words)
        }
        guard json else { return try Console.line("\(action) \(image.name.visible): \(words)") }
        try Console.json([
            "type": "image", "action": action, "name": image.name, "file": image.file,
            "reason": reason,
        ])
    }

    private func tell(file: String) throws {
        let action = arguments.prune ? "remove" : "leave"
        guard json else { return try Console.line("\(action) \(file.visible): no image has it") }
        try Console.json(["type": "file", "action": action, "file": file])
    }

    private func conclude(_ forecast: RunForecast, _ job: RunJob) throws {
        let changes = forecast.changes
        guard !json else {
            return try Console.json([
                "type": "summary", "id": forecast.id, "folder": job.folder,
                "images": forecast.count, "make": changes.made, "keep": changes.kept,
                "failed": changes.failed, "reasons": changes.reasonCounts,
                "withoutImage": changes.gone.count,
                "bytes": forecast.bytes, "seconds": forecast.seconds,
                "keepsAll": changes.keepsAll, "unfinished": forecast.unfinished?.ended,
                "exit": ClientExit.success.rawValue,
            ])
        }
        var parts = [
            "\(changes.made) of \(Words.count(forecast.count, "image")) to make"
        ]
        let reasons = MakeReason.allCases.compactMap { reason in
            changes.reasons[reason].map { "\($0) \(reason.words)" }
        }
        if !reasons.isEmpty { parts[0] += " (\(reasons.joined(separator: ", ")))" }
        if changes.kept > 0 {
            let failed = changes.failed > 0 ? " (\(changes.failed) failed before)" : ""
            parts.append("\(changes.kept) \(changes.kept == 1 ? "stands" : "stand")\(failed)")
        }
        if !changes.gone.isEmpty {
            parts.append(
                "\(Words.count(changes.gone.count, "file")) without an image \(arguments.prune ? "to remove" : (changes.gone.count == 1 ? "stays" : "stay"))"
            )
        }
        var line = "\(forecast.id.visible): \(parts.joined(separator: ", "))"
        if changes.made > 0, let seconds = forecast.seconds, let bytes = forecast.bytes {
            line +=
                "; about \(HumanText.bytes(Double(bytes))), \(HumanText.estimate(seconds))"
        }
        try Console.sentence(line, keeping: [forecast.id.visible])
        if changes.keepsAll {
            try Console.sentence("--prune leaves their results, because all sources are gone")
        }
        if let unfinished = forecast.unfinished {
            try Console.sentence(
                "a run has not ended: it has done \(unfinished.ended) of \(Words.count(unfinished.total, "image")), and the next one \(forecast.isSameManifest ? "goes on" : "compares what that has made")"
            )
        }
    }
}
