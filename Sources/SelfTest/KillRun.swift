import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Glibc

/// Kills daemons at each fault point and at random moments while manifests are processed. Each time it checks that
/// nothing is lost and nothing is done twice.
package struct KillRun {
    package struct Sums: Sendable {
        package var killsAtPoints = 0
        package var killsAtRandom = 0
        package var dropped = 0
        package var missed: [FaultPoint] = []
        /// Processes that went on after their daemon.
        package var orphans: [String] = []
    }

    private let spool: TestSpool
    private let formats: SampleFormats
    private let orphans: OrphanWatch?
    private var random = SystemRandomNumberGenerator()
    package private(set) var audit: SpoolAudit
    package private(set) var sums = Sums()
    /// The number of kills when all manifests were last processed to their ends.
    private var killsAtLastEnd = 0
    /// Batches that may be held. They are released at the end.
    private var held: [String] = []

    package init(on spool: TestSpool, reference: SpoolAudit.Reference, _ formats: SampleFormats) {
        self.spool = spool
        self.formats = formats
        orphans = OrphanWatch()
        audit = SpoolAudit(spool, reference)
    }

    /// Whether it is known which processes daemons leave.
    package var knowsOrphans: Bool { orphans != nil }

    package var kills: Int { sums.killsAtPoints + sums.killsAtRandom }

    /// The points that daemons of this test pass.
    private var points: [FaultPoint] {
        FaultPoint.allCases.filter {
            $0.need == nil || $0.need == .codec && !formats.written.isEmpty
        }
    }

    /// Kills a daemon at each point and `moments` times at random moments, in random order.
    ///
    /// - Parameter progress: receives the number of finished lives and of all lives.
    package mutating func run(moments: Int, progress: (Int, Int) -> Void) throws(SelfTestError) {
        // The daemons that are killed at a random moment have no point.
        var lives: [FaultPoint?] = points
        lives += repeatElement(nil, count: moments)
        lives.shuffle(using: &random)
        for (index, point) in lives.enumerated() {
            if let point { try die(at: point) } else { while try !dieAtRandom() {} }
            try audit.look(isFinal: false)
            sums.orphans += try orphans?.remaining() ?? []
            try finishBefore(kills: 1)
            progress(index + 1, lives.count)
            if !audit.problems.isEmpty || !sums.orphans.isEmpty { break }
        }
        try finish()
        sums.orphans += try orphans?.remaining() ?? []
    }

    /// Finishes all manifests before more kills could be attributed to a picture that was in work at each of them.
    private mutating func finishBefore(kills more: Int) throws(SelfTestError) {
        if kills - killsAtLastEnd + more >= Crashes.enoughKills { try finish() }
    }

    // MARK: Lives

    /// After this many attempts to reach a point, it counts as missed.
    private static let attempts = 12

    private mutating func die(at point: FaultPoint) throws(SelfTestError) {
        if point == .expiredMoved || point == .expiredFileRemoved {
            return try dieExpiring(at: point)
        }
        for attempt in 1...Self.attempts {
            try finishBefore(kills: point.needsDeath == nil ? 1 : 2)
            if let first = point.needsDeath {
                try dropSome()
                try live(fault: first.rawValue, until: first)
                try audit.look(isFinal: false)
            }
            try dropSome()
            if point == .receiptManifestMoved { try drop(.rejected) }
            if point == .outputFolderMade { try drop(.named) }
            if point.needsSecrets { try drop(.secret) }
            if [.pageMade, .pageMoved].contains(point) { try drop(.failing) }
            if point == .submittedGivenBack { try drop(.tooLarge) }
            if point.need == .codec { for manifest in formats.manifests { try drop(manifest) } }
            if point.needsOriginals {
                try drop(point == .originalsManifestReplaced ? .secretFolder : .folder)
            }
            if [.handOverWritten, .handOverMoved, .handOverRemoved].contains(point) {
                try drop(.marked)
            }
            // Later passings are tried too, because then more work is in progress.
            let passing =
                point.comesOften && attempt == 1 ? Int.random(in: 1...3, using: &random) : 1
            if try live(fault: "\(point.rawValue):\(passing)", until: point) { return }
        }
        sums.missed.append(point)
    }

    /// Has the daemon remove finished entries and die during this. The next daemon must finish the removal.
    private mutating func dieExpiring(at point: FaultPoint) throws(SelfTestError) {
        try dropSome()
        try finish(clearing: false)
        let settings = ["retention.age": "1ms"]
        let first = try spool.start(fault: point.rawValue, settings: settings)
        defer { first.end() }
        guard let ending = try first.wait(30) else { return sums.missed.append(point) }
        try expectKill(ending, at: point.rawValue)
        sums.killsAtPoints += 1
        let second = try spool.start(settings: settings)
        defer { second.end() }
        let isCleared: Bool? = try eventually(within: 30) { () throws(SelfTestError) in
            guard try spool.names("outbox").isEmpty, try spool.isIdle() else { return nil }
            return true
        }
        guard isCleared == true else { throw spool.broken("expired batches still exist") }
        try spool.clear()
        audit.forget()
    }

    private static let keepingOriginals = ["retention.originals": "true"]

    /// Runs the daemon until its fault kills it.
    ///
    /// - Returns: false if that does not happen; the daemon is then killed from outside.
    @discardableResult
    private mutating func live(
        fault: String, until point: FaultPoint
    ) throws(SelfTestError) -> Bool {
        let daemon = try spool.start(
            fault: fault, settings: point.needsOriginals ? Self.keepingOriginals : [:])
        defer { daemon.end() }
        try signal(daemon, at: point)
        var wishes = try wishes(for: point)
        let deadline = Clock.nanoseconds + 10_000_000_000
        while Clock.nanoseconds < deadline {
            if let ending = daemon.poll() {
                try expectKill(ending, at: fault)
                sums.killsAtPoints += 1
                return true
            }
            try fulfil(&wishes)
            if wishes.isEmpty, try spool.isIdle() { break }
            try pass(0.002)
        }
        sums.killsAtRandom += 1
        return false
    }

    /// - Returns: false if the daemon stopped before it was killed.
    private mutating func dieAtRandom() throws(SelfTestError) -> Bool {
        try dropSome()
        // A store that only some daemons have: what it gives is compared with what the others make.
        var settings = Bool.random(using: &random) ? Self.keepingOriginals : [:]
        if Bool.random(using: &random) { settings.merge(spool.storingResults) { $1 } }
        let daemon = try spool.start(settings: settings)
        defer { daemon.end() }
        var wishes = try randomWishes()
        var signals: [CInt] = []
        switch Int.random(in: 0..<6, using: &random) {
        case 0: signals = [SIGUSR1, SIGUSR2]
        case 1: signals = [SIGTERM]
        default: break
        }
        if try spool.exists("paused") { signals.append(SIGUSR2) }
        let moments = 1 + signals.count
        for index in 0..<moments {
            let deadline = Clock.nanoseconds + UInt64.random(in: 0..<400_000_000 / UInt64(moments))
            while Clock.nanoseconds < deadline {
                try fulfil(&wishes)
                try pass(0.002)
            }
            if index < signals.count { daemon.send(signals[index]) }
        }
        switch daemon.poll() {
        case nil:
            sums.killsAtRandom += 1
            return true
        case .exited(0) where signals.contains(SIGTERM): return false
        case let ending?: throw spool.broken("a daemon ended, but not at a fault point: \(ending)")
        }
    }

    private func expectKill(_ ending: ChildDaemon.Ending, at fault: String) throws(SelfTestError) {
        guard ending == .killed(signal: SIGKILL) else {
            throw spool.broken("a daemon ended before it reached \(fault): \(ending)")
        }
    }

    /// Pauses and resumes if the point belongs to one of these; resumes if a previous life left the spool paused.
    private func signal(_ daemon: ChildDaemon, at point: FaultPoint) throws(SelfTestError) {
        switch point {
        case .pauseMarked, .pauseSynced: daemon.send(SIGUSR1)
        case .pauseUnmarked:
            daemon.send(SIGUSR1)
            // If two signals arrive at once, the second one may be handled first.
            _ = try eventually(within: 5) { () throws(SelfTestError) in
                try spool.exists("paused") ? true : nil
            }
            try pass(0.05)
            daemon.send(SIGUSR2)
        default: if try spool.exists("paused") { daemon.send(SIGUSR2) }
        }
    }

    // MARK: Manifests

    /// Submits several manifests of different kinds.
    private mutating func dropSome() throws(SelfTestError) {
        let count = Int.random(in: 2...4, using: &random)
        for manifest in SampleManifest.all.shuffled(using: &random).prefix(count) {
            try drop(manifest)
        }
        if Bool.random(using: &random),
            let manifest = formats.manifests.randomElement(using: &random)
        {
            try drop(manifest)
        }
        if Int.random(in: 0..<4, using: &random) == 0, try spool.dropLastAgain() {
            sums.dropped += 1
        }
    }

    @discardableResult
    private mutating func drop(_ manifest: SampleManifest) throws(SelfTestError) -> String {
        sums.dropped += 1
        return try spool.drop(manifest)
    }

    // MARK: Control files

    /// A control file that will be put into the inbox when its batch reaches a state.
    private struct Wish {
        let id: String
        let command: ControlCommand
    }

    /// The control files that make a daemon reach a point.
    private mutating func wishes(for point: FaultPoint) throws(SelfTestError) -> [Wish] {
        switch point {
        case .controlRecorded, .controlMoved, .controlConsumed:
            [Wish(id: try drop(.cancelled), command: .cancel)]
        case .retryBuilt, .retryMoved, .pageWithdrawn:
            [Wish(id: try drop(.failing), command: .retry)]
        case .removeSynced: [Wish(id: try drop(.failing), command: .remove)]
        case .exactManifestRemoved: [Wish(id: try drop(.secret), command: .remove)]
        default: []
        }
    }

    private mutating func randomWishes() throws(SelfTestError) -> [Wish] {
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return [Wish(id: try drop(.cancelled), command: .cancel)]
        case 1:
            let isSecret = Bool.random(using: &random)
            return [Wish(id: try drop(isSecret ? .secret : .failing), command: .retry)]
        case 2:
            let id = try drop(.cancelled)
            held.append(id)
            if Bool.random(using: &random) { return [Wish(id: id, command: .hold)] }
            // Next to its manifest, it holds the batch from the beginning.
            try spool.give(.hold, to: id)
            return Bool.random(using: &random) ? [] : [Wish(id: id, command: .cancel)]
        case 3:
            let isSecret = Bool.random(using: &random)
            return [Wish(id: try drop(isSecret ? .secret : .failing), command: .remove)]
        default: return []
        }
    }

    /// Submits the control files that are due.
    private mutating func fulfil(_ wishes: inout [Wish]) throws(SelfTestError) {
        var left: [Wish] = []
        for wish in wishes {
            if try isDue(wish) {
                if wish.command == .retry { audit.expectRetry(of: wish.id) }
                if wish.command == .remove { audit.expectRemoval(of: wish.id) }
                try spool.give(wish.command, to: wish.id)
            } else {
                left.append(wish)
            }
        }
        wishes = left
    }

    /// A command for finished batches is due after the batch's end, any other after its beginning.
    private func isDue(_ wish: Wish) throws(SelfTestError) -> Bool {
        guard let bytes = try spool.outboxFile(FileName(wish.id), BatchFile.status),
            let status = Status(decoding: bytes)
        else { return false }
        if !wish.command.form.effect.isForFinished { return status.state == .processing }
        guard status.state.isFinal else { return false }
        return try !spool.names("active").contains(FileName(wish.id))
    }

    // MARK: Ends

    /// Runs a daemon until everything is finished, stops it, and checks the whole spool.
    private mutating func finish(clearing: Bool = true) throws(SelfTestError) {
        killsAtLastEnd = kills
        let daemon = try spool.start()
        defer { daemon.end() }
        daemon.send(SIGUSR2)
        for id in held { try spool.give(.release, to: id) }
        held = []
        if try spool.waitUntilIdle(daemon) {
            try spool.stop(daemon)
        } else if let ending = daemon.poll() {
            throw spool.broken("a daemon without a fault point ended: \(ending)")
        } else {
            daemon.end()
        }
        try audit.look(isFinal: true)
        if audit.problems.isEmpty, clearing {
            try spool.clear()
            audit.forget()
        }
    }
}
