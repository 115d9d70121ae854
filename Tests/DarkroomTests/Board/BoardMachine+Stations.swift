import DarkroomAnswer

@testable import DarkroomBoard
@testable import DarkroomCore
@testable import DarkroomPicture
@testable import DarkroomSpool
@testable import DarkroomWork

/// The committer, the status keeper, the queue of preparations, the timers and the storage guard.
extension BoardMachine {
    // MARK: The committer

    /// Writes an entry into its journal.
    func publish() throws(Fault) -> Bool {
        let due = entries.indices.filter { !entries[$0].isKept || breaker.mayWork }
        guard let index = due.randomElement(using: &random) else { return false }
        _ = try publish(at: index)
        return true
    }

    /// - Returns: false if the disk has refused it.
    private func publish(at chosen: Int) throws(Fault) -> Bool {
        let entry = entries[chosen]
        guard isDiskWorking else {
            note("unpublished \(entry.id)")
            if case .image(let key, let index, let status, _) = entry.kind,
                status.state == .filtered, !entry.isKept, chance(40)
            {
                see("to be made again")
                entries.remove(at: chosen)
                writeRefused()
                forgetAttempt(.filter(key, image: index))
                try advance { $0.filterDeferred(key, index) }
                return false
            }
            if case .again = entry.kind { return false }
            for index in entries.indices where entries[index].id == entry.id {
                entries[index].isKept = true
            }
            writeRefused()
            return false
        }
        entries.remove(at: chosen)
        guard let folder = folder(entry.id) else { return true }
        switch entry.kind {
        case .image(let key, let index, var status, let handsOver):
            if handsOver, !folder.pixels.contains(index) {
                throw Fault(description: "\(entry.id)/\(index) has no pixels to be published")
            }
            if status.state == .filtered, chance(4) {
                see("publishing failed")
                status.fail(Failure(.internalError, "the output was not moved"))
            }
            note("publish \(key)/\(index) \(status.state)")
            folder.images[index] = status
            folder.undelivered[index] = nil
            folder.recorded[index] += 1
            endedWell(.filter(key, image: index))
            try advance { $0.imageEnded(key, index, status) }
        case .again(let key, let index, let status):
            note("again \(key)/\(index) \(status.state)")
            endedWell(.filter(key, image: index))
            try advance { $0.imageEnded(key, index, status) }
        case .command(let command):
            folder.control.follow(command.command)
            folder.commands.note(command)
        }
        return true
    }

    // MARK: The deliveries

    /// Places an output in its folder, or keeps it for a restart, because the folder is away.
    func deliver() throws(Fault) -> Bool {
        guard let index = deliveries.indices.randomElement(using: &random) else { return false }
        let job = deliveries[index]
        if !isDraining, chance(40) {
            see("folder away")
            folder(job.id)?.undelivered[job.index] = job.image
            return true
        }
        deliveries.remove(at: index)
        var image = job.image.status
        image.deliveredTo = "/d/f"
        let fails = cancelled.contains(job.key) || chance(10)
        note("deliver \(job.key)/\(job.index) \(fails ? "fails" : "")")
        see(fails ? "not delivered" : "delivered")
        let failure =
            cancelled.contains(job.key)
            ? Failure(PictureError(.cancelled, "the batch was cancelled"))
            : Failure(.deliveryExists, "")
        try advance {
            $0.change(job.key) {
                $0.deliveryEnded(job.index, fails ? .failure(failure) : .success(image), &$1)
            }
        }
        return true
    }

    // MARK: The originals

    /// Moves the originals of an ended batch, or keeps it, because their folder is away.
    func moveOriginals() throws(Fault) -> Bool {
        guard let index = moving.indices.randomElement(using: &random) else { return false }
        let key = moving[index]
        if !isDraining, !cancelled.contains(key), chance(40) {
            see("originals wait")
            return true
        }
        moving.remove(at: index)
        guard let batch = board.batches[key] else {
            throw Fault(description: "\(key) left before its originals were moved")
        }
        var outcomes: [ByteString: OriginalOutcome] = [:]
        for source in batch.status.images.compactMap(\.source) {
            outcomes[ByteString(source)] =
                chance(30)
                ? .stays("full")
                : chance(20)
                    ? .isAnother : chance(20) ? .isLost(to: "/d/o") : .moved(to: "/d/o")
        }
        note("originals of \(key)")
        see(cancelled.contains(key) ? "originals of a cancelled batch" : "originals moved")
        let states = batch.status.images.map(\.state)
        try advance { $0.change(key) { $0.originalsMoved(outcomes, &$1) } }
        for (index, image) in (board.batches[key]?.status.images ?? []).enumerated() {
            try require(image.state == states[index], "\(key)/\(index) has another state")
            let outcome = image.source.flatMap { outcomes[ByteString($0)] }
            try require(
                (image.originalAt == "/d/o")
                    == (outcome == .moved(to: "/d/o") || outcome == .isLost(to: "/d/o")),
                "\(key)/\(index) says \(image.originalAt?.value ?? "nothing") of its original")
        }
        return true
    }

    /// Continues a batch whose entries are in the journal.
    func goOnAfterwards() -> Bool {
        let due = afterwards.indices.filter { index in
            let body = afterwards[index]
            return !entries.contains { $0.id == body.id && $0.number < body.number }
        }
        guard let index = due.randomElement(using: &random) else { return false }
        let body = afterwards.remove(at: index)
        note("afterwards \(body.key) \(body.isEnd ? "finish" : "park")")
        if body.isEnd {
            finishing.append(Finishing(key: body.key))
        } else {
            parking.append(body.key)
        }
        return true
    }

    // MARK: The status keeper

    func park() throws(Fault) -> Bool {
        guard breaker.mayWork, let index = parking.indices.randomElement(using: &random) else {
            return false
        }
        let key = parking[index]
        guard isDiskWorking else {
            writeRefused()
            return true
        }
        parking.remove(at: index)
        note("parked \(key)")
        let isDue = board.batches[key] != nil
        try advance { $0.parked(key) }
        if isDue, board.isParked(key) { see("parked") }
        return true
    }

    func finish() throws(Fault) -> Bool {
        let due = finishing.indices.filter { !finishing[$0].isKept || breaker.mayWork }
        guard let index = due.randomElement(using: &random) else { return false }
        _ = try finish(at: index)
        return true
    }

    private func finish(at index: Int) throws(Fault) -> Bool {
        let key = finishing[index].key
        guard isDiskWorking else {
            finishing[index].isKept = true
            writeRefused()
            return false
        }
        finishing.remove(at: index)
        note("finished \(key)")
        try checkEnd(of: key)
        folderOfKey[key]?.state = .finished
        try advance { $0.batchFinished(key) }
        return true
    }

    // MARK: Preparations

    func prepare() throws(Fault) -> Bool {
        guard !preparation.isEmpty else { return false }
        switch preparation.removeFirst() {
        case .dropDownloads(let key):
            if board.isParked(key) { folderOfKey[key]?.scratch = [:] }
        case .prepare(let key):
            guard let folder = folderOfKey[key] else { break }
            note("prepare \(key)")
            if !isDiskWorking, chance(80) {
                see("not prepared")
                writeRefused()
                unprepared.append(key)
                board.admission.add(unprepared: key, id: folder.id)
                if breaker.mayWork { try storageWorks() }
            } else if chance(2) {
                see("cannot be prepared")
                change { $0.probeInconclusive(now: now) }
                folder.state = .lost
                try advance { $0.preparationFailed(key) }
            } else {
                see("prepared")
                change { $0.writeSucceeded(now: now) }
                let prepared = recover(folder)
                try advance { $0.prepared(key, prepared) }
            }
        }
        return true
    }

    /// What a start or a preparation reads from a folder.
    func recover(_ folder: Folder) -> PreparedBatch {
        folder.scratch = [:]
        folder.pixels = folder.pixels.filter {
            folder.images[$0].state == .filtered || folder.undelivered[$0] != nil
        }
        let started = folder.hasStarted ? Self.time : nil
        let status = Status(
            id: folder.id,
            manifest: .init(
                name: folder.id, file: nil, sha256: nil, bytes: 0, uid: folder.owner,
                isFolder: folder.owner == 1 ? true : nil),
            state: folder.control == .held ? .held : .pending, priority: folder.manifest.priority,
            qualityOfService: folder.manifest.qualityOfService,
            times: .init(received: Self.time, started: started),
            counts: Status.Counts(of: folder.images),
            commands: folder.commands.isEmpty ? nil : folder.commands, images: folder.images)
        return PreparedBatch(
            id: folder.id, manifest: folder.manifest, status: status,
            control: folder.control, crashes: folder.crashes, handOvers: folder.pixels,
            undelivered: folder.undelivered)
    }

    private static let time = "2026-01-01T00:00:00.000Z"

    // MARK: Timers

    func retry() throws(Fault) -> Bool {
        guard let index = retries.indices.randomElement(using: &random) else { return false }
        let (work, number) = retries.remove(at: index)
        guard case .download(let key, let source) = work else { return false }
        note("retry \(work.name) wait \(number)")
        see("retried")
        try advance { $0.change(key) { $0.retryDue(source, number: number, &$1) } }
        return true
    }

    func endPause() throws(Fault) -> Bool {
        guard let index = pauses.indices.randomElement(using: &random) else { return false }
        let (host, end) = pauses.remove(at: index)
        let time = max(now, end)
        now = time
        note("pause of \(host) ends")
        var again: UInt64?
        try advance { board in
            let outcome: Admission.Outcome
            (outcome, again) = board.admission.resume(host, now: time)
            board.follow(outcome)
        }
        if let again { pauses.append((host, again)) }
        return true
    }

    // MARK: The storage guard

    /// Changes the storage guard, as `StorageGuard.change`.
    func change(_ body: (inout StorageBreaker) -> Void) {
        let before = (breaker.phase, breaker.trouble)
        body(&breaker)
        let after = (breaker.phase, breaker.trouble)
        breaker.forgetTrouble()
        if before.0 != after.0 || before.1 != after.1 { tells += 1 }
    }

    func writeRefused(_ storageFailure: StorageFailure = .full) {
        see("refused")
        let failure = Failure(
            code: FileError.diskFull, message: "no space", isTransient: true,
            storageFailure: storageFailure)
        change { _ = $0.writeRefused(failure, now: now, time: "") }
    }

    /// As `Scheduler.endedWell`.
    func endedWell(_ work: Work) {
        guard !breaker.mayWork else { return }
        let wasTried = board.piece(of: work).map { board.admission.endAttempt(of: $0) } ?? false
        if wasTried {
            see("tried well")
            change { $0.writeSucceeded(now: now) }
        }
    }

    /// As `Scheduler.endedUndecided`.
    func endedUndecided(_ work: Work) {
        guard !breaker.mayWork else { return }
        if board.admission.endAttempt(of: board.piece(of: work)) {
            see("undecided")
            change { $0.probeInconclusive(now: now) }
        }
    }

    /// As `Scheduler.forgetAttempt`.
    func forgetAttempt(_ work: Work) {
        if let piece = board.piece(of: work) { _ = board.admission.endAttempt(of: piece) }
    }

    /// Its clients learn that something has changed.
    func tell() throws(Fault) -> Bool {
        guard tells > 0 else { return false }
        tells -= 1
        note("tell, works: \(breaker.mayWork)")
        if breaker.mayWork {
            try storageWorks()
        } else if breaker.trouble?.failure.code == FileError.diskFull, freed.isEmpty {
            // Nobody else returns them, and each return follows its taking.
            for free in board.takeFreeSlots() {
                see("freed")
                freed.append(Freed(key: free.key, slots: free.slots))
            }
        }
        return true
    }

    /// Removes the scratch files that have been taken, and returns their numbers.
    func returnFreed() -> Bool {
        guard let free = pick(freed.isEmpty ? [] : [freed[0]]) else { return false }
        freed.removeFirst()
        for slot in free.slots { folderOfKey[free.key]?.scratch[slot] = nil }
        board.batches[free.key]?.returnSlots(free.slots)
        return true
    }

    /// As `Scheduler.goOn`.
    private func storageWorks() throws(Fault) {
        if !isDiskWorking, chance(5) { writeRefused() }
        var waited: [(key: BatchKey, id: String)] = []
        try advance { board in
            let outcome: Admission.Outcome
            (outcome, waited) = board.admission.storageWorks()
            board.follow(outcome)
        }
        unprepared.removeAll { key in waited.contains { $0.key == key } }
        preparation += waited.map { .prepare($0.key) }
    }

    /// The time comes at which the guard does something.
    func tick() throws(Fault) -> Bool {
        guard tells == 0, let deadline = breaker.deadline else { return false }
        now = max(now, deadline)
        note("tick, disk \(isDiskWorking)")
        change { _ = $0.tick(now: now) }
        guard case .trying = breaker.phase else { return true }
        if let index = entries.firstIndex(where: \.isKept) {
            if try publish(at: index) { change { $0.writeSucceeded(now: now) } }
        } else if let index = finishing.firstIndex(where: \.isKept) {
            if try finish(at: index) { change { $0.writeSucceeded(now: now) } }
        } else if try !tryBoard() {
            change { $0.writeSucceeded(now: now) }
        }
        return true
    }

    /// As `Scheduler.tryStorage`.
    private func tryBoard() throws(Fault) -> Bool {
        guard !isSuspended else { return false }
        if let (key, _) = board.admission.takeUnprepared() {
            unprepared.removeAll { $0 == key }
            preparation.append(.prepare(key))
            return true
        }
        var isTried = false
        try settle { board in
            guard let outcome = board.admission.tryStorage() else { return }
            isTried = true
            board.follow(outcome)
        }
        if isTried { see("tried") }
        return isTried
    }
}
