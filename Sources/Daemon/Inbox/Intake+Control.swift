import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomSpool
import DarkroomWork
import Dispatch
import Glibc
import SystemPackage

/// Control files, from the moment they are found until they are removed.
///
/// They are processed at once, even if no manifest is taken: while the daemon is paused, while too many batches wait,
/// or while the disk does not allow manifests to be claimed. There is one exception: if the command adds a batch that
/// then waits, the control file waits for room too. A control file is removed when a restart would remember its
/// command, so that a kill leaves the file or the record.
///
/// The batch of a control file is searched in this order: a batch in work with its ID; a manifest with its name in the
/// inbox, which is then claimed before others; a finished batch with its ID. If the command is for finished batches,
/// the last two are exchanged.
extension Intake: WaitingCommands {
    /// Finds the control files in the inbox, before the batches that they mean are taken.
    func findControlFiles() {
        guard let inbox else { return }
        do {
            try spool.putBackControlFiles(to: inbox)
            for name in try inbox.names() {
                guard let file = ControlFile(name) else { continue }
                controlFiles.add(file, owner: look(at: name)?.st_uid)
            }
        } catch  where error.storageFailure != nil {
            scheduler.storage.writeRefused(error)
        } catch {
            log.storageFailed(error)
        }
    }

    private static let controlFilesAtOnce = 16

    /// Processes the control files that have arrived, or some of them if there are many.
    func takeControlFiles(_ examination: Examination, _ inbox: Directory) {
        // It works in slices, so that a control file with a target does not wait for thousands without one. The first
        // of them may belong to manifests that take long to read.
        let begin = time.now
        var count = 0
        while !isStopped, count < Self.controlFilesAtOnce, time.now - begin < Self.turn,
            let name = controlFiles.next()
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
            guard !controlFiles.isDone(request) else {
                return controlFiles.forget(file, keepingDone: true)
            }
            controlFiles.take(file)
            obey(request, examination, inbox)
        case .ignored(let reason):
            controlFiles.forget(file)
            refuse(name, reason)
        case .unreadable(let error):
            controlFiles.forget(file)
            refuse(name, .unreadable(error))
            recheckLater()
        case .interrupted: break
        case .gone, .settling, .large, .ready:
            controlFiles.forget(file)
            refused[name] = nil
        }
    }

    private func obey(_ request: ControlRequest, _ examination: Examination, _ inbox: Directory) {
        for id in request.file.ids {
            let outcome = scheduler.obey(id, request.record) { [weak self] _ in
                self?.recorded(request)
            }
            if outcome != .unknown { return settle(request, outcome) }
        }
        do throws(FileError) {
            try look(for: request, examination, inbox)
        } catch {
            wait(request, .look(error))
        }
    }

    /// The control files that name a batch, the oldest first. They name its ID or, if it has not begun yet, the
    /// manifest that they were placed next to.
    private func requests(for prepared: PreparedBatch) -> [ControlRequest] {
        guard let inbox else { return [] }
        var ids = [prepared.id]
        if prepared.status.times.started == nil {
            let manifest = prepared.status.manifest
            ids.append(Claim.id(of: manifest.name, isFolder: manifest.isFolder == true))
        }
        let examination = settings.examination.asking(stopped)
        var requests: [ControlRequest] = []
        for name in controlFiles.naming(ids) {
            if case .control(let request) = examination.examine(name, in: inbox, isWhole: true),
                !request.form.effect.isForFinished
            {
                requests.append(request)
            }
        }
        return requests.sorted {
            $0.identity.isOlder(than: $1.identity, $0.file.name.bytes, $1.file.name.bytes)
        }
    }

    package func takeCommands(for batch: PreparedBatch) -> [ControlRequest] {
        let requests = requests(for: batch)
        for request in requests { controlFiles.take(request.file) }
        return requests
    }

    package func recorded(_ request: ControlRequest) {
        queue.async { [weak self] in self?.consume(request) }
    }

    // MARK: The target

    /// Searches for the target of a control file that names no batch in work.
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
        let effect = request.form.effect
        if effect.isForFinished {
            for id in file.ids where try spool.outbox.exists(FileName(id)) {
                return effect == .removes ? remove(request, id) : reopen(request, id)
            }
        }
        if try claimManifest(of: request, examination, inbox) { return }
        var hasEnded = false
        for id in file.ids where try spool.outbox.exists(FileName(id)) { hasEnded = true }
        if hasEnded, !request.form.mayMeanNext { return dismiss(request, "the batch has ended") }
        // It must not wait for the next answer with this ID.
        if effect == .removes { return dismiss(request, "there is no such batch") }
        let since = controlFiles.wait(file, now: time.now)
        if Double(time.now - since) >= examination.settle * 1e9 {
            dismiss(request, hasEnded ? "the batch has ended" : "there is no such batch")
        }
    }

    /// Claims the manifest next to a control file and applies the command to it, or reports why not yet.
    ///
    /// - Returns: false if there is no manifest.
    private func claimManifest(
        of request: ControlRequest, _ examination: Examination, _ inbox: Directory
    ) throws(FileError) -> Bool {
        for name in request.file.manifestNames {
            guard let information = try inbox.information(of: name),
                name == request.file.folderName ? information.isFolder : information.isRegularFile
            else { continue }
            let isWhole =
                arrivals.isWhole(name) || large.isWhole(name)
                || hasSettled(name, examination.settle)
            if dealsUnread(with: request, name, information, isWhole, examination) { return true }
            switch examination.examine(name, in: inbox, isWhole: isWhole, effort: effortAtOnce)
            {
            case .gone, .ignored, .control, .interrupted: continue
            case .settling(let identity):
                files.move(name, .seen(identity, isWhole: false), now: time.now)
                planLook(examination.settle)
                wait(request, .settling(name))
            case .unreadable(let error):
                wait(request, .unreadable(error))
            case .large:
                wait(request, scheduler.hasRoom(for: information.st_uid) ? .taking(name) : .room)
                queueLarge(name, isWhole: isWhole)
                takeNextLarge(examination, inbox)
            case .ready(let candidate):
                wait(request, nil)
                files.move(name, .judged, now: time.now)
                take([candidate], examination, inbox)
            }
            return true
        }
        return false
    }

    /// Processes a control file for which the content of its manifest does not matter yet. There may be hundreds of
    /// control files for one manifest, because their suffix may have upper-case and lower-case letters. To read the
    /// manifest for each would take minutes.
    private func dealsUnread(
        with request: ControlRequest, _ name: FileName, _ information: stat, _ isWhole: Bool,
        _ examination: Examination
    ) -> Bool {
        let identity = FileIdentity(information)
        if isBeingWritten(name, identity) {
            wait(request, .writer(name))
        } else if request.form.effect.isForFinished {
            dismiss(request, "its manifest has not been taken yet")
        } else if isBlocked {
            wait(request, .spool)
        } else if request.form.effect.needsRoom, !scheduler.hasRoom(for: information.st_uid) {
            wait(request, .room)
        } else if files.stage(of: name) == .settling, !isWhole,
            identity.age(at: Clock.steady) < examination.settle
        {
            // It was read before, and is read again when its turn comes.
            planLook(examination.settle)
            wait(request, .settling(name))
        } else {
            return false
        }
        return true
    }

    // MARK: The result

    package func settle(_ request: ControlRequest, _ outcome: ControlOutcome) {
        switch outcome {
        case .acts:
            // The control file is removed when this has been recorded.
            break
        case .already(let state): dismiss(request, "the batch \(state.words) already")
        case .hasActed: dismiss(request, "it has taken effect before")
        case .isCancelled: dismiss(request, "the batch is being cancelled")
        case .isEnding: wait(request, .end)
        case .isInWork: dismiss(request, "the batch is still in work")
        case .unknown: dismiss(request, "there is no such batch")
        case .refused(let owner): turnAway(request, owner: owner)
        }
    }

    func dismiss(_ request: ControlRequest, _ reason: String) {
        log.controlIdle(request, because: reason)
        consume(request)
    }

    /// Only the owner of the manifest may give it commands.
    func turnAway(_ request: ControlRequest, owner: UInt32?) {
        log.controlRefused(request, owner: owner)
        consume(request)
    }

    func wait(_ request: ControlRequest, _ reason: SkipReason.Wait?) {
        _ = controlFiles.wait(request.file, now: time.now)
        if let reason { refuse(request.file.name, .waits(reason)) }
    }

    /// Removes a control file, unless another file has its name now.
    func consume(_ request: ControlRequest) {
        let name = request.file.name
        refused[name] = nil
        controlFiles.forget(request.file)
        do throws(FileError) {
            guard let inbox else { return }
            FaultPoint.controlRecorded.pass()
            // If it was put back, an event reports it, as it did when it arrived.
            try spool.removeControlFile(name, request.identity, from: inbox)
            // If a power failure restored a hold, it would undo a later release.
            if settings.isDurable { try inbox.sync() }
            FaultPoint.controlConsumed.pass()
        } catch  where error.errno == .noSuchFileOrDirectory {
            // Its owner has removed it.
        } catch {
            // In a folder with the sticky bit only its owner may remove it. It must not take effect again.
            controlFiles.keep(request)
            refuse(name, .hasActed(error))
            guard error.storageFailure != nil else { return }
            // The cause is the disk, whose failure may end.
            scheduler.storage.writeRefused(error)
            refusals.unconsumed.append(request)
        }
    }

    /// Examines the waiting control files again after a while.
    private func setControlTimer(_ settle: Double) {
        if controlFiles.needTime { plan(.controlFiles, in: min(max(settle, 0.05), 1)) }
    }
}
