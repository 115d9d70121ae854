import DarkroomAnswer

@testable import DarkroomBoard
@testable import DarkroomCore
@testable import DarkroomSpool
@testable import DarkroomWork

/// What comes from outside: manifests, commands, reloads, signals, disks that refuse writes, and new daemons.
extension BoardMachine {
    /// Plays a whole sequence.
    static func play(
        seed: UInt64, isTraced: Bool = false
    ) -> (machine: BoardMachine, fault: Fault?) {
        let machine = BoardMachine(seed: seed, isTraced: isTraced)
        do throws(Fault) {
            try machine.play()
            return (machine, nil)
        } catch {
            return (machine, error)
        }
    }

    private func play() throws(Fault) {
        for _ in 0..<number(1...2) { try accept() }
        try check()
        for _ in 0..<number(20...90) {
            try step()
            try check()
        }
        try drain()
    }

    private func step() throws(Fault) {
        let happened =
            switch number(0...99) {
            case ..<5: try accept()
            case ..<12: try command()
            case ..<15: try event()
            case ..<18: try tick()
            case ..<25: try goOn(number(0...9))
            case ..<36: try publish()
            case ..<46: try performOne()
            default: try operate()
            }
        if !happened { _ = try operate() }
    }

    /// A step of what is not an operation.
    private func goOn(_ which: Int) throws(Fault) -> Bool {
        switch which {
        case 0: try tell()
        case 1: try retry()
        case 2: try endPause()
        case 3: try prepare()
        case 4: try park()
        case 5: try finish()
        case 6: returnFreed()
        case 7: try deliver()
        case 8: try moveOriginals()
        default: goOnAfterwards()
        }
    }

    private func event() throws(Fault) -> Bool {
        switch number(0...11) {
        case ..<3:
            isDiskWorking.toggle()
            note("disk \(isDiskWorking)")
        case ..<6: try pause(!isSuspended)
        case ..<9: try reload()
        case 9: try reopen()
        case 10:
            let found = board.batches.values.first.map { batch in
                (batch.key, batch.sources.indices.map { ($0, number(1...100)) })
            }
            if let found {
                _ = board.beginExaminingSizes(of: found.0)
                board.learnSizes(of: found.0, found.1)
            }
        default: if chance(30) { try restart() }
        }
        return true
    }

    private func pause(_ isPause: Bool) throws(Fault) {
        note("pause \(isPause)")
        isSuspended = isPause
        if isPause { return }
        change { $0.tryAgain(now: now) }
        try advance { _ in }
    }

    func randomLimits() -> Limits {
        Limits(
            window: number(1...5), places: number(1...5), perHost: number(1...3),
            filters: FilterSlots(
                width: number(1...3), keptForBatches: number(0...1), keptForOwners: number(0...1)),
            memory: number(3...16) << 22)
    }

    private func reload() throws(Fault) {
        limits = randomLimits()
        if !cacheKeys.isEmpty { cacheKeys = Self.allCacheKeys[number(0...1)] }
        note("limits \(limits)")
        see("reloaded")
        try advance { board in setLimits(of: &board) }
    }

    // MARK: Batches

    @discardableResult
    private func accept() throws(Fault) -> Bool {
        guard folders.count(where: { $0.state == .inWork }) < 4, folders.count < 7 else {
            return false
        }
        let id = "b\(folders.count)"
        let manifest = randomManifest()
        let folder = Folder(
            id, manifest, owner: [nil, 1, 2, 3][number(0...3)],
            needs: manifest.images.map { _ in [1, 1, 4, 9, 20, 60][number(0...5)] << 20 })
        if chance(25) { addFormerResults(to: folder) }
        if chance(15) { addCrashes(to: folder) }
        folder.control = chance(85) ? .free : chance(70) ? .held : .cancelled
        folders.append(folder)
        try accept(folder)
        return true
    }

    /// The daemon has it in work again, under another key.
    private func accept(_ folder: Folder) throws(Fault) {
        let prepared = recover(folder)
        let hold = chance(5)
        try advance { board in
            board.accept(prepared)
            if hold {
                _ = board.obey(
                    folder.id, ControlRecord(.hold, time: "", uid: 0), isPrivileged: true)
            }
            // An effect may be carried out before this function returns.
            if let key = board.keys[FileName(folder.id)] {
                folderOfKey[key] = folder
                knownKeys.append(key)
            }
        }
        note(
            "accept \(folder.id) as \(board.keys[FileName(folder.id)] ?? 0), "
                + "\(folder.images.map(\.state)), \(folder.control)")
    }

    /// What a former daemon has done.
    private func addFormerResults(to folder: Folder) {
        let images = folder.manifest.images
        folder.hasStarted = true
        // An image comes after those that it needs.
        for index in images.indices.sorted(by: { images[$0].needs.count < images[$1].needs.count })
        {
            let hasInputs = images[index].needs.allSatisfy { folder.images[$0].state == .filtered }
            if hasInputs, chance(50) {
                folder.images[index].state = .filtered
                if images[index].isPublished {
                    folder.images[index].output = ImageStatus.Output(
                        file: "f", format: .png, sha256: "0", bytes: 1, width: 1, height: 1,
                        depth: 8, channels: 3)
                }
                if images[index].isHandedOver, chance(60) { folder.pixels.insert(index) }
            } else if chance(10) {
                folder.images[index].state = .failed
            }
        }
    }

    private func addCrashes(to folder: Folder) {
        see("crashes")
        for index in folder.manifest.images.indices where chance(30) {
            var crashes = folder.crashes[index] ?? Crashes(of: .daemon)
            for _ in 0..<number(1...3) {
                crashes.add(chance(50) ? .killed : .watchdog, number: nextNumber())
            }
            folder.crashes[index] = crashes
        }
    }

    private func command() throws(Fault) -> Bool {
        guard let folder = pick(folders.filter { $0.state != .lost }) else { return false }
        let command: ControlCommand =
            chance(10) ? .cancel : chance(45) ? .release : chance(95) ? .hold : .retry
        try give(command, to: folder)
        return true
    }

    private func give(_ command: ControlCommand, to folder: Folder) throws(Fault) {
        note("\(command) \(folder.id)")
        let record = ControlRecord(command, time: "", uid: chance(90) ? 0 : 7)
        try advance { board in
            let outcome = board.obey(
                folder.id, record, isPrivileged: record.uid == 0)
            see("\(command): \(outcome)".prefix { $0 != "(" }.description)
        }
    }

    /// Repeats the images of a finished batch that have failed, as `Reopening` does.
    private func reopen() throws(Fault) {
        guard
            let folder = pick(
                folders.filter { folder in
                    folder.state == .finished && folder.reopenings < 2
                        && folder.images.contains { $0.state != .filtered }
                }),
            board.keys[FileName(folder.id)] == nil
        else { return }
        see("reopened")
        note("reopen \(folder.id)")
        folder.reopenings += 1
        for (index, image) in folder.manifest.images.enumerated()
        where folder.images[index].state != .filtered {
            folder.images[index] = ImageStatus.initial(image, of: folder.manifest)
        }
        folder.recorded = folder.images.map { _ in 0 }
        folder.pixels = []
        folder.undelivered = [:]
        folder.crashes = [:]
        folder.control = .free
        folder.commands = []
        folder.state = .inWork
        try accept(folder)
    }

    // MARK: A new daemon

    /// The daemon ends, however, and another one continues with what is on the disk.
    private func restart() throws(Fault) {
        note("restart")
        see("restarted")
        for operation in operations {
            guard case .filters(let jobs, _, _) = operation.phase,
                case .filter(let key, _) = operation.ticket.work, chance(50)
            else { continue }
            // The crash is of the first; the others were with it.
            folderOfKey[key]?.crashes[jobs[0].image, default: Crashes(of: .daemon)]
                .add(.watchdog, number: nextNumber())
        }
        threads = []
        operations = []
        entries = []
        deliveries = []
        moving = []
        afterwards = []
        parking = []
        finishing = []
        preparation = []
        retries = []
        pauses = []
        tells = 0
        freed = []
        unprepared = []
        breaker = StorageBreaker()
        isSuspended = false
        started = []
        stopped = []
        finished = []
        knownKeys = []
        folderOfKey = [:]
        makeBoard()
        for folder in folders where folder.state != .finished {
            folder.state = .inWork
            try accept(folder)
        }
    }

    // MARK: The end

    /// Lets go of everything. The machine must run empty.
    private func drain() throws(Fault) {
        note("drain")
        isDraining = true
        isDiskWorking = true
        try pause(false)
        var steps = 0
        while try goOnWithAny() {
            steps += 1
            // Each check takes as long as several steps. Whoever looks for a failure has each of them checked.
            if trace != nil || steps % 3 == 0 { try check() }
            if steps > 20_000 { throw Fault(description: "it does not end\n\(description)") }
        }
        try checkEmpty()
    }

    /// Does any step that is possible; false if there is none.
    private func goOnWithAny() throws(Fault) -> Bool {
        if chance(50), try operate() { return true }
        let first = number(0...13)
        for offset in 0...13 {
            let happened =
                switch (first + offset) % 14 {
                case 0: try operate()
                case 1: try publish()
                case 2: try performOne()
                case 3: try goOnWithHeld()
                case let which: try goOn(which - 4)
                }
            if happened { return true }
        }
        return try tick()
    }

    private func goOnWithHeld() throws(Fault) -> Bool {
        let held = folders.first { folder in
            guard let key = board.keys[FileName(folder.id)] else { return false }
            return (board.batches[key]?.isHeld ?? (board.waitingBatches[key]?.control == .held))
                && board.batches[key]?.isFinishing != true
        }
        guard let held else { return false }
        note("release \(held.id)")
        try advance { board in
            _ = board.obey(
                held.id, ControlRecord(.release, time: "", uid: 0), isPrivileged: true)
        }
        return true
    }
}
