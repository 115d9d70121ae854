@testable import DarkroomBoard
@testable import DarkroomFetch
@testable import DarkroomWork

/// What must hold after each step: the sums, the places of all work, and the end.
extension BoardMachine {
    func require(_ holds: Bool, _ words: @autoclosure () -> String) throws(Fault) {
        if !holds { throw Fault(description: words()) }
    }

    func check() throws(Fault) {
        for batch in board.batches.values { try check(batch) }
        try checkSums()
        try checkWaitingBatches()
        try checkAdmission()
        try checkScratch()
    }

    // MARK: Effects

    /// An effect, when the board requests it.
    func check(_ effect: Effect) throws(Fault) {
        switch effect {
        case .start(let start):
            try require(
                started.insert(start.ticket).inserted, "started twice: \(start.ticket)")
            let other = operations.first {
                $0.ticket.work == start.ticket.work && !stopped.contains($0.ticket)
            }
            try require(other == nil, "\(start.ticket) beside \(String(describing: other?.ticket))")
        case .stop(let ticket):
            try require(stopped.insert(ticket).inserted, "stopped twice: \(ticket)")
        case .finish(let key, _):
            try require(finished.insert(key).inserted, "finished twice: \(key)")
        default: break
        }
    }

    /// The images that have been given places since then.
    func checkAdmitted(
        since before: [BatchKey: LiveImages], takesAlong: Bool
    ) throws(Fault) {
        for (key, batch) in board.batches where !batch.live.isEmpty {
            let former = before[key] ?? LiveImages()
            var images: [Int] = []
            for (index, live) in batch.live
            where ![.delivering, .recording].contains(live.stage) && former[index] == nil {
                images.append(index)
            }
            if images.isEmpty { continue }
            try require(!batch.isHeld, "\(key) is held, and \(images) have begun")
            try require(!batch.isCancelled, "\(key) is cancelled, and \(images) have begun")
            if takesAlong { continue }
            let level = batch.level.index
            try require(
                batch.live.workingCount <= limits.window
                    && batch.live.count { ![.delivering, .recording].contains($0.value.stage) } <= 4
                        * limits.window,
                "\(key) has more than its window: \(batch.live.map(\.value.stage))")
            let working = board.pool.places[level]
            try require(
                working <= bounds.placesPerLevel + bounds.placesPerLevel / 4,
                "level \(level) has \(working) places")
        }
    }

    // MARK: Sums

    private func checkSums() throws(Fault) {
        var places = [Int](repeating: 0, count: Level.count)
        var waiting = places
        var batches = places
        var placesOfOwner = [[FairShare.Owner: Int]](repeating: [:], count: Level.count)
        var batchesOfOwner = placesOfOwner
        var imagesOfOwner: [FairShare.Owner: Int] = [:]
        var (images, large) = (0, 0)
        func add(_ count: Int, _ level: Int, _ owner: FairShare.Owner) {
            batches[level] += 1
            batchesOfOwner[level][owner, default: 0] += 1
            imagesOfOwner[owner, default: 0] += count
            if count > bounds.imageBudget / 4 { large += 1 } else { images += count }
        }
        for batch in board.batches.values {
            let level = batch.level.index
            let outside = batch.live.count { $0.value.stage == .waits(.turn) }
            let delivering = batch.live.count { $0.value.stage == .delivering }
            places[level] += batch.live.count - outside - delivering
            waiting[level] += outside
            placesOfOwner[level][batch.owner, default: 0] +=
                batch.live.count - outside - delivering
            add(batch.manifest.images.count, level, batch.owner)
        }
        var prepared = 0
        for key in board.waitingBatches.keys {
            guard let batch = board.waitingBatches[key] else { continue }
            if batch.prepared != nil { prepared += batch.images }
            if batch.isInPreparation { add(batch.images, batch.level.index, batch.owner) }
        }
        try require(board.pool.places == places, "places: \(board.pool.places), not \(places)")
        try require(
            board.pool.waitingPlaces == waiting, "waitingPlaces \(board.pool.waitingPlaces)")
        try require(board.batchesInWork == batches, "batchesInWork \(board.batchesInWork)")
        try require(
            board.imagesInWork == images && board.largeBatchesInWork == large,
            "imagesInWork \(board.imagesInWork), large \(board.largeBatchesInWork)")
        try require(board.imagesPrepared == prepared, "imagesPrepared \(board.imagesPrepared)")
        for level in 0..<Level.count {
            try same(board.pool.placesOfOwner[level], placesOfOwner[level], "placesOfOwner")
            try same(board.batchesOfOwner[level], batchesOfOwner[level], "batchesOfOwner")
        }
        try same(board.imagesOfOwner, imagesOfOwner, "imagesOfOwner")
    }

    /// Nothing and a missing number are the same.
    private func same(
        _ has: [FairShare.Owner: Int], _ right: [FairShare.Owner: Int], _ name: String
    ) throws(Fault) {
        if has.isEmpty, right.isEmpty { return }
        try require(
            has.filter { $0.value != 0 } == right.filter { $0.value != 0 },
            "\(name): \(has), not \(right)")
    }

    private func checkWaitingBatches() throws(Fault) {
        var inLines = 0
        var (free, held) = (0, 0)
        for key in board.waitingBatches.keys {
            guard let batch = board.waitingBatches[key] else { continue }
            try require(board.batches[key] == nil, "\(key) waits and is in work")
            if batch.control == .held { held += 1 } else { free += 1 }
            let line = board.waiting[batch.level.index][batch.owner]
            let isDue = batch.control == .free && !batch.isInPreparation
            try require(
                line.count { $0 == key } == (isDue ? 1 : 0) && line == line.sorted(),
                "\(key), \(batch.control), is in the line \(line)")
            inLines += isDue ? 1 : 0
            let preparations =
                preparation.count { if case .prepare(key) = $0 { true } else { false } }
                + unprepared.count { $0 == key }
                + pending { if case .prepare(key, _) = $0 { true } else { false } }
            try require(
                preparations == (batch.isInPreparation ? 1 : 0), "\(key): \(preparations) readings")
        }
        try require(
            board.waitingBatches.waitingCount == free && board.waitingBatches.heldCount == held,
            "waiting \(board.waitingBatches.waitingCount), held \(board.waitingBatches.heldCount)")
        let allInLines = board.waiting.reduce(0) { sum, queue in
            queue.owners.reduce(sum) { $0 + queue[$1].count }
        }
        try require(allInLines == inLines, "\(allInLines) in lines, not \(inLines)")
        let unfinished = board.waitingBatches.keys.count + board.batches.count
        try require(
            board.keys.count == unfinished
                && board.keys.values.allSatisfy {
                    board.batches[$0] != nil || board.waitingBatches[$0] != nil
                },
            "keys \(board.keys.values.sorted())")
        let turns = board.pool.rotation.flatMap(\.keys)
        try require(Set(turns).count == turns.count, "rotation \(turns)")
        for (key, batch) in board.batches {
            try require(batch.isInRotation == turns.contains(key), "\(key) in rotation: \(turns)")
        }
    }

    /// How many effects of this kind have not been carried out yet.
    func pending(_ isMeant: (Effect) -> Bool) -> Int {
        threads.reduce(0) { $0 + $1.count(where: isMeant) }
    }

    // MARK: The admission

    private func checkAdmission() throws(Fault) {
        try require(
            board.admission.isConsistent && board.admission.downloads.isConsistent
                && board.admission.local.isConsistent && board.admission.filters.isConsistent,
            "the admission is not consistent")
        try require(board.pool.memory.isConsistent, "the memory is not consistent")
        var count = 0
        var now = Allowance()
        for key in knownKeys {
            guard let manifest = folderOfKey[key]?.manifest else { continue }
            for index in manifest.images.indices {
                for work in [Work.download(key, source: index), .filter(key, image: index)] {
                    guard let place = board.admission.place(of: work) else { continue }
                    count += 1
                    try check(work, in: place)
                    if place == .queued || place == .running { add(work, to: &now) }
                }
            }
        }
        try require(
            board.admission.count == count, "\(board.admission.count) entries, not \(count)")
        knownKeys.removeAll { key in
            board.batches[key] == nil && board.waitingBatches[key] == nil && count == 0
        }
        now.grants = board.pool.memory.grantCount
        try checkLimits(now)
    }

    private func add(_ work: Work, to allowance: inout Allowance) {
        // Work that nobody needs any more has no batch here, but an operation.
        let start = operations.first { $0.ticket.work == work && !stopped.contains($0.ticket) }?
            .start
        guard case .download(let key, let source) = work else { return }
        guard let text = board.batches[key]?.sources[source].text ?? start?.source?.text else {
            return
        }
        if let host = SourceReference.host(of: text) {
            allowance.downloads += 1
            allowance.hosts[host, default: 0] += 1
        } else {
            allowance.local += 1
        }
    }

    private func checkLimits(_ now: Allowance) throws(Fault) {
        let most = limits.places + 1
        let slots =
            limits.filters.width + limits.filters.keptForBatches + limits.filters.keptForOwners
        try require(
            now.downloads <= max(most, allowed.downloads)
                && now.local <= max(most, allowed.local),
            "\(now.downloads) and \(now.local) downloads")
        for (host, count) in now.hosts {
            try require(
                count <= max(limits.perHost, allowed.hosts[host] ?? 0),
                "\(count) downloads of \(host)")
        }
        try require(now.grants <= max(slots, allowed.grants), "\(now.grants) images have memory")
        // The parts that are shared and kept may be of two limits.
        let memory = max(limits.memory, now.grants == 0 ? 0 : allowed.memory)
        try require(
            board.pool.memory.held <= memory + memory / 8, "\(board.pool.memory.held) bytes granted"
        )
        allowed = now
        allowed.memory = memory
    }

    /// Work in a place has what moves it on.
    private func check(_ work: Work, in place: Admission.Place) throws(Fault) {
        let current = operations.filter { $0.ticket.work == work && !stopped.contains($0.ticket) }
        let starts = pending {
            if case .start(let start) = $0 {
                start.ticket.work == work && !stopped.contains(start.ticket)
            } else {
                false
            }
        }
        switch place {
        case .queued:
            let isReady = current.contains {
                switch $0.phase {
                case .queued, .back: true
                default: false
                }
            }
            try require(
                current.count + starts == 1 && (isReady || starts == 1),
                "\(work) is queued: \(current.map(\.phase)), \(starts) starts")
        case .running:
            let isRunning = current.allSatisfy {
                if case .queued = $0.phase { false } else { true }
            }
            try require(
                current.count == 1 && starts == 0 && isRunning,
                "\(work) runs: \(current.map(\.phase)), \(starts) starts")
        case .storage:
            try require(current.isEmpty && starts == 0, "\(work) waits for the disk, and runs")
            try require(!breaker.mayWork || tells > 0, "\(work) waits for a disk that works")
        case .flight, .turn:
            try require(current.isEmpty && starts == 0, "\(work) waits outside, and runs")
        }
    }

    // MARK: The end

    /// A batch whose last status is written.
    func checkEnd(of key: BatchKey) throws(Fault) {
        guard let batch = board.batches[key], let folder = folderOfKey[key] else {
            throw Fault(description: "\(key) ends, and is not there")
        }
        try require(
            batch.hasEnded && batch.live.isEmpty && batch.isFinishing, "\(key) ends too early")
        try require(batch.handOvers.former.isEmpty, "\(key) ends with images to be made again")
        for (index, image) in batch.status.images.enumerated() {
            if folder.images[index].state.isFinal {
                try require(
                    folder.images[index].state == image.state,
                    "\(key)/\(index) is \(image.state), not \(folder.images[index].state)")
            } else {
                try require(image.state == .cancelled, "\(key)/\(index) is not in the journal")
                folder.images[index].state = .cancelled
            }
            try require(folder.recorded[index] <= 1, "\(key)/\(index) was recorded twice")
            try require(image.attempts >= 0, "\(key)/\(index) has \(image.attempts) attempts")
        }
        try require(batch.handOvers.unneeded.isEmpty, "\(key) leaves pixels")
        see("\(batch.status.state)")
    }

    /// Everything has ended.
    func checkEmpty() throws(Fault) {
        for folder in folders where folder.state == .inWork {
            throw Fault(description: "\(folder.id) was forgotten\n\(description)")
        }
        try require(board.batches.isEmpty && board.waitingBatches.isEmpty, description)
        try require(board.keys.isEmpty && board.pool.rotation.allSatisfy(\.keys.isEmpty), "keys")
        try require(
            board.admission.isEmpty && board.admission.downloads.isEmpty
                && board.admission.local.isEmpty && board.admission.filters.isEmpty,
            "the admission is not empty: \(board.admission)")
        try require(
            board.pool.memory.grantCount == 0 && board.pool.memory.waitingCount == 0, "memory")
        try require(
            operations.isEmpty && entries.isEmpty && deliveries.isEmpty && retries.isEmpty,
            description)
        try require(board.imagesPrepared == 0 && board.imagesInWork == 0, "images in work")
    }

    /// What there is, for a failure.
    var description: String {
        let batches = board.batches.sorted { $0.key < $1.key }.map { key, batch in
            "\(key): \(batch.control), \(batch.status.counts.finished) of \(batch.status.counts.total), "
                + "live \(batch.live.map { "\($0.key) \($0.value.stage)" }.sorted()), "
                + "sources \(batch.sources.map { "\($0.phase)".prefix { $0 != "(" } }), "
                + "blockers \(batch.blockers), in rotation \(batch.isInRotation)"
        }
        return """
            \(batches.joined(separator: "\n"))
            waiting \(board.waitingBatches.keys), entries in the admission \(board.admission.count), \
            memory \(board.pool.memory.grantCount) granted and \(board.pool.memory.waitingCount) waiting
            places \(board.pool.places), waiting \(board.pool.waitingPlaces), \(bounds), \(limits), \
            turns \(board.pool.rotation.flatMap(\.keys)), free levels \(board.batches.values.map(\.level.index))
            operations \(operations.map { "\($0.ticket.work.name) \($0.phase)".prefix(40) })
            threads \(threads.count), entries \(entries.count), afterwards \(afterwards.count), \
            parking \(parking), finishing \(finishing.map(\.key)), retries \(retries.count), \
            breaker \(breaker.phase), suspended \(isSuspended)
            """
    }
}
