@testable import DarkroomBoard
@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomPicture

/// The operations in the queues, as `Scheduler+Operations`, `Scheduler+Download` and `Scheduler+Filter` have them.
extension BoardMachine {
    /// Does the next step of an operation.
    func operate() throws(Fault) -> Bool {
        guard let operation = pick(operations) else { return false }
        let ticket = operation.ticket
        switch operation.phase {
        case .queued:
            // A suspended queue may have passed it on before.
            if isSuspended {
                guard chance(20) else { return false }
                set(ticket, .back)
            } else {
                try begin(operation)
            }
            note("begin \(ticket.work.name) #\(ticket.number)")
        case .back:
            note("back \(ticket.work.name) #\(ticket.number)")
            see("back")
            try goBack(operation)
        case .begun(let turn):
            note("began \(ticket.work.name) #\(ticket.number)")
            switch ticket.work {
            case .download(let key, let source):
                try beginDownload(operation, key, source, turn)
            case .filter(let key, let image): try beginFilter(operation, key, image)
            }
        case .downloads(let job, let turn): try download(operation, job, turn)
        case .refused:
            note("refused \(ticket.work.name) #\(ticket.number)")
            guard case .download(let key, let source) = ticket.work else { break }
            try ended(ticket) { $0.downloadDeferred(key, source) }
        case .notBegun:
            note("not begun \(ticket.work.name) #\(ticket.number)")
            see("filter not begun")
            guard case .filter(let key, let image) = ticket.work else { break }
            endedUndecided(ticket.work)
            try ended(ticket) { $0.filterNotBegun(key, image) }
        case .filters(let jobs, let obstacle, let hasAsked):
            note("filter \(ticket.work.name) #\(ticket.number), \(jobs.map(\.image))")
            if !hasAsked, chance(90) {
                ask(operation, jobs)
            } else {
                try filter(operation, jobs, obstacle)
            }
        case .filtered(_, _, let changes):
            note("filtered \(ticket.work.name) #\(ticket.number)")
            try ended(ticket) { board in for change in changes { change(&board) } }
        }
        return true
    }

    /// As `WorkQueues.cancel`. An operation that has not begun does nothing any more.
    func stop(_ ticket: Admission.Ticket) {
        guard let index = operations.firstIndex(where: { $0.ticket == ticket }) else { return }
        if case .queued = operations[index].phase {
            operations.remove(at: index)
        } else {
            see("stopped at work")
            operations[index].isCancelled = true
        }
    }

    private func set(_ ticket: Admission.Ticket, _ phase: Operation.Phase) {
        guard let index = operations.firstIndex(where: { $0.ticket == ticket }) else { return }
        operations[index].phase = phase
    }

    private func remove(_ ticket: Admission.Ticket) {
        operations.removeAll { $0.ticket == ticket }
    }

    private func begin(_ operation: Operation) throws(Fault) {
        let ticket = operation.ticket
        let key = operation.start.source.flatMap { cacheKeys[$0] }
        var beginning = Admission.Beginning.unwanted
        set(ticket, .back)
        try settle { board in
            beginning = board.begin(ticket, key: key)
        }
        switch beginning {
        case .unwanted:
            see("unwanted")
            remove(ticket)
        case .back: break
        case .goes(let turn): set(ticket, .begun(turn))
        }
    }

    private func goBack(_ operation: Operation) throws(Fault) {
        let ticket = operation.ticket
        remove(ticket)
        switch ticket.work {
        case .download(let key, let source):
            try advance { board in
                board.deferred(ticket) { $0.downloadDeferred(key, source) }
            }
        case .filter(let key, let image):
            try advance { board in
                board.deferred(ticket) { $0.change(key) { $0.filterNotAllowed(image, &$1) } }
            }
        }
    }

    /// As `Scheduler.ended`.
    private func ended(
        _ ticket: Admission.Ticket, isShared: Bool = false, _ change: (inout Board) -> Void
    ) throws(Fault) {
        remove(ticket)
        try advance { $0.left(ticket, isShared: isShared, change) }
    }

    /// The disk has refused a write, as `Scheduler.refused`.
    private func refused(_ work: Work) {
        forgetAttempt(work)
        writeRefused()
    }

    // MARK: Downloads

    private func beginDownload(
        _ operation: Operation, _ key: BatchKey, _ source: Int, _ turn: RequestCoalescer.Turn
    ) throws(Fault) {
        let ticket = operation.ticket
        let job = board.downloadBegan(ticket, isTransfer: !operation.start.isLocal)
        guard let job else {
            see("download not needed")
            endedUndecided(ticket.work)
            return try ended(ticket) { _ in }
        }
        try require(!stopped.contains(ticket), "\(ticket) was stopped, and begins")
        if !operation.start.isLocal { folderOfKey[key]?.scratch[job.slot] = -1 }
        set(ticket, .downloads(job, turn))
    }

    private func download(
        _ operation: Operation, _ job: DownloadJob, _ turn: RequestCoalescer.Turn
    ) throws(Fault) {
        let ticket = operation.ticket
        guard case .download(let key, let source) = ticket.work else { return }
        note("download \(ticket.work.name) #\(ticket.number), \(turn)")
        let isShared = operation.start.source.flatMap { cacheKeys[$0] } != nil
        switch turn {
        case .copies where chance(30):
            return try rejoin(operation, job, key, source)
        case .copies, .leads:
            guard chance(15) else { break }
            see("copied")
            return try end(
                operation, job, .ready(DownloadNote(bytes: 10, cache: "hit")), isShared: true)
        default: break
        }
        if operation.isCancelled, !operation.start.isLocal, chance(80) {
            guard cancelled.contains(key) else {
                return try ended(ticket) { $0.downloadDeferred(key, source) }
            }
            return try end(operation, job, .failed(Failure(FetchError(.cancelled, "cancelled"))))
        }
        if !isDiskWorking, chance(70) {
            refused(ticket.work)
            folderOfKey[key]?.scratch[job.slot] = nil
            return set(ticket, .refused(job))
        }
        switch number(isDraining ? 10...99 : 0...99) {
        case ..<5:
            see("confirmed in vain")
            try ended(ticket) { $0.downloadDeferred(key, source) }
        case ..<25: try fail(operation, job)
        case ..<32:
            try end(operation, job, .failed(Failure(FetchError(.httpStatus, "404"))))
        default:
            let note = DownloadNote(bytes: chance(80) ? number(1...100) : nil)
            try end(operation, job, .ready(note), isShared: isShared && chance(60))
        }
    }

    /// As `Scheduler.joinFlight`: what it was to copy is not there.
    private func rejoin(
        _ operation: Operation, _ job: DownloadJob, _ key: BatchKey, _ source: Int
    ) throws(Fault) {
        let ticket = operation.ticket
        guard let cacheKey = operation.start.source.flatMap({ cacheKeys[$0] }) else {
            return set(ticket, .downloads(job, .alone))
        }
        see("copy missing")
        var turn = RequestCoalescer.Turn.alone
        try settle { board in
            let outcome: Admission.Outcome
            (turn, outcome) = board.admission.rejoin(ticket, cacheKey)
            board.follow(outcome)
        }
        if turn == .waits {
            see("waits for another after all")
            try ended(ticket) { $0.downloadDeferred(key, source) }
        } else {
            set(ticket, .downloads(job, turn))
        }
    }

    /// Another attempt may help.
    private func fail(_ operation: Operation, _ job: DownloadJob) throws(Fault) {
        let retryAfter = chance(30) ? Double(number(1...60)) : nil
        if let retryAfter, let host = SourceReference.host(of: job.source.text), retryAfter <= 50 {
            see("paused host")
            let end = now + UInt64(retryAfter) * 1_000_000_000
            if board.admission.pause(host, until: end, now: now, at: "") {
                pauses.append((host, end))
            }
        }
        let partial = PartialBody(bytes: 1, validator: "v", crc32: 0)
        try end(
            operation, job,
            .failed(.late, retryAfter: retryAfter, partial: chance(40) ? partial : nil))
    }

    private func end(
        _ operation: Operation, _ job: DownloadJob, _ result: DownloadResult,
        isShared: Bool = false
    ) throws(Fault) {
        guard case .download(let key, let source) = operation.ticket.work else { return }
        if case .ready = result, !operation.start.isLocal {
            folderOfKey[key]?.scratch[job.slot] = source
        }
        try ended(operation.ticket, isShared: isShared) {
            $0.downloadEnded(key, source, result: result)
        }
    }

    // MARK: Filters

    private func beginFilter(
        _ operation: Operation, _ key: BatchKey, _ image: Int
    ) throws(Fault) {
        let ticket = operation.ticket
        var jobs: [FilterJob] = []
        set(ticket, .notBegun)
        try settle(takesAlong: true) { board in
            jobs = board.filterBegan(ticket)
        }
        guard !jobs.isEmpty else { return }
        try require(!stopped.contains(ticket), "\(ticket) was stopped, and begins")
        if jobs.count > 1 { see("taken along") }
        set(ticket, .filters(jobs, nil, hasAsked: false))
        for job in jobs { try checkInput(of: job, key) }
    }

    private func ask(_ operation: Operation, _ jobs: [FilterJob]) {
        guard case .filter(let key, let image) = operation.ticket.work,
            let folder = folderOfKey[key]
        else { return }
        let bytes = jobs.reduce(0) { $0 + folder.needs[$1.image] }
        let answer = board.needs(key, image, bytes: bytes)
        let obstacle = answer == .granted ? nil : Obstacle(answer: answer, bytes: bytes)
        set(operation.ticket, .filters(jobs, obstacle, hasAsked: true))
    }

    private func filter(
        _ operation: Operation, _ jobs: [FilterJob], _ obstacle: Obstacle?
    ) throws(Fault) {
        let ticket = operation.ticket
        guard case .filter(let key, _) = ticket.work else { return }
        let images = jobs.map(\.image)
        if let obstacle, jobs.count > 1 || obstacle.answer == .later,
            !cancelled.contains(key)
        {
            endedUndecided(ticket.work)
            if case .tooLarge = obstacle.answer {
                see("filtered apart")
                return try ended(ticket) { $0.change(key) { $0.filteredApart(images, &$1) } }
            }
            see("waits for memory")
            return try ended(ticket) {
                $0.change(key) { $0.filterPostponed(images, bytes: obstacle.bytes, &$1) }
            }
        }
        var changes: [(inout Board) -> Void] = []
        var givenBack: [Int] = []
        for job in jobs {
            changes.append(end(job, ticket, key, obstacle, share: jobs.count, &givenBack))
        }
        set(
            ticket,
            .filtered(images.filter { !givenBack.contains($0) }, givenBack: givenBack, changes))
    }

    /// The end of one image, as in `Scheduler.end`.
    private func end(
        _ job: FilterJob, _ ticket: Admission.Ticket, _ key: BatchKey, _ obstacle: Obstacle?,
        share: Int, _ givenBack: inout [Int]
    ) -> (inout Board) -> Void {
        let image = job.image
        let wasCancelled = Failure(PictureError(.cancelled, "the batch was cancelled"))
        func ends(_ result: Result<DevelopedPicture, Failure>) -> (inout Board) -> Void {
            { $0.filterEnded(key, image, result: result, share: share) }
        }
        if let obstacle {
            if obstacle.answer == .later { return ends(.failure(wasCancelled)) }
            see("needs too much")
            return ends(.failure(Failure(.internalError, "too large")))
        }
        if cancelled.contains(key), chance(80) { return ends(.failure(wasCancelled)) }
        if !isDiskWorking, chance(60) {
            refused(ticket.work)
            if cancelled.contains(key) { return ends(.failure(wasCancelled)) }
            if chance(70), let slot = board.sourceGivenBack(key, image) {
                see("source given back")
                givenBack.append(image)
                folderOfKey[key]?.scratch[slot] = nil
            }
            return { $0.filterDeferred(key, image) }
        }
        if !isDraining, chance(3) {
            see("filter stopped")
            return { $0.filterDeferred(key, image) }
        }
        if chance(10) { return ends(.failure(Failure(.internalError, "not a picture"))) }
        if job.handsOver { folderOfKey[key]?.pixels.insert(image) }
        if job.isAgain { see("filtered again") }
        let report = PictureReport(
            format: job.steps.options.format, width: 1, height: 1, channels: 3, depth: 8,
            bytes: number(1...100), sha256: chance(80) ? "0" : "1",
            warnings: chance(20) ? ["a warning"] : [], metadata: [:], libraries: nil)
        return ends(.success(DevelopedPicture(.made(report), source: nil)))
    }
}
