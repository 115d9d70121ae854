import DarkroomAnswer
import DarkroomClient
import DarkroomCore
import DarkroomFetch
import DarkroomManifest

/// The steps of `darkroom submit`: check all, drop all, find the IDs, wait.
struct SubmitRun {
    let command: SubmitCommand
    let folder: SpoolFolder
    let queue: QueueReport?
    private let rules: ManifestRules
    private let isAbsent: Bool

    init(_ command: SubmitCommand) throws(ClientError) {
        self.command = command
        folder = try command.spool.open()
        queue = try folder.queue()
        rules = ManifestRules(queue)
        isAbsent = DaemonPresence(in: folder, queue: queue) == .absent
    }

    /// A manifest that may be dropped.
    struct Prepared {
        let stem: String
        let shown: String
        /// The folder in which its relative sources are looked for first.
        var base = "."
        /// The patterns and folders there that the daemon must be able to read.
        var patterns: [String] = []
        let format: ManifestFormat
        let bytes: [UInt8]
        let manifest: Manifest
        let warnings: [String]
    }

    func run() throws {
        Interruption.advise("Nothing was submitted.")
        let prepared: [Prepared]
        do {
            prepared = try prepare()
        } catch let exit as ClientExit {
            // The errors of the manifests are printed.
            return try finish(0, exit)
        }
        if !command.anyway {
            try folder.requireDaemon(
                queue,
                remedy:
                    "Nothing was submitted. Start the daemon (systemctl start darkroomd), or submit with --anyway."
            )
        }
        let sent = try prepared.map { item throws(ClientError) in try sources(of: item) }
        if !command.copy { try requireReadable(prepared) }
        var failure: ClientError?
        let submissions = drop(prepared, sent, &failure)
        if let failure {
            // The first one that is not submitted.
            let file = prepared[submissions.count].shown
            if command.json { try Console.json(failure.problem(file: file)) }
            Console.complain(failure)
        }
        // What has failed is said already.
        if submissions.isEmpty, let failure { return try finish(0, failure.exit) }
        if isAbsent {
            Console.complain(
                "No daemon works on the spool \(folder.path). It takes the manifest when it starts."
            )
        }
        if isAbsent, !command.waitsForEnds {
            for (manifest, submission) in zip(prepared, submissions) {
                try tell(manifest, submission, id: nil, of: submissions.map(\.name.text))
            }
            return try finish(submissions.count, failure?.exit ?? .success)
        }
        let ids = try findIDs(prepared, submissions)
        let worst = command.waitsForEnds ? try waitForEnds(of: ids) : .success
        try finish(ids.count, .worst(worst, failure?.exit ?? .success))
    }

    private func finish(_ count: Int, _ exit: ClientExit) throws {
        try Console.conclude(exit, json: command.json ? ["submitted": count] : nil)
    }

    // MARK: Before the drop

    private func prepare() throws -> [Prepared] {
        let manifests = command.files.filter(ManifestArgument.isManifest)
        let priority = try command.priority.value()
        let name = try command.name.map { name throws(ClientError) in
            try SubmissionName.checked(name)
        }
        if manifests.isEmpty { return [try preparePictures(name: name, priority)] }
        try requireOnlyManifests(manifests)
        let prepared = try manifests.map { path throws(ClientError) in
            try prepareManifest(path, name: name, priority)
        }
        guard prepared.allSatisfy({ $0 != nil }) else { throw ClientExit.rejected }
        return prepared.compactMap { $0 }
    }

    private func requireOnlyManifests(_ manifests: [String]) throws(ClientError) {
        guard manifests.count == command.files.count else {
            throw ClientError(
                .usage, code: "mixed-files",
                "\(FileName(manifests[0]).text) is a manifest, and other files are pictures. Submit them separately."
            )
        }
        try command.pictures.refuse(
            list: command.list.list, remedy: ManifestArgument.hasItsOwn(manifests[0]))
    }

    /// nil for a manifest with errors, which are printed.
    private func prepareManifest(
        _ path: String, name: String?, _ priority: Priority?
    ) throws(ClientError) -> Prepared? {
        var file = try ManifestFile(path: path, limits: rules.limits)
        let base = Self.folder(of: path)
        // With the pictures that are sent along, the daemon finds the same files.
        var local = LocalSources(relativeTo: base, maximumBytes: .max)
        local.ignored = queue?.limits.ignoredNames ?? .standard
        let finder: SourceFinder = command.copy ? local.finder(guesses: true) : .none
        guard var manifest = try checked(file, finder) else { return nil }
        let placement = try NearbySources(
            beside: base, roots: queue.map { SourceRoots($0.limits) }
        ).placement(of: manifest.namesRelativeFiles ? file.sources(rules) : [])
        if let note = placement.note { Console.problem("\(file.shown): note: \(note)") }
        if !command.copy {
            file = file.with(try file.bytes(replacing: placement.changes, of: manifest, rules))
            manifest = manifest.replacing(placement.changes)
        }
        if let priority {
            file = try file.with(.priority(priority), of: &manifest, rules, finder: finder)
        }
        if command.page.page { file = try file.with(.page, of: &manifest, rules, finder: finder) }
        let stem = name ?? file.fileName.map { SubmissionName.of($0) } ?? "manifest"
        return Prepared(
            stem: stem, shown: file.shown, base: base, patterns: placement.patterns,
            format: file.format, bytes: file.bytes, manifest: manifest,
            warnings: manifest.warnings + [placement.note].compactMap(\.self))
    }

    private func preparePictures(name: String?, _ priority: Priority?) throws -> Prepared {
        let job = try command.pictures.job(
            .init(
                files: command.files, list: command.list.list,
                mayBeGone: command.anyway && !command.copy),
            priority: priority, page: command.page.page, queue)
        let stem = name ?? job.title ?? SubmissionName.of(job.pictures)
        let file = ManifestFile(try job.manifest(), shown: stem)
        guard let manifest = try checked(file) else { throw ClientExit.rejected }
        return Prepared(
            stem: stem, shown: stem, format: file.format, bytes: file.bytes, manifest: manifest,
            warnings: manifest.warnings)
    }

    private func checked(
        _ file: ManifestFile, _ finder: SourceFinder = .none
    ) throws(ClientError) -> Manifest? {
        let manifest: Manifest
        do {
            manifest = try file.manifest(rules, finder: finder)
        } catch {
            if command.json { try Console.json(error.line) }
            error.complain()
            return nil
        }
        for warning in manifest.warnings {
            Console.problem("\(file.shown): warning: \(warning)")
        }
        return manifest
    }

    private func requireReadable(_ prepared: [Prepared]) throws(ClientError) {
        guard let queue, !command.anyway else { return }
        let roots = SourceRoots(queue.limits)
        for item in prepared {
            let paths = item.patterns + item.manifest.absolutePaths
            if let obstacle = roots.obstacle(among: paths)
                ?? roots.absence(among: item.manifest.relativePaths)
            {
                throw obstacle
            }
        }
    }

    // MARK: The drop and its answer

    /// Drops the manifests in their order, up to the first that cannot be dropped.
    private func drop(
        _ prepared: [Prepared], _ sent: [SentSources?], _ failure: inout ClientError?
    ) -> [Submission] {
        var submissions: [Submission] = []
        Interruption.advise("A part may have been submitted. darkroom list shows the batches.")
        for (item, sources) in zip(prepared, sent) {
            do {
                submissions.append(try submission(of: item, sources))
            } catch {
                failure = error
                break
            }
        }
        let names = submissions.map(\.name.text)
        Interruption.advise(
            "Submitted: \(Words.list(names, "and")). darkroom list shows the batches.")
        return submissions
    }

    private func findIDs(
        _ prepared: [Prepared], _ submissions: [Submission]
    ) throws(ClientError) -> [String] {
        var ids: [String] = []
        for (manifest, submission) in zip(prepared, submissions) {
            let patience = Patience(folder, submission.name)
            let id = try BatchWait.until(
                nil, watching: [try folder.outbox()]
            ) { () throws(ClientError) -> String? in
                patience.remind()
                if let id = try submission.id() { return id }
                if !command.waitsForEnds, let obstacle = patience.obstacle {
                    throw try giveUp(submissions.dropFirst(ids.count), because: obstacle)
                }
                return nil
            }
            guard let id else { preconditionFailure("a wait without end has ended") }
            if command.hold { try requireHold(id) }
            ids.append(id)
            // Who reads that all are taken may interrupt at once.
            if ids.count == submissions.count { adviseToWait(for: ids) }
            let names = ids + submissions.dropFirst(ids.count).map(\.name.text)
            try tell(manifest, submission, id: id, of: names)
        }
        return ids
    }

    /// Takes back what the daemon has not taken. A script that repeats the command submits nothing twice then.
    private func giveUp(
        _ submissions: ArraySlice<Submission>, because obstacle: String
    ) throws(ClientError) -> ClientError {
        var back: [String] = []
        var taken: [String] = []
        for submission in submissions {
            if try submission.withdraw() {
                back.append(submission.name.text)
            } else {
                taken.append(submission.name.text)
            }
        }
        var advice: [String] = []
        if !taken.isEmpty {
            let subject = taken.count == 1 ? "It begins" : "They begin"
            advice.append(
                "The daemon has taken \(Words.list(taken, "and")). \(subject) when the disk can be written to; do not submit "
                    + "\(taken.count == 1 ? "it" : "them") again.")
        }
        if !back.isEmpty {
            advice.append(
                "Not submitted: \(Words.list(back, "and")). Submit \(back.count == 1 ? "it" : "them") again when the "
                    + "disk can be written to. With --wait, the command waits for that.")
        }
        return ClientError(
            .ioError, code: "daemon-waits", "not waiting any longer: \(obstacle)",
            remedy: advice.joined(separator: " "))
    }

    /// The hold was dropped before the manifest, by its name. If another manifest with this name came first, it held
    /// that one, and this one is held now.
    private func requireHold(_ id: String) throws(ClientError) {
        guard let batch = try BatchView(id, in: folder).read(), !batch.state.isFinal,
            batch.state != .held, !batch.commands.contains(where: { $0.command == .hold })
        else { return }
        let order = try ControlOrder(.hold, id, in: folder, queue: queue)
        _ = try BatchWait.until(
            nil, watching: [try folder.inbox()]
        ) { () throws(ClientError) -> ControlOrder.Outcome? in try order.outcome() }
    }

    /// - Parameter names: all that was submitted, which is said if standard output cannot be written.
    private func tell(
        _ prepared: Prepared, _ submission: Submission, id: String?, of names: [String]
    ) throws(ClientError) {
        do {
            if command.json {
                try Console.json([
                    "type": "submission", "manifest": prepared.shown,
                    // Its name in the inbox.
                    "file": submission.name.text, "identity": submission.identity,
                    // Absent if no daemon has taken it.
                    "id": id, "warnings": prepared.warnings.isEmpty ? nil : prepared.warnings,
                ])
            } else if let id {
                try Console.line(id)
            }
        } catch {
            throw ClientError(
                error.exit, code: error.code, error.message,
                remedy: "Submitted: \(Words.list(names, "and")).")
        }
    }
}
