import DarkroomCore
import Glibc

/// `darkroomd --self-test SPOOL`: checks on the real file system the behaviour on which the spool's guarantee depends.
/// Then it checks the guarantee itself, with daemons that it kills.
///
/// It works in a separate folder in the spool's root, which it removes at the end. It only reads the spool's own
/// folders, so a daemon may use them at the same time.
package struct SelfTest {
    package struct Options: Sendable {
        package var spool: String
        /// How often a daemon is killed at random moments, in addition to one kill at each fault point.
        package var kills: Int
        /// Whether the folder is kept if there is a problem.
        package var keeps = false

        package init(spool: String, kills: Int, keeps: Bool = false) {
            self.spool = spool
            self.kills = kills
            self.keeps = keeps
        }
    }

    static let folderPrefix = ".self-test-"

    private let options: Options
    private let program: String
    private let report: SelfTestReport

    /// - Parameter program: the daemon to run.
    package init(_ options: Options, program: String, report: SelfTestReport = SelfTestReport()) {
        self.options = options
        self.program = program
        self.report = report
    }

    /// Runs the self-test.
    ///
    /// - Returns: the exit code: 0 if there is no problem, else 1.
    package func run() -> Int32 {
        do {
            return try tested() ? 0 : 1
        } catch .interrupted {
            report.say("Interrupted; the test folder was removed")
            return 128 + SIGINT
        } catch .file(let error) {
            report.say("problem  \(error.message); the test cannot continue")
            return error.code == "permission-denied" ? 77 : 74
        } catch {
            report.tell(.problem(error.message, consequence: "not work reliably here"))
            return 1
        }
    }

    private func tested() throws(SelfTestError) -> Bool {
        let root = try onFiles(of: Directory(path: options.spool))
        report.say("Testing \(root.path)")
        report.tell(SpoolCheck(root: root).findings())
        let name: FileName = "\(Self.folderPrefix)\(getpid())"
        let folder = try onFiles { () throws(FileError) in
            try root.makeDirectory(name, mode: 0o700)
            return try Directory(name, in: root)
        }
        var isWell = false
        defer {
            if isWell || !options.keeps {
                remove(name, from: root)
            } else {
                report.say("\(root.path(of: name)) is kept for your inspection")
            }
        }
        do {
            report.tell(MountCheck(folder: folder).findings())
            if report.problems == 0 { try runDaemons(in: folder) }
            isWell = report.problems == 0
        } catch .interrupted {
            isWell = true
            throw .interrupted
        }
        report.say(isWell ? "No problem found" : "Problems found: \(report.problems)")
        return isWell
    }

    /// The daemons in it have ended. Another program may still be putting a file into it.
    private func remove(_ name: FileName, from root: Directory) {
        do {
            try root.removeTree(name)
        } catch {
            report.tell(.note("the test folder could not be removed: \(error.message)"))
        }
    }

    // MARK: Daemons

    private func runDaemons(in folder: Directory) throws(SelfTestError) {
        let formats = try TestSpool.makePictures(in: folder)
        for reason in formats.leftOut { report.tell(.note("left out: \(reason)")) }
        let undisturbed = try TestSpool("undisturbed", in: folder, program: program)
        let reference = try SpoolAudit.makeReference(
            SampleManifest.all + formats.manifests, on: undisturbed)
        report.tell(.ok("a daemon works correctly without kills"))
        try refuseSecondDaemon(on: undisturbed)

        let spool = try TestSpool("killed", in: folder, program: program)
        var run = KillRun(on: spool, reference: reference, formats)
        try run.run(moments: options.kills) { done, of in
            report.progress("killing daemons: \(done) of \(of)")
        }
        report.endProgress()
        tell(run)

        var hot = try HotFolderRun(in: folder, program: program)
        try hot.run { done, of in
            report.progress("killing daemons with a hot folder: \(done) of \(of)")
        }
        report.endProgress()
        tell(hot)
    }

    private func tell(_ run: HotFolderRun) {
        let missed = run.missed.map { "no daemon reached \($0.rawValue)" }
        report.tell(
            run.problems.prefix(20) + missed,
            "hot folder: kills \(run.kills), pictures \(run.pictureCount), lost \(run.lost.count), "
                + "duplicated \(run.duplicated.count), differing \(run.differing.count)",
            consequence: "not work reliably with hot folders here")
    }

    private func refuseSecondDaemon(on spool: TestSpool) throws(SelfTestError) {
        let first = try spool.start()
        defer { first.end() }
        _ = try eventually(within: 60) { () throws(SelfTestError) in
            spool.lastWords.contains { $0.hasSuffix(" watches \(spool.path)") } ? true : nil
        }
        let second = try spool.start()
        defer { second.end() }
        let ending = try second.wait(60)
        report.tell(
            ending == .exited(75)
                ? .ok("a second daemon on the same spool is refused")
                : .problem(
                    "a second daemon on the same spool: \(ending.map { "\($0)" } ?? "it runs")",
                    consequence: "work on the same manifests as another one"))
    }

    private func tell(_ run: KillRun) {
        let sums = run.sums
        for point in sums.missed {
            report.tell(
                .problem(
                    "no daemon reached \(point.rawValue)", consequence: "be untested at this point")
            )
        }
        for orphan in sums.orphans {
            report.tell(
                .problem(
                    "\(orphan) still runs ten seconds after its daemon has ended",
                    consequence: "leave processes behind"))
        }
        if !run.knowsOrphans {
            report.tell(.note("the kernel does not tell whether daemons leave processes"))
        }
        report.tell(
            run.audit.problems.prefix(20),
            "kills \(run.kills) (\(sums.killsAtPoints) at fault points, \(sums.killsAtRandom) at random "
                + "moments), manifests \(sums.dropped), images \(run.audit.images), "
                + "lost \(run.audit.lost.count), duplicated \(run.audit.duplicated.count), "
                + "differing \(run.audit.differing.count)"
                + (run.knowsOrphans ? ", processes left \(sums.orphans.count)" : ""),
            consequence: "not work reliably here")
    }
}

/// Reports the findings of a self-test: one line for each on standard output and, on a terminal, the progress.
package final class SelfTestReport {
    package private(set) var problems = 0
    private let isTerminal = isatty(STDOUT_FILENO) == 1

    package init() {}

    package func tell(_ findings: [Finding]) {
        for finding in findings { tell(finding) }
    }

    package func tell(_ finding: Finding) {
        switch finding {
        case .ok(let text): say("ok       \(text)")
        case .note(let text): say("note     \(text)")
        case .problem(let text, let consequence):
            problems += 1
            say("problem  \(text); darkroomd will \(consequence)")
        }
    }

    func tell(_ problems: some Collection<String>, _ sums: String, consequence: String) {
        for problem in problems { tell(.problem(problem, consequence: consequence)) }
        tell(problems.isEmpty ? .ok(sums) : .problem(sums, consequence: consequence))
    }

    package func say(_ line: String) {
        endProgress()
        write(line + "\n")
    }

    package func progress(_ text: String) {
        if isTerminal { write("\r\u{1b}[K\(text)") }
    }

    package func endProgress() {
        if isTerminal { write("\r\u{1b}[K") }
    }

    /// Unbuffered, so that a log contains all results if the machine crashes.
    private func write(_ text: String) {
        _ = StandardStream.write(Array(text.utf8), to: STDOUT_FILENO)
    }
}
