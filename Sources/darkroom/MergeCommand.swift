import ArgumentParser
import DarkroomAnswer
import DarkroomClient
import DarkroomCore
import DarkroomRun
import SystemPackage

struct MergeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge",
        abstract:
            "Put the results of all shards of a run together, and prove that nothing is missing.",
        usage: "darkroom merge [<options>] <dir>",
        discussion: """
            The command looks whether each image of the manifest has one answer and each output its SHA-256. Then it \
            writes status.json, the same as one run of the whole manifest would write. If shards are missing, nothing is \
            written: standard output has the tasks that must run again, as sbatch takes them, without those of shards \
            that are in work. It may be repeated at any time, also while shards run.

            The status.json of an earlier merge is replaced. Outputs that no image has any more are listed, and --prune \
            removes them; while a shard works, --prune is refused. A file that somebody has changed stays, and so does \
            one whose source was on a disk that is away. Nothing is removed if all sources are gone at once.

            Examples:
              darkroom merge out/
              darkroom merge out/ --quick
              darkroom merge out/ --prune
              darkroom merge out/ --page-dir out-page/
              darkroom merge out/ --json | jq -r '.missing[].shard'

            Exit status: 0 completed, 3 completed with errors, 8 shards are missing or not finished, 64 the command line \
            is wrong, 65 an output was changed or a status is not one of this run, 66 there is no such folder or no run in \
            it, 71 /proc is not mounted, 73 the folder cannot be written, 74 the disk is full or broken, 75 another merge works in the folder, or \
            a shard with --prune, 77 the run belongs to another user.
            """)

    @Argument(
        help: ArgumentHelp("The folder of the run.", valueName: "dir"), completion: .directory)
    var folder: String

    @Flag(help: "Compare only the lengths of the outputs, and do not read them.")
    var quick = false

    @Flag(help: "Remove the outputs of earlier runs that no image has any more.")
    var prune = false

    @OptionGroup var page: PageDirOptions
    @OptionGroup var progress: ReadingProgressOptions

    @Flag(help: "Print one JSON object.")
    var json = false

    func run() throws {
        let folder = RunPreparation.trimmed(folder)
        let page = try page.page(folders: ["\(folder)/.."])
        let report: MergeReport
        do {
            let merge = try ShardMerge(folder, readsOutputs: !quick, prunes: prune)
            let reading = ReadingProgress(
                quick ? "Looking at outputs" : "Reading outputs", mode: progress.mode)
            defer { reading.clear() }
            report = try merge.run { reading.show($0, of: $1) }
        } catch {
            if case .cannotCreate(let cause) = error, cause.errno == .noSuchFileOrDirectory {
                throw ClientError(cause)
            }
            var told = ClientError(error)
            if case .inTheWay = error { told.remedy = "Move it away." }
            throw told
        }
        let exit = Self.exit(report)
        let made = report.status == nil ? nil : page?.make(of: folder, progress: progress.mode)
        if json {
            try Console.json(Self.json(report, exit, page: made))
        } else {
            try tell(report)
            if let made { try Console.line(made) }
        }
        throw exit
    }

    private static func exit(_ report: MergeReport) -> ClientExit {
        if report.faultCount > 0 { return .rejected }
        guard let status = report.status else { return .incomplete }
        return ClientExit(of: status.state)
    }

    private func tell(_ report: MergeReport) throws {
        for fault in report.faults.prefix(ShortList.length) { Console.complain(fault.sentence) }
        if report.faultCount > ShortList.length {
            Console.complain("\(report.faultCount - ShortList.length) more faults")
        }
        for missing in report.missing.prefix(ShortList.length) {
            Console.complain("shard \(missing.shard): \(missing.message)")
        }
        if report.missing.count > ShortList.length {
            let rest = report.missing.count - ShortList.length
            Console.complain("\(Words.count(rest, "more shard")) missing")
        }
        if let status = report.status {
            let shards = Words.count(report.shards, "shard")
            let removed =
                report.removed > 0 ? ", \(Words.count(report.removed, "output")) removed" : ""
            try Console.sentence(
                "\(BatchProgress(of: status).result), \(shards)\(removed)",
                keeping: [status.id.visible])
            if report.lostCount > 0 {
                Console.complain(
                    "\(Words.count(report.lostCount, "image")) of the former status.json failed since then, and the outputs are gone: \(ShortList.text(report.lost, of: report.lostCount))"
                )
            }
            ShortList.tellOfFormer(stale: report.stale, away: report.away, gone: report.gone)
            if !report.gone.isEmpty {
                Console.complain(
                    report.keepsAll
                        ? "--prune has left them, because all sources are gone: is a file system not mounted?"
                        : "The same command with --prune removes them.")
            }
            guard !report.failed.isEmpty else { return }
            if report.blockedCount > 0 {
                Console.complain(
                    "\(Words.count(report.blockedCount, "image")) failed because another file is in the place of the output. First move away: \(ShortList.text(report.blockingFiles, of: report.blockedCount))"
                )
            }
            Console.complain("Run these shards with --retry to repeat the failed images:")
            Console.complain("--array=\(report.failedTasks)")
        } else if !report.missing.isEmpty {
            let count = Words.count(report.shards, "shard")
            let idle = report.idle.count
            let busy = report.missing.count - idle
            if busy > 0 {
                Console.complain("\(busy) of \(count) \(busy == 1 ? "is" : "are") in work.")
            }
            guard idle > 0 else { return }
            Console.complain("\(idle) of \(count) must run again.")
            try Console.line("--array=\(report.idleTasks)")
        }
    }

    private static func json(_ report: MergeReport, _ exit: ClientExit, page: String?) -> JSONObject
    {
        let missing: [JSONObject] = report.missing.map { missing in
            var counts: Status.Counts?
            if case .unfinished(let known) = missing.reason { counts = known }
            return [
                "shard": missing.shard, "message": missing.message, "inWork": missing.isInWork,
                "counts": counts,
            ]
        }
        let faults: [JSONObject] = report.faults.map {
            ["shard": $0.shard == 0 ? nil : $0.shard, "image": $0.image, "message": $0.message]
        }
        return [
            "type": "merge", "id": report.id, "folder": report.folder, "shards": report.shards,
            "state": report.status?.state, "counts": report.status?.counts, "missing": missing,
            "failed": report.failed, "lost": report.lost, "stale": report.stale,
            "away": report.away, "withoutImage": report.gone, "removed": report.removed,
            "keepsAll": report.keepsAll, "array": report.idle.isEmpty ? nil : report.idleTasks,
            "faults": faults, "exit": exit.rawValue, "page": page,
        ]
    }
}

extension MergeReport.Fault {
    fileprivate var sentence: String {
        let place = [shard == 0 ? nil : "shard \(shard)", image].compactMap(\.self)
        return place.isEmpty ? message : "\(place.joined(separator: ", ")): \(message)"
    }
}
