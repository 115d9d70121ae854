import DarkroomAnswer
import DarkroomBoard
import DarkroomCore
import DarkroomManifest
import DarkroomSpool
import Dispatch
import SystemPackage

/// The deliveries into one folder.
///
/// | phase    | an image                        | until                                                        |
/// |----------|---------------------------------|--------------------------------------------------------------|
/// | works    | is delivered with the next pass | the folder refuses everything                                |
/// | waits    | is kept, and a restart finds it | the time of the next attempt, twice as long after each one   |
///
/// | an image is refused                              | then                                                      |
/// |--------------------------------------------------|-----------------------------------------------------------|
/// | because the folder cannot be opened, or is       | the folder waits; all images have this reason, which      |
/// | broken (`DeliveryFolder.Refusal.folder`)         | names no output                                           |
/// | for its name, its space, its rights              | it waits alone, twice as long after each attempt          |
/// | because no attempt can help                      | it fails                                                  |
///
/// A pass copies up to 64 outputs, whose owners take turns, has the committer write their promises, and gives the copies
/// their names.
final class DeliveryStation: FolderStation, @unchecked Sendable {
    // @unchecked: the stored variables are used on `queue` only.

    private static let mostOfPass = 64
    private static let works = "outputs can be delivered"

    let path: String
    let shared: StationShared
    let queue = DispatchQueue(label: "darkroom.delivery", qos: .utility)
    /// The images of the next pass. Their owners take turns, so that nobody waits for all that somebody else has.
    var pending = DeliveryTurns()
    var alone: [Deliveries.Job] = []
    /// How many images wait alone or try again, and the first reason.
    var refusedAlone: (count: Int, failure: Failure, since: String)?
    /// The images whose promises are in the journal.
    private var promised: [Deliveries.Job] = []
    /// The names that outputs get next.
    private var names: Set<ByteString> = []
    var trouble: Outage?
    /// Why the folder has refused everything during this pass.
    var refusal: Failure?
    var passIsSet = false
    private var placingIsSet = false
    var attempt = PlannedTick()
    var attemptAlone = PlannedTick()

    init(_ path: String, _ shared: StationShared) {
        self.path = path
        self.shared = shared
    }

    func add(_ job: Deliveries.Job) {
        queue.async { [self] in
            if let trouble, trouble.isWaiting {
                keepWaiting(job, trouble.failure, since: trouble.since)
            } else {
                pending.append(job, of: job.job.owner)
                passSoon()
            }
        }
    }

    var isEmpty: Bool { pending.isEmpty }

    func takeBack() {
        for job in alone { pending.append(job, of: job.job.owner) }
        alone = []
    }

    func clear() {
        pending = DeliveryTurns()
        (alone, promised) = ([], [])
    }

    // MARK: Copies

    func pass() {
        guard !shared.stopped.isSet else { return }
        endCancelled()
        // Nobody waits for the end of an outage.
        if pending.isEmpty, promised.isEmpty { trouble = nil }
        if trouble?.isWaiting == true || pending.isEmpty { return }
        var isOpen = false
        var copied: [Deliveries.Job] = []
        var opened = OpenedDeliveries()
        var jobs: [Deliveries.Job] = []
        while jobs.count < Self.mostOfPass, let job = pending.next() { jobs.append(job) }
        for var job in jobs {
            guard let output = job.output else {
                giveUp(job, .unexpected("an image without an output is delivered"))
                continue
            }
            do throws(DeliveryFolder.Refusal) {
                let folder = try opened.folder(for: job)
                isOpen = true
                let preparation = try folder.prepare(
                    output, job.job.image.promise, isPromised: job.isPromised,
                    mayBePlaced: job.mayBePlaced, besides: names)
                switch preparation {
                case .copied(let promise):
                    job.job.image.promise = promise
                    job.copy = FileName(promise.copy)
                    job.mayBePlaced = false
                    names.insert(ByteString(promise.name))
                    copied.append(job)
                case .promised: promised.append(job)
                case .placed(let isCertain):
                    // The end may have come before the sync.
                    if let job = synced([job], &opened, copies: false).first {
                        delivered(job, isCertain: isCertain)
                    }
                case .taken(let place): giveUp(job, .taken(place))
                }
            } catch {
                refuse(job, error)
            }
        }
        if !copied.isEmpty { FaultPoint.deliveryCopied.pass() }
        // What is copied or promised tells more.
        if isOpen, refusal == nil, copied.isEmpty, promised.isEmpty { worksAgain(path, Self.works) }
        promise(copied, &opened)
        placeSoon()
        endPass()
    }

    private func endPass() {
        guard let failure = refusal.take() else { return passSoon() }
        refused(failure, by: path, "outputs cannot be delivered", of: "images")
    }

    /// Waits until copies, or names, are on the disk.
    ///
    /// - Returns: the images of those that are.
    private func synced(
        _ jobs: [Deliveries.Job], _ opened: inout OpenedDeliveries, copies: Bool
    ) -> [Deliveries.Job] {
        guard shared.committer.durably else { return jobs }
        var synced: [Deliveries.Job] = []
        var folders: Set<ByteString> = []
        for job in jobs {
            guard let output = job.output else { continue }
            do throws(DeliveryFolder.Refusal) {
                let folder = try opened.folder(for: job)
                if copies { try folder.sync(copyOf: output) }
                let inner = OutputPath.folders(of: output.facts.file)
                if !folders.isSuperset(of: inner) {
                    try folder.sync(foldersOf: output)
                    folders.formUnion(inner)
                }
                synced.append(job)
            } catch {
                refuse(job, error, forgetting: copies)
            }
        }
        guard let first = synced.first else { return [] }
        do throws(DeliveryFolder.Refusal) {
            try opened.folder(for: first).sync()
        } catch {
            for job in synced { refuse(job, error, forgetting: copies) }
            return []
        }
        return synced
    }

    /// Has the promises of copies written, when the outputs and the copies are on the disk.
    private func promise(_ copied: [Deliveries.Job], _ opened: inout OpenedDeliveries) {
        let copied = synced(copied, &opened, copies: true)
        guard let first = copied.first else { return }
        let areKept =
            shared.committer.durably && copied.count > 1 && first.folders.spool.syncTogether()
        for var job in copied {
            if areKept { job.isKept = true }
            if let failure = keep(&job) {
                forget(&job)
                waitAlone(job, failure)
                continue
            }
            if job.hasEnded { continue }
            job.isPromised = true
            shared.committer.record(job.record, of: job.folders) { [self, job] in
                queue.async { [self] in
                    promised.append(job)
                    placeSoon()
                }
            }
        }
    }

    /// Makes sure that the output outlives a power failure. If it cannot be read, the image ends.
    ///
    /// - Returns: why that is not known; nil if it is.
    func keep(_ job: inout Deliveries.Job) -> Failure? {
        if job.isKept { return nil }
        do throws(FileError) {
            if shared.committer.durably { try job.syncFiles() }
            job.isKept = true
        } catch  where error.storageFailure == .scarce {
            return Failure(error)
        } catch {
            job.hasEnded = true
            giveUp(job, Failure(error))
        }
        return nil
    }

    // MARK: Names

    private func placeSoon() {
        guard !placingIsSet, !promised.isEmpty else { return }
        placingIsSet = true
        queue.async { [self] in
            placingIsSet = false
            place()
        }
    }

    private func place() {
        guard !shared.stopped.isSet else { return }
        if !promised.isEmpty { FaultPoint.deliveryPromised.pass() }
        let jobs = exchange(&promised, with: [])
        var placed: [Deliveries.Job] = []
        var opened = OpenedDeliveries()
        for var job in jobs {
            guard let output = job.output, let promise = job.job.image.promise else { continue }
            do throws(DeliveryFolder.Refusal) {
                let folder = try opened.folder(for: job)
                if job.cancellation.isSet {
                    giveUp(job, .cancelled)
                    continue
                }
                job.mayBePlaced = true
                if try folder.place(output, promise) {
                    FaultPoint.deliveryPlaced.pass()
                    placed.append(job)
                } else {
                    forget(&job)
                    pending.append(job, of: job.job.owner)
                }
            } catch {
                refuse(job, error)
            }
        }
        placed = synced(placed, &opened, copies: false)
        if !placed.isEmpty { FaultPoint.deliverySynced.pass() }
        for job in placed { delivered(job, isCertain: true) }
        endPass()
    }

    private func delivered(_ job: Deliveries.Job, isCertain: Bool) {
        var job = job
        guard let promise = job.job.image.promise else { return }
        var image = job.job.image.status
        let place = "\(path == "/" ? "" : path)/\(promise.name)"
        image.deliveredTo = RareText(place)
        if !isCertain { image.warnings = (image.warnings ?? []) + [Self.warning(of: place)] }
        forget(&job)
        worksAgain(path, Self.works)
        if job.trouble != nil, let refusedAlone, refusedAlone.count == 1 {
            shared.log.folderWorksAgain(
                path, Self.works, since: refusedAlone.since, refusedAlone.failure)
        }
        end(job, .success(image))
    }

    private static func warning(of place: String) -> String {
        "\(place): darkroomd was interrupted while it delivered this file, and now the file is missing or has another "
            + "content; somebody has taken or changed it, or its hidden copy was removed before it got its name"
    }

    /// The name is free for other outputs.
    func forget(_ job: inout Deliveries.Job) {
        if let promise = job.job.image.promise { names.remove(ByteString(promise.name)) }
        job.job.image.promise = nil
    }
}

/// What waits for a pass.
typealias DeliveryTurns = BatchRotation<Deliveries.Job>

extension Failure {
    fileprivate static func taken(_ place: String) -> Failure {
        Failure(.deliveryExists, "\(place): a file has this name already (ifExists: fail)")
    }
}
