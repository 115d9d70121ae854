import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Dispatch

/// The originals of one hot folder.
///
/// | phase    | a batch                              | until                                                      |
/// |----------|--------------------------------------|------------------------------------------------------------|
/// | works    | gets its originals moved, 64 a pass  | one of the folders, or what is written there, is refused   |
/// | waits    | is kept; its last status is not      | the time of the next attempt, twice as long after each     |
/// |          | written, so a restart does it again  | one; a cancellation lets its originals stay                |
///
/// A pass prepares originals of each batch, has the committer write their promises, and keeps these. The present
/// configuration says where they move. If it says nothing any more, they stay.
final class OriginalStation: FolderStation, @unchecked Sendable {
    // @unchecked: the stored variables are used on `queue` only.

    private static let mostOfPass = 64

    /// A batch, and what is left of it.
    struct Work {
        let job: OriginalMoves.Job
        let hidingKey: HidingKey?
        var pending: [TakenPicture]
        /// The promises of the journal, by the sources of the pictures.
        var promises: [ByteString: OriginalPromise]
        var outcomes: [ByteString: OriginalOutcome] = [:]
        /// The pictures whose promises are being written, or are to be kept.
        var promised: [TakenPicture] = []
        var unwritten = 0
        /// Whether no hidden original of a former daemon is left in the hot folder.
        var isShown = false

        var isInPass: Bool { unwritten > 0 || !promised.isEmpty }
        var isDone: Bool { pending.isEmpty && !isInPass }
    }

    /// The name of `hot/KEY`.
    let key: FileName
    let shared: StationShared
    let queue = DispatchQueue(label: "darkroom.originals", qos: .utility)
    var works: [BatchKey: Work] = [:]
    /// The paths that originals get next.
    var names: Set<ByteString> = []
    /// That of either of the two folders.
    var trouble: Outage?
    /// Whether the two folders are known to be on different mounts of a file system.
    private var copies = false
    var passIsSet = false
    var attempt = PlannedTick()

    init(_ key: FileName, _ shared: StationShared) {
        self.key = key
        self.shared = shared
    }

    /// - Parameter promises: those of the batch's journal.
    func add(
        _ job: OriginalMoves.Job, _ batch: HotBatch, _ promises: [ByteString: OriginalPromise]
    ) {
        queue.async { [self] in
            guard let status = job.status() else { return job.ended([:]) }
            let moved = batch.moved(by: status)
            let pictures = batch.done(by: status).filter { !moved.contains($0.source) }
            works[job.key] = Work(
                job: job, hidingKey: batch.hidingKey, pending: pictures, promises: promises)
            if let trouble, trouble.isWaiting { wait(job.key, trouble.failure) }
            passSoon()
        }
    }

    var isEmpty: Bool { works.isEmpty }
    func takeBack() {}
    func clear() { works = [:] }

    // MARK: Passes

    func pass() {
        var refusal: (failure: Failure, target: String)?
        // The folders, if they have refused nothing to a batch that waits for no promise, which could tell more.
        var working: (path: String, target: String)?
        for key in works.keys.sorted() {
            if shared.stopped.isSet { return }
            guard let work = works[key], !work.isInPass else { continue }
            if trouble?.isWaiting == true, !work.job.cancellation.isSet { continue }
            let settings = work.job.settings()
            guard let (folder, place) = rule(for: work, settings) else {
                stay(key, "the configuration does not move it any more")
                continue
            }
            do throws(FileError) {
                let opened = try open(folder, place, for: work, settings)
                if let failure = prepare(key, opened) {
                    refusal = (failure, place.folder)
                } else if works[key]?.isInPass == false {
                    working = (folder.path, place.folder)
                }
            } catch {
                refusal = (Failure(error), place.folder)
                refuse(key, Failure(error), in: folder.path)
            }
            end(key)
        }
        if let refusal { return refused(refusal.failure, refusal.target) }
        if let working, trouble?.isWaiting != true {
            worksAgain(working.target, "originals of \(working.path) can be moved")
        }
        passSoonIfDue()
    }

    /// Begins another pass if something is left that need not wait.
    private func passSoonIfDue() {
        if works.isEmpty { trouble = nil }
        guard trouble?.isWaiting != true else { return }
        if works.values.contains(where: { !$0.isInPass && !$0.isDone }) { passSoon() }
    }

    /// The hot folder; nil if there is none any more.
    func folder(of settings: BatchSettings) -> HotFolder? {
        settings.folders.first { HotStations.key($0.path) == key }
    }

    /// The hot folder, and where its originals move; nil if they do not.
    func rule(for work: Work, _ settings: BatchSettings) -> (HotFolder, Delivery)? {
        guard let folder = folder(of: settings) else { return nil }
        guard folder.originals == .place, let place = folder.place else {
            hot(folder.path, of: work)?.show(work.pending)
            return nil
        }
        return (folder, place)
    }

    func open(
        _ folder: HotFolder, _ place: Delivery, for work: Work, _ settings: BatchSettings
    ) throws(FileError) -> OriginalsFolder {
        try OriginalsFolder(
            from: folder.path, to: place, of: work.job.folders, work.hidingKey,
            taken: TakenFolders(settings.delivery.taken), durably: settings.isDurable,
            copies: copies,
            stop: shared.stopped)
    }

    /// The hot folder alone; nil if it cannot be opened.
    func hot(_ path: String, of work: Work) -> OriginalsFolder.Hot? {
        OriginalsFolder.Hot(path, work.hidingKey, stop: shared.stopped)
    }

    /// Prepares some originals of a batch, and has their promises written.
    ///
    /// - Returns: why some could not be prepared.
    private func prepare(_ key: BatchKey, _ folder: OriginalsFolder) -> Failure? {
        guard var work = works[key] else { return nil }
        let pictures = Array(work.pending.prefix(Self.mostOfPass))
        work.pending.removeFirst(pictures.count)
        var failure: Failure?
        var refused: [TakenPicture] = []
        var new: [(TakenPicture, OriginalPromise)] = []
        for picture in pictures where !shared.stopped.isSet {
            let promise = work.promises[picture.source]
            // It may have its own name.
            if let promise { names.remove(ByteString(promise.path)) }
            do throws(FileError) {
                switch try folder.prepare(picture, promise, besides: names) {
                case .promise(let promise):
                    names.insert(ByteString(promise.path))
                    new.append((picture, promise))
                case .promised:
                    if let promise { names.insert(ByteString(promise.path)) }
                    work.promised.append(picture)
                case .ended(let outcome): work.outcomes[picture.source] = outcome
                }
            } catch  where PlaceFolder.concernsOneName(error) {
                folder.giveUp(picture, promise)
                work.outcomes[picture.source] = .stays(error.message)
            } catch {
                if shared.stopped.isSet { return nil }
                folder.show(picture)
                failure = Failure(error)
                refused.append(picture)
            }
        }
        // The others come first.
        work.pending += refused
        for (picture, promise) in new {
            work.promises[picture.source] = promise
            work.promised.append(picture)
        }
        works[key] = work
        for (picture, promise) in new { write(promise, of: picture, key) }
        if new.isEmpty, !work.promised.isEmpty { keepPromises(key) }
        if let failure { refuse(key, failure, in: nil) }
        return failure
    }

    /// Has a promise written into the journal. When all are there, they are kept.
    private func write(_ promise: OriginalPromise?, of picture: TakenPicture, _ key: BatchKey) {
        guard let work = works[key] else { return }
        works[key]?.unwritten += 1
        let record = JournalRecord.moving(source: picture.source.string, promise)
        shared.committer.record(record, of: work.job.folders) { [self] in
            queue.async { [self] in promiseWritten(key) }
        }
    }

    private func promiseWritten(_ key: BatchKey) {
        works[key]?.unwritten -= 1
        guard works[key]?.unwritten == 0, !shared.stopped.isSet else { return }
        FaultPoint.placePromised.pass()
        keepPromises(key)
        end(key)
        passSoonIfDue()
    }

    private func keepPromises(_ key: BatchKey) {
        guard let work = works[key] else { return }
        let settings = work.job.settings()
        guard let (folder, place) = rule(for: work, settings) else {
            // The next pass finds the same.
            works[key]?.promised = []
            return giveBack(work.promised, of: key, nil)
        }
        var left: [TakenPicture] = []
        var failure: Failure?
        do throws(FileError) {
            works[key]?.promised = []
            let opened = try open(folder, place, for: work, settings)
            for picture in work.promised {
                if shared.stopped.isSet { return }
                if let error = keepPromise(of: picture, key, opened) {
                    left.append(picture)
                    failure = Failure(error)
                }
            }
        } catch {
            left = work.promised
            failure = Failure(error)
        }
        if left.count < work.promised.count {
            worksAgain(place.folder, "originals of \(folder.path) can be moved")
        }
        giveBack(left, of: key, folder.path)
        guard let failure else { return }
        refuse(key, failure, in: folder.path)
        refused(failure, place.folder)
    }

    /// - Returns: why it could not be kept now.
    private func keepPromise(
        of picture: TakenPicture, _ key: BatchKey, _ folder: OriginalsFolder
    ) -> FileError? {
        guard let promise = works[key]?.promises[picture.source] else { return nil }
        do throws(FileError) {
            switch try folder.place(picture, promise) {
            case .ended(let outcome):
                names.remove(ByteString(promise.path))
                works[key]?.outcomes[picture.source] = outcome
                return nil
            case .placed:
                works[key]?.promises[picture.source]?.isPlaced = true
                works[key]?.promised.append(picture)
                write(works[key]?.promises[picture.source], of: picture, key)
                return nil
            case .again: break
            case .againByCopy: copies = true
            }
            names.remove(ByteString(promise.path))
            works[key]?.promises[picture.source] = nil
            works[key]?.pending.append(picture)
            works[key]?.isShown = false
            return nil
        } catch  where PlaceFolder.concernsOneName(error) {
            names.remove(ByteString(promise.path))
            folder.giveUp(picture, promise)
            works[key]?.outcomes[picture.source] = .stays(error.message)
            return nil
        } catch {
            return error
        }
    }

    /// Originals that were promised a name wait again. One that has its own name again has no promise any more: if
    /// somebody takes it away, it has not moved.
    private func giveBack(_ pictures: [TakenPicture], of key: BatchKey, _ path: String?) {
        guard let work = works[key] else { return }
        works[key]?.pending += pictures
        for source in path.flatMap({ hot($0, of: work) })?.show(pictures) ?? [] {
            guard let promise = work.promises[source], !promise.isCopy else { continue }
            names.remove(ByteString(promise.path))
            works[key]?.promises[source] = nil
            shared.committer.record(.moving(source: source.string, nil), of: work.job.folders) {}
        }
    }
}
