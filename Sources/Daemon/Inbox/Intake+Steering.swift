import DarkroomBatch
import DarkroomCore
import DarkroomSpool
import Dispatch
import Glibc
import SystemPackage

/// Control files: what is done with them between the moment they are found and the moment they are removed.
///
/// They are dealt with at once, also where no manifest is taken: while the daemon is paused, too many batches wait,
/// or the disk does not let manifests be claimed. Only where a batch would have to wait that does not yet, the control
/// waits for the room too. A control is removed when a restart would remember what it has
/// done, so that a kill leaves the file or the record.
///
/// What a control means is looked for in this order: a batch of its ID that is in work; a manifest of its name in
/// the inbox, which is then claimed before others; a finished batch of its ID. For `retry` the last two change places.
extension Intake {
    /// Finds the control files that are there, before a batch that they mean is taken in.
    func findControls() {
        guard let inbox else { return }
        do {
            try spool.putBackControls(to: inbox)
            for name in try inbox.names() {
                guard let file = ControlFile(name) else { continue }
                controls.add(file, owner: look(at: name)?.st_uid)
            }
        } catch  where error.fault != nil {
            scheduler.storage.writeRefused(error)
        } catch {
            log.storageFailed(error)
        }
    }

    private static let controlsAtOnce = 16

    /// Deals with the control files that have arrived, some of them if there are many.
    func steer(_ examination: Examination, _ inbox: Directory) {
        // In slices, so that one that has something to act on does not wait for thousands that have not.
        // The first of many may have manifests beside them that take long to read.
        let begin = Clock.nanoseconds
        var count = 0
        while !isStopped, count < Self.controlsAtOnce, Clock.nanoseconds - begin < Self.turn,
            let name = controls.next()
        {
            examine(name, examination, inbox)
            count += 1
        }
        setControlTimer(examination.settle)
    }

    private func examine(_ name: FileName, _ examination: Examination, _ inbox: Directory) {
        guard let file = ControlFile(name) else { return }
        switch examination.examine(name, in: inbox, isWhole: true) {
        case .control(let request):
            guard !controls.isDone(request) else { return controls.forget(file, keepingDone: true) }
            controls.take(file)
            act(request, examination, inbox)
        case .ignored(let reason):
            controls.forget(file)
            refuse(name, reason)
        case .unreadable(let error):
            controls.forget(file)
            refuse(name, .unreadable(error))
            recheckLater()
        case .interrupted: break
        case .gone, .settling, .large, .ready:
            controls.forget(file)
            refused[name] = nil
        }
    }

    private func act(
        _ request: ControlRequest, _ examination: Examination, _ inbox: Directory
    ) {
        for id in request.file.ids {
            let outcome = scheduler.steer(id, request.steering) { [weak self] _ in
                guard let self else { return }
                queue.async { self.consume(request) }
            }
            if outcome != .unknown { return settle(request, outcome) }
        }
        do throws(FileError) {
            try look(for: request, examination, inbox)
        } catch {
            wait(request, .look(error))
        }
    }

    /// Takes a batch in together with the controls that are there for it.
    func accept(_ prepared: PreparedBatch) {
        let requests = requests(for: prepared)
        for request in requests { controls.take(request.file) }
        let outcomes = scheduler.accept(prepared, requests.map(\.steering)) {
            [weak self] steering in
            guard let self else { return }
            queue.async {
                for request in requests where request.steering == steering { self.consume(request) }
            }
        }
        for (request, outcome) in zip(requests, outcomes) { settle(request, outcome) }
    }

    /// The controls that name a batch, the oldest first: by its ID, or, for one of which nothing has begun, by the
    /// manifest that they were put beside.
    private func requests(for prepared: PreparedBatch) -> [ControlRequest] {
        guard let inbox else { return [] }
        var ids = [prepared.folders.id]
        if prepared.status.times.started == nil {
            ids.append(Claim.id(fromFileName: prepared.status.manifest.name))
        }
        let examination = settings.examination.asking(stopped)
        var requests: [ControlRequest] = []
        for name in controls.naming(ids) {
            if case .control(let request) = examination.examine(name, in: inbox, isWhole: true),
                request.file.action != .retry
            {
                requests.append(request)
            }
        }
        return requests.sorted {
            $0.identity.isOlder(than: $1.identity, $0.file.name.bytes, $1.file.name.bytes)
        }
    }

    // MARK: What it means

    /// Looks for what a control means that names no batch in work.
    private func look(
        for request: ControlRequest, _ examination: Examination, _ inbox: Directory
    ) throws(FileError) {
        let file = request.file
        for name in file.manifestNames where name == largeInHand {
            return wait(request, .taking(name))
        }
        for id in file.ids where try spool.active.exists(FileName(id)) {
            return wait(request, .batch(id))
        }
        if file.action == .retry {
            for id in file.ids where try spool.outbox.exists(FileName(id)) {
                return reopen(request, id)
            }
        }
        if try claimManifest(of: request, examination, inbox) { return }
        var hasEnded = false
        for id in file.ids where try spool.outbox.exists(FileName(id)) { hasEnded = true }
        // What is held is still to come, so the manifest may be the next one, whatever answers of its name there are.
        // A cancellation may come too late for the former one, and is not to end the next.
        if hasEnded, file.action != .hold { return dismiss(request, "the batch has ended") }
        let since = controls.wait(file)
        if Double(Clock.nanoseconds - since) >= examination.settle * 1e9 {
            dismiss(request, hasEnded ? "the batch has ended" : "there is no such batch")
        }
    }

    /// Claims the manifest that lies beside a control, which acts on it then; or says why not yet. False where there
    /// is none.
    private func claimManifest(
        of request: ControlRequest, _ examination: Examination, _ inbox: Directory
    ) throws(FileError) -> Bool {
        for name in request.file.manifestNames {
            guard let information = try inbox.information(of: name), information.isRegularFile
            else { continue }
            let isWhole =
                arrivals.isWhole(name) || large.isWhole(name)
                || hasSettled(name, examination.settle)
            if dealsUnread(with: request, name, information, isWhole, examination) { return true }
            switch examination.examine(
                name, in: inbox, isWhole: isWhole, largest: largestAtOnce)
            {
            case .gone, .ignored, .control, .interrupted: continue
            case .settling(let identity):
                settling.note(name, identity)
                setTimer(examination.settle)
                wait(request, .settling(name))
            case .unreadable(let error):
                wait(request, .unreadable(error))
            case .large:
                wait(request, scheduler.hasRoom(for: information.st_uid) ? .taking(name) : .room)
                queueLarge(name, isWhole: isWhole)
                takeNextLarge(examination, inbox)
            case .ready(let candidate):
                wait(request, nil)
                settling.forget(name)
                claim([candidate], examination, inbox)
            }
            return true
        }
        return false
    }

    /// Deals with a control for which the content of the manifest beside it does not matter yet. There may be hundreds
    /// for one manifest, for letters of either case end their names, and reading it for each would take minutes.
    private func dealsUnread(
        with request: ControlRequest, _ name: FileName, _ information: stat, _ isWhole: Bool,
        _ examination: Examination
    ) -> Bool {
        let identity = FileIdentity(information)
        if isBeingWritten(name, identity) {
            wait(request, .writer(name))
        } else if request.file.action == .retry {
            dismiss(request, "its manifest has not been taken yet")
        } else if isBlocked {
            wait(request, .spool)
        } else if request.file.action != .cancel, !scheduler.hasRoom(for: information.st_uid) {
            // What is cancelled ends at once. What is held or released would be one more that waits.
            wait(request, .room)
        } else if settling.contains(name), !isWhole,
            identity.age(at: Clock.steady) < examination.settle
        {
            // It was read, and is read again when its own turn comes.
            setTimer(examination.settle)
            wait(request, .settling(name))
        } else {
            return false
        }
        return true
    }

    /// Finished batches that are taken up again at once for one user: another's wait for them.
    private static let reopenedAtOnce = 256

    private func reopen(_ request: ControlRequest, _ id: String) {
        let uid = request.steering.uid
        let coming = reopening.values.reduce(0, +)
        guard scheduler.crowd(of: uid, coming: coming) == nil else { return wait(request, .room) }
        guard reopening[uid] ?? 0 < Self.reopenedAtOnce else { return wait(request, .others) }
        reopening[uid, default: 0] += 1
        scheduler.reopen(id, request.steering) { [weak self] outcome in
            guard let self else { return }
            queue.async { self.answer(request, id, outcome) }
        }
    }

    private func answer(_ request: ControlRequest, _ id: String, _ outcome: Reopening.Outcome) {
        let uid = request.steering.uid
        reopening[uid, default: 0] -= 1
        if reopening[uid] == 0 { reopening[uid] = nil }
        switch outcome {
        case .reopened: consume(request)
        case .nothingToDo: dismiss(request, "every image is filtered and its output is there")
        case .isInWork: dismiss(request, "the batch is still in work")
        case .isRejected: dismiss(request, "the manifest was rejected")
        case .unusable(let reason): dismiss(request, reason)
        case .refused(let owner):
            log.controlRefused(request, owner: owner)
            consume(request)
        }
    }

    // MARK: What becomes of it

    private func settle(_ request: ControlRequest, _ outcome: SteeringOutcome) {
        switch outcome {
        case .acts:
            // It is removed when that has been recorded.
            break
        case .already:
            let state =
                switch request.file.action {
                case .cancel: "is being cancelled"
                case .hold: "is held"
                case .release, .retry: "is not held"
                }
            dismiss(request, "the batch \(state) already")
        case .hasActed: dismiss(request, "it has acted before")
        case .isCancelled: dismiss(request, "the batch is being cancelled")
        case .isEnding: wait(request, .end)
        case .isInWork: dismiss(request, "the batch is still in work")
        case .unknown: dismiss(request, "there is no such batch")
        case .refused(let owner):
            log.controlRefused(request, owner: owner)
            consume(request)
        }
    }

    private func dismiss(_ request: ControlRequest, _ reason: String) {
        log.controlIdle(request, because: reason)
        consume(request)
    }

    private func wait(_ request: ControlRequest, _ reason: SkipReason.Wait?) {
        _ = controls.wait(request.file)
        if let reason { refuse(request.file.name, .waits(reason)) }
    }

    /// Removes a control file, unless another has taken its name.
    private func consume(_ request: ControlRequest) {
        let name = request.file.name
        refused[name] = nil
        controls.forget(request.file)
        do throws(FileError) {
            guard let inbox else { return }
            FaultPoint.controlRecorded.pass()
            // What was put back is told of by an event, as it was when it came.
            try spool.removeControl(name, request.identity, from: inbox)
            // A hold that a power cut brings back would undo a release.
            if settings.isDurable { try inbox.sync() }
            FaultPoint.controlConsumed.pass()
        } catch  where error.errno == .noSuchFileOrDirectory {
            // Its owner has taken it back.
        } catch {
            // In a folder with the sticky bit only its owner may. It is not to act again.
            controls.keep(request)
            refuse(name, .hasActed(error))
            guard error.fault != nil else { return }
            // It is the disk's fault, and passes.
            scheduler.storage.writeRefused(error)
            queue.asyncAfter(deadline: .now() + 5) { [weak self] in
                guard let self, !isStopped else { return }
                consume(request)
            }
        }
    }

    /// Looks again at those that wait, after a while.
    private func setControlTimer(_ settle: Double) {
        guard controls.needTime, !controlTimerIsSet else { return }
        controlTimerIsSet = true
        let wait = min(max(settle, 0.05), 1)
        queue.asyncAfter(deadline: .now() + wait) { [weak self] in
            guard let self, !isStopped else { return }
            controlTimerIsSet = false
            if controls.wake() { scan() } else { drain() }
        }
    }
}
