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
/// | works    | is delivered with the next pass | the folder, or what is written there, is refused             |
/// | waits    | is kept, and a restart finds it | the time of the next attempt, twice as long after each one   |
///
/// A pass copies up to 64 outputs, has the committer write their promises, and gives the copies their names.
final class DeliveryStation: @unchecked Sendable {
    // @unchecked: the stored variables are used on `queue` only.

    private static let mostOfPass = 64
    /// In seconds.
    private static let firstDelay = 1.0
    private static let longestDelay = 60.0
    private struct Trouble {
        let failure: Failure
        let since: String
        let delay: Double
        /// Whether the time of the next attempt has not come.
        var isWaiting = true
    }

    private let path: String
    private let shared: Deliveries.Shared
    private let queue = DispatchQueue(label: "darkroom.delivery", qos: .utility)
    private var pending: [Deliveries.Job] = []
    /// Those whose promises are in the journal.
    private var promised: [Deliveries.Job] = []
    /// The names that outputs get next.
    private var names: Set<ByteString> = []
    private var trouble: Trouble?
    private var passIsSet = false
    private var placingIsSet = false
    private var attempt = PlannedTick()

    init(_ path: String, _ shared: Deliveries.Shared) {
        self.path = path
        self.shared = shared
    }

    func add(_ job: Deliveries.Job) {
        queue.async { [self] in
            if let trouble, trouble.isWaiting {
                wait(job, trouble.failure)
            } else {
                pending.append(job)
                passSoon()
            }
        }
    }

    func tryAgain() {
        queue.async { [self] in
            trouble?.isWaiting = false
            passSoon()
        }
    }

    /// Keeps nothing any more.
    func leave() {
        queue.async { [self] in (pending, promised) = ([], []) }
    }

    private func passSoon() {
        guard !passIsSet, !pending.isEmpty else { return }
        passIsSet = true
        queue.async { [self] in
            passIsSet = false
            pass()
        }
    }

    // MARK: Copies

    private func pass() {
        guard !shared.stopped.isSet else { return }
        endCancelled()
        if trouble?.isWaiting == true || pending.isEmpty { return }
        let jobs = Array(pending.prefix(Self.mostOfPass))
        pending.removeFirst(jobs.count)
        var copied: [Deliveries.Job] = []
        var refusal: Failure?
        var opened = OpenedFolder()
        for var job in jobs {
            guard let output = job.output else {
                giveUp(job, .unexpected("an image without an output is delivered"))
                continue
            }
            do throws(DeliveryFolder.Refusal) {
                let folder = try opened.folder(for: job)
                let preparation = try folder.prepare(
                    output, job.job.image.promise, isPromised: job.isPromised, besides: names)
                switch preparation {
                case .copied(let promise):
                    job.job.image.promise = promise
                    names.insert(ByteString(promise.name))
                    copied.append(job)
                case .promised: promised.append(job)
                case .placed:
                    // The end may have come before the sync.
                    try sync(folder, names: [output])
                    delivered(job)
                case .taken(let place): giveUp(job, .taken(place))
                }
            } catch  where error.isOfOutput {
                giveUp(job, Failure(error.error))
            } catch {
                refusal = Failure(error.error)
                wait(job, Failure(error.error))
            }
        }
        if !copied.isEmpty { FaultPoint.deliveryCopied.pass() }
        refusal = promise(copied, &opened) ?? refusal
        placeSoon()
        if let refusal { refused(refusal) } else { passSoon() }
    }

    private func sync(
        _ folder: DeliveryFolder, copies: [DeliveryFolder.Output] = [],
        names: [DeliveryFolder.Output] = []
    ) throws(DeliveryFolder.Refusal) {
        guard shared.durably else { return }
        do throws(FileError) {
            try copies.isEmpty ? folder.sync(namesOf: names) : folder.sync(copiesOf: copies)
        } catch {
            throw .folder(error)
        }
    }

    /// Has the promises of copies written, when the outputs and the copies are on the disk.
    ///
    /// - Returns: why that is not so.
    private func promise(
        _ copied: [Deliveries.Job], _ opened: inout OpenedFolder
    ) -> Failure? {
        guard let first = copied.first else { return nil }
        do throws(DeliveryFolder.Refusal) {
            try sync(opened.folder(for: first), copies: copied.compactMap(\.output))
        } catch {
            let failure = Failure(error.error)
            for var job in copied {
                forget(&job)
                wait(job, failure)
            }
            return failure
        }
        var refusal: Failure?
        let areKept =
            shared.durably && copied.count > 1 && first.folders.spool.syncTogether()
        for var job in copied {
            if areKept { job.isKept = true }
            if let failure = keep(&job) {
                forget(&job)
                refusal = failure
                wait(job, failure)
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
        return refusal
    }

    /// Makes sure that the output outlives a power failure. If it cannot be read, the image ends.
    ///
    /// - Returns: why that is not known; nil if it is.
    private func keep(_ job: inout Deliveries.Job) -> Failure? {
        if job.isKept { return nil }
        do throws(FileError) {
            if shared.durably { try job.syncFiles() }
            job.isKept = true
        } catch  where error.fault == .scarce {
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
        let jobs = promised
        promised = []
        var placed: [Deliveries.Job] = []
        var refusal: Failure?
        var opened = OpenedFolder()
        for var job in jobs {
            guard let output = job.output, let promise = job.job.image.promise else { continue }
            do throws(DeliveryFolder.Refusal) {
                let folder = try opened.folder(for: job)
                do throws(FileError) {
                    if job.cancellation.isSet {
                        giveUp(job, .cancelled)
                    } else if try folder.place(output, promise) {
                        FaultPoint.deliveryPlaced.pass()
                        placed.append(job)
                    } else {
                        forget(&job)
                        pending.append(job)
                    }
                } catch {
                    throw .folder(error)
                }
            } catch  where error.isOfOutput {
                giveUp(job, Failure(error.error))
            } catch {
                refusal = Failure(error.error)
                wait(job, Failure(error.error))
            }
        }
        if let first = placed.first {
            do throws(DeliveryFolder.Refusal) {
                try sync(opened.folder(for: first), names: placed.compactMap(\.output))
            } catch {
                refusal = Failure(error.error)
                for job in placed { wait(job, Failure(error.error)) }
                placed = []
            }
        }
        if !placed.isEmpty { FaultPoint.deliverySynced.pass() }
        for job in placed { delivered(job) }
        if let refusal { refused(refusal) } else { passSoon() }
    }

    private func delivered(_ job: Deliveries.Job) {
        var job = job
        guard let promise = job.job.image.promise else { return }
        var image = job.job.image.status
        image.deliveredTo = "\(path == "/" ? "" : path)/\(promise.name)"
        forget(&job)
        if let trouble = trouble.take() {
            shared.log.deliveryWorksAgain(trouble.failure, to: path, since: trouble.since)
        }
        end(job, .success(image))
    }

    /// The name is free for other outputs.
    private func forget(_ job: inout Deliveries.Job) {
        if let promise = job.job.image.promise { names.remove(ByteString(promise.name)) }
        job.job.image.promise = nil
    }

    // MARK: Waiting

    /// Keeps an image until the next attempt. A restart continues with it.
    private func wait(_ job: Deliveries.Job, _ failure: Failure) {
        var job = job
        if job.cancellation.isSet { return giveUp(job, .cancelled) }
        if !job.isKept, keep(&job) == nil {
            if job.hasEnded { return }
            shared.committer.record(job.record, of: job.folders) {}
        }
        let reason = Deliveries.Reason(
            image: job.job.image.status.name, message: failure.message,
            since: trouble?.since ?? Clock.timestamp)
        if shared.note(reason, for: job.job) { job.changed() }
        pending.append(job)
    }

    /// The folder has refused something, so that images wait.
    private func refused(_ failure: Failure) {
        if trouble == nil { shared.log.deliveryWaits(failure, to: path) }
        let delay = trouble.map { min($0.delay * 2, Self.longestDelay) } ?? Self.firstDelay
        trouble = Trouble(
            failure: failure, since: trouble?.since ?? Clock.timestamp, delay: delay)
        let moment = shared.time.now.saturatingAdd(UInt64(delay * 1e9))
        guard let tick = attempt.plan(at: moment) else { return }
        shared.time.call(at: moment, on: queue) { [weak self] in
            guard let self, attempt.hasCome(tick) else { return }
            trouble?.isWaiting = false
            passSoon()
        }
    }

    private func endCancelled() {
        let cancelled = pending.filter(\.cancellation.isSet)
        if cancelled.isEmpty { return }
        pending.removeAll(where: \.cancellation.isSet)
        for job in cancelled { giveUp(job, .cancelled) }
    }

    /// Fails an image. Its copy is removed when no promise says any more that a missing copy is placed.
    private func giveUp(_ job: Deliveries.Job, _ failure: Failure) {
        var job = job
        forget(&job)
        guard job.isPromised else { return remove(job, failure) }
        shared.committer.record(job.record, of: job.folders) { [self, job] in
            queue.async { [self] in remove(job, failure) }
        }
    }

    private func remove(_ job: Deliveries.Job, _ failure: Failure) {
        // If the folder is away, a copy may stay in it.
        var opened = OpenedFolder()
        if let output = job.output, let folder = try? opened.folder(for: job) {
            try? folder.discard(output)
        }
        end(job, .failure(failure))
    }

    private func end(_ job: Deliveries.Job, _ result: Result<ImageStatus, Failure>) {
        _ = shared.note(nil, for: job.job)
        job.ended(result)
    }
}

/// The folder of a pass. It is opened and checked once for all outputs that go there alike.
private struct OpenedFolder {
    private var last: (delivery: Delivery, owner: UInt32?, folder: DeliveryFolder)?

    mutating func folder(
        for job: Deliveries.Job
    ) throws(DeliveryFolder.Refusal) -> DeliveryFolder {
        let (delivery, owner) = (job.job.delivery, job.job.owner)
        if let last, last.delivery == delivery, last.owner == owner { return last.folder }
        do throws(FileError) {
            let folder = try DeliveryFolder(delivery, of: owner, job.rules())
            last = (delivery, owner, folder)
            return folder
        } catch {
            throw .folder(error)
        }
    }
}

extension DeliveryFolder.Refusal {
    /// Whether it concerns an output or its name, and not the folder or the machine.
    fileprivate var isOfOutput: Bool {
        switch self {
        case .output(let error): error.fault == nil
        case .folder(let error):
            [
                .fileNameTooLong, .isDirectory, .fileTooLarge, .invalidArgument,
                .illegalByteSequence,
            ].contains(error.errno)
        }
    }

    fileprivate var error: FileError {
        switch self {
        case .output(let error), .folder(let error): error
        }
    }
}

extension Failure {
    fileprivate static func taken(_ place: String) -> Failure {
        Failure(.deliveryExists, "\(place): a file has this name already (ifExists: fail)")
    }
}
