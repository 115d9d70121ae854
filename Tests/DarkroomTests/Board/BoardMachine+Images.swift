import DarkroomAnswer

@testable import DarkroomBoard
@testable import DarkroomFetch

/// What must hold after each step: each image is in one place, and something will move it.
extension BoardMachine {
    /// How many work on each of a batch's images and sources at the moment.
    private struct AtWork {
        var downloads: [Int]
        var filters: [Int]
        var records: [Int]
        var deliveries: [Int]
        /// Images whose operation has given their source back, and has not ended.
        var givenBack: [Int] = []

        init(_ batch: Batch) {
            downloads = [Int](repeating: 0, count: batch.sources.count)
            filters = [Int](repeating: 0, count: batch.manifest.images.count)
            records = filters
            deliveries = filters
        }
    }

    private func atWork(_ batch: Batch) -> AtWork {
        var found = AtWork(batch)
        for operation in operations {
            switch (operation.ticket.work, operation.phase) {
            case (.download(batch.key, let source), .downloads),
                (.download(batch.key, let source), .refused):
                found.downloads[source] += 1
            case (.filter(batch.key, _), .filters(let jobs, _, _)):
                for job in jobs { found.filters[job.image] += 1 }
            case (.filter(batch.key, _), .filtered(let images, let givenBack, _)):
                for image in images { found.filters[image] += 1 }
                found.givenBack += givenBack
            default: break
            }
        }
        for entry in entries {
            switch entry.kind {
            case .image(batch.key, let index, _, _), .again(batch.key, let index, _):
                found.records[index] += 1
            default: break
            }
        }
        for job in deliveries where job.key == batch.key { found.deliveries[job.index] += 1 }
        for effects in threads {
            for effect in effects {
                switch effect {
                case .deliver(let job) where job.key == batch.key:
                    found.deliveries[job.index] += 1
                case .record(batch.key, _, let index, _, _), .endAgain(batch.key, let index, _):
                    found.records[index] += 1
                default: break
                }
            }
        }
        return found
    }

    func check(_ batch: Batch) throws(Fault) {
        let key = batch.key
        let atWork = atWork(batch)
        try require(
            batch.status.counts == Status.Counts(of: batch.status.images),
            "\(key) counts \(batch.status.counts)")
        let stages = batch.live.map(\.value.stage)
        try require(
            batch.live.workingCount == stages.count(where: \.isWorking),
            "\(key) counts \(stages) as \(batch.live.workingCount)")
        for source in batch.sources.indices { try checkSource(source, of: batch, atWork) }
        for index in batch.manifest.images.indices { try checkImage(index, of: batch, atWork) }
        let slots = batch.sources.compactMap(\.slot)
        try require(Set(slots).count == slots.count, "\(key) has the slots \(slots)")
        try checkWayOn(of: batch)
    }

    /// A batch without images in work has something that moves it.
    private func checkWayOn(of batch: Batch) throws(Fault) {
        let key = batch.key
        let ends =
            pending { if case .finish(key, _) = $0 { true } else { false } }
            + afterwards.count { $0.key == key && $0.isEnd } + finishing.count { $0.key == key }
        try require(ends == (batch.isFinishing ? 1 : 0), "\(key) ends \(ends) times")
        let moves =
            pending { if case .moveOriginals(key, _) = $0 { true } else { false } }
            + moving.count { $0 == key }
        try require(
            moves == (batch.originals == .moving ? 1 : 0), "\(key) moves originals \(moves) times")
        try require(
            moves == 0 || batch.hasEnded && !batch.isFinishing, "\(key) moves originals too early")
        if moves > 0 { return }
        guard !batch.isFinishing, batch.live.isEmpty else { return }
        try require(!batch.hasEnded, "\(key) has ended, and nobody knows")
        try require(!batch.isCancelled, "\(key) is cancelled, and does not end")
        if batch.isHeld {
            let parks =
                pending { if case .park(key, _) = $0 { true } else { false } }
                + afterwards.count { $0.key == key && !$0.isEnd } + parking.count { $0 == key }
            try require(parks > 0, "\(key) is held and idle, and is not parked")
        } else {
            try require(batch.isInRotation, "\(key) is idle, and gets no turn")
        }
    }

    // MARK: Sources

    private func checkSource(_ source: Int, of batch: Batch, _ atWork: AtWork) throws(Fault) {
        let key = batch.key
        let state = batch.sources[source]
        let place = board.admission.place(of: .download(key, source: source))
        var name: String { "source \(key)/\(source)" }
        let users = batch.sourceOfImage.indices.count {
            batch.sourceOfImage[$0] == source && !batch.status.images[$0].state.isFinal
        }
        try require(state.users == users, "\(name) has \(state.users) users, not \(users)")
        let transfers = atWork.downloads[source]
        try require(
            transfers == (state.phase == .running ? 1 : 0),
            "\(name) is \(state.phase), and has \(transfers) transfers")
        let waiters = state.waiters.filter { batch.live[$0] != nil }
        try require(
            Set(waiters).count == waiters.count
                && waiters.allSatisfy { batch.sourceOfImage[$0] == source },
            "\(name) has the waiters \(waiters)")
        var isRetrying = false
        switch state.phase {
        case .queued:
            let isGivenBack = atWork.givenBack.contains { batch.sourceOfImage[$0] == source }
            try require(place != nil || isGivenBack, "\(name) is queued nowhere")
            if place == .flight || place == .turn {
                try require(state.waitsOutside, "\(name) waits outside, which is not counted")
            }
            if users > 0 { try require(!waiters.isEmpty, "\(name) is queued for nobody") }
        case .retrying(let number):
            isRetrying = true
            let work = Work.download(key, source: source)
            let timers =
                retries.count { $0.work == work && $0.number == number }
                + pending {
                    if case .enterLater(work, let retry) = $0 {
                        retry.number == number
                    } else {
                        false
                    }
                }
            try require(timers == 1, "\(name) has \(timers) timers")
        case .running, .idle, .ready, .failed:
            try require(!state.waitsOutside, "\(name) is \(state.phase), and waits outside")
        }
        try require(batch.retrying.contains(source) == isRetrying, "\(name) retries")
        let waiting = waiters.map { batch.stage(of: $0) }
        let isRight =
            switch state.phase {
            case .idle, .ready, .failed: waiting.isEmpty
            case .queued:
                waiting.allSatisfy {
                    $0 == .waits(state.waitsOutside ? .turn : .queue)
                }
            case .retrying: waiting.allSatisfy { $0 == .waits(.turn) }
            case .running: waiting.allSatisfy { $0 == .downloading }
            }
        try require(isRight, "\(name) is \(state.phase), and its images are \(waiting)")
    }

    // MARK: Images

    private func checkImage(_ index: Int, of batch: Batch, _ atWork: AtWork) throws(Fault) {
        let key = batch.key
        var name: String { "\(key)/\(index)" }
        let state = batch.status.images[index].state
        let stage = batch.stage(of: index)
        let source = batch.sourceOfImage[index]
        let blockers = batch.manifest.images[index].blockers.count {
            !batch.status.images[$0].state.isFinal
        }
        // Those of a cancelled batch end without waiting for each other.
        if !state.isFinal, !batch.isCancelled {
            try require(
                batch.blockers[index] == blockers,
                "\(name) has \(batch.blockers[index]) blockers, not \(blockers)")
            try require(
                blockers == 0 || [.new, .delivering, .recording].contains(stage),
                "\(name) began too early")
        }
        let filters = atWork.filters[index]
        try require(filters == (stage == .filtering ? 1 : 0), "\(name) has \(filters) filters")
        let records = atWork.records[index]
        try require(records == (stage == .recording ? 1 : 0), "\(name) has \(records) records")
        let deliveries = atWork.deliveries[index]
        try require(
            deliveries == (stage == .delivering ? 1 : 0), "\(name) has \(deliveries) deliveries")
        let work = Work.filter(batch.key, image: index)
        let hasMemory = board.pool.memory.holds(work)
        let waitsForMemory = board.pool.memory.isWaiting(work)
        let place = board.admission.place(of: work)
        if hasMemory || waitsForMemory {
            try require(
                stage == .waits(.filter) || stage == .filtering && hasMemory
                    || atWork.givenBack.contains(index),
                "\(name) has or wants memory, and is \(stage)")
        }
        if source >= 0 {
            let isWaiter = batch.sources[source].waiters.contains(index)
            let waits: [ImageStage] = [.waits(.queue), .waits(.turn), .downloading]
            try require(
                !stage.isAdmitted || isWaiter == waits.contains(stage),
                "\(name) is \(stage), waits: \(isWaiter)")
        }
        switch stage {
        case .new, .ended:
            try require(
                stage == .new ? state == .new : state.isFinal, "\(name) is \(state), and \(stage)")
        case .waits(.queue), .waits(.turn):
            try require(state == .new || state == .downloading, "\(name) is \(state)")
        case .downloading: try require(state == .downloading, "\(name) is \(state)")
        case .waits(.filter):
            try require(state == (source >= 0 ? .downloaded : .new), "\(name) is \(state)")
            try require(
                place != nil || waitsForMemory || goesAlong(index, batch),
                "\(name) is to be filtered, and nothing does it")
            try require(
                !waitsForMemory || place == nil,
                "\(name) waits for memory, and is \(String(describing: place))")
        case .filtering:
            try require(
                state == .filtering && (hasMemory || isCompanion(index, key)),
                "\(name) is \(state), has memory: \(hasMemory)")
        case .delivering: try require(state == .filtering, "\(name) is \(state)")
        case .recording: try require(!state.isFinal, "\(name) is recorded, and has ended")
        }
    }

    /// Whether another variant takes it along.
    private func goesAlong(_ index: Int, _ batch: Batch) -> Bool {
        guard let variant = batch.manifest.images[index].variant else { return false }
        return variant.indices.contains { other in
            guard other != index, batch.stage(of: other) == .waits(.filter) else { return false }
            let hasWay =
                board.pool.memory.isWaiting(.filter(batch.key, image: other))
                || board.admission.place(of: .filter(batch.key, image: other)) != nil
            return hasWay && batch.companions(of: other, board.pool).contains(index)
        }
    }

    /// Whether it is filtered with another variant, which has the memory.
    private func isCompanion(_ index: Int, _ key: BatchKey) -> Bool {
        operations.contains { operation in
            guard case .filter(key, let first) = operation.ticket.work, first != index else {
                return false
            }
            return switch operation.phase {
            case .filters(let jobs, _, _): jobs.contains { $0.image == index }
            case .filtered(let images, _, _): images.contains(index)
            default: false
            }
        }
    }

    // MARK: Files

    /// The files that a filter reads.
    func checkInput(of job: FilterJob, _ key: BatchKey) throws(Fault) {
        guard let folder = folderOfKey[key], let batch = board.batches[key] else {
            throw Fault(description: "\(key) is filtered, and is not there")
        }
        let image = batch.manifest.images[job.image]
        var pixels = Array(job.overlays.values)
        switch job.input {
        case .image(let other): pixels.append(other)
        case .source(let reference, let slot):
            let source = batch.sourceOfImage[job.image]
            if SourceReference.host(of: reference.text) != nil {
                try require(
                    folder.scratch[slot] == source,
                    "\(key)/\(job.image) reads \(folder.scratch[slot] ?? -2), not \(source)")
            }
        }
        for index in pixels.compactMap(\.handOver) {
            try require(
                folder.pixels.contains(index), "\(key)/\(job.image) has no pixels of \(index)")
        }
        for need in image.needs {
            try require(
                batch.status.images[need].state == .filtered,
                "\(key)/\(job.image) is made of \(need), which is not filtered")
        }
        for other in image.after {
            try require(
                batch.status.images[other].state.isFinal,
                "\(key)/\(job.image) comes before \(other)")
        }
    }

    /// Nobody writes into a scratch file that another source has.
    func checkScratch() throws(Fault) {
        var writers: [(BatchKey, Int)] = []
        for operation in operations {
            guard case .download(let key, _) = operation.ticket.work else { continue }
            switch operation.phase {
            case .downloads(let job, _), .refused(let job): writers.append((key, job.slot))
            default: break
            }
        }
        for (index, writer) in writers.enumerated() {
            try require(
                !writers[..<index].contains { $0 == writer },
                "two sources of \(writer.0) are written to \(writer.1)")
            for operation in operations {
                guard case .filter(writer.0, _) = operation.ticket.work,
                    case .filters(let jobs, _, _) = operation.phase
                else { continue }
                for job in jobs {
                    guard case .source(let source, writer.1) = job.input else { continue }
                    try require(
                        SourceReference.host(of: source.text) == nil,
                        "\(writer.1) of \(writer.0) is written while it is read")
                }
            }
        }
    }
}
