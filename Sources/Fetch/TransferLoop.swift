import CDarkroomCurl
import CDarkroomShims
import DarkroomCore
import Glibc
import SystemPackage

/// The work of the engine's thread. It owns the transfers and all their handles; nothing else accesses them.
final class TransferLoop {
    private let mailbox: TransferMailbox
    private let poll: EventPoll
    /// The pool in which transfers begin.
    private var current: MultiHandle
    /// Old pools: only their existing transfers may still use their connections.
    private var retired: [MultiHandle] = []
    private var lastPool: UInt32 = 0
    private var settings: TransferSettings
    private var running: [TransferID: (handle: EasyHandle, pool: MultiHandle)] = [:]
    private var idle: [EasyHandle] = []

    init(mailbox: TransferMailbox, wakeup: Wakeup, settings: TransferSettings) throws(FetchError) {
        do throws(Errno) {
            poll = try EventPoll(wakeup: wakeup)
        } catch {
            throw TransferEngine.noEngine("\(error)", error.storageFailure)
        }
        guard let multi = MultiHandle(number: 0, poll: poll) else {
            throw TransferEngine.noEngine("there is not enough memory", .scarce)
        }
        self.mailbox = mailbox
        self.settings = settings
        current = multi
        current.keep(connections: settings.connections)
    }

    /// Loops until the mailbox is closed, then cancels the remaining transfers.
    func run() {
        while true {
            let (commands, isClosed) = mailbox.collect()
            commands.forEach(perform)
            if isClosed { break }
            fire()
            finishDone()
            for event in sleep() { act(on: event) }
        }
        running.keys.forEach(cancel)
        idle = []
    }

    // MARK: Events

    private var pools: [MultiHandle] { retired + [current] }

    private func fire() {
        let now = Clock.nanoseconds
        for pool in pools { check(pool.fire(now: now), pool) }
    }

    private func act(on event: darkroom_poll_event) {
        // A pool that no longer exists has no transfers, so its last events do not matter.
        guard let pool = pools.first(where: { $0.number == event.owner }) else { return }
        check(pool.act(on: event.file, flags: event.ready), pool)
    }

    /// Waits until a socket is ready, a time limit of libcurl is reached, or somebody wakes the thread up; without
    /// work, at most an hour.
    private func sleep() -> [darkroom_poll_event] {
        let now = Clock.nanoseconds
        let due = pools.contains(where: \.isDue) ? now : pools.compactMap(\.due).min() ?? .max
        // Rounded up, because libcurl has nothing to do before its time.
        let milliseconds = due <= now ? 0 : min(3_600_000, (due - now - 1) / 1_000_000 + 1)
        do throws(Errno) {
            return try poll.wait(milliseconds: CInt(milliseconds))
        } catch {
            // This never happens with an open descriptor. But it must not be repeated without a pause.
            usleep(100_000)
            return []
        }
    }

    /// Reports the transfers that libcurl has ended, and continues those with a redirect.
    private func finishDone() {
        for pool in pools {
            while let (handle, result) = pool.nextDone() { finish(handle, result, pool) }
        }
        retired.removeAll { $0.count == 0 }
    }

    private func finish(_ handle: EasyHandle, _ result: CURLcode, _ pool: MultiHandle) {
        guard let transfer = handle.transfer else { return }
        transfer.connections += darkroom_curl_get_long(handle.curl, CURLINFO_NUM_CONNECTS)
        let outcome: Result<TransferReport, FetchError>
        do throws(FetchError) {
            // The next request resets what the handle knows of the response, so it is evaluated first.
            let failure = FetchError(transfer, result: result, handle: handle)
            if try transfer.advance(after: result) {
                pool.remove(handle)
                return start(transfer, handle, pool)
            }
            outcome = failure.map(Result.failure) ?? Self.report(transfer)
        } catch {
            outcome = .failure(error)
        }
        release(handle, pool)
        transfer.completion(outcome)
    }

    /// An error of libcurl that does not belong to a single transfer ends all transfers of the pool.
    private func check(_ code: CURLMcode, _ pool: MultiHandle) {
        if code == CURLM_OK { return }
        for (handle, owner) in running.values where owner === pool {
            guard let transfer = handle.transfer else { continue }
            release(handle, pool)
            transfer.completion(.failure(Self.failure(code, of: transfer)))
        }
        if pool === current { renewPool() }
    }

    // MARK: Commands

    private func perform(_ command: TransferMailbox.Command) {
        switch command {
        case .start(let id, let request, let completion): begin(id, request, completion)
        case .cancel(let id): cancel(id)
        case .cancelUnanswered:
            for (id, run) in running where run.handle.transfer?.reader.head == nil { cancel(id) }
        case .update(let settings): adopt(settings)
        }
    }

    private func adopt(_ settings: TransferSettings) {
        let former = self.settings
        self.settings = settings
        if !settings.shareConnections(with: former) { renewPool() }
        current.keep(connections: settings.connections)
        idle.removeLast(max(0, idle.count - settings.connections))
    }

    /// Closes all connections: idle ones at once, the others when their transfers have ended.
    private func renewPool() {
        // Without memory for another pool, the current one is kept.
        guard let pool = MultiHandle(number: lastPool + 1, poll: poll) else { return }
        lastPool += 1
        if current.count > 0 { retired.append(current) }
        current = pool
        current.keep(connections: settings.connections)
    }

    private func begin(
        _ id: TransferID, _ request: TransferRequest,
        _ completion: @escaping TransferEngine.Completion
    ) {
        let transfer: Transfer
        do throws(FetchError) {
            transfer = try Transfer(id, request, settings: settings, completion: completion)
        } catch {
            return completion(.failure(error))
        }
        guard let handle = idle.popLast() ?? EasyHandle() else {
            return completion(.failure(.noMemory(request.url)))
        }
        start(transfer, handle, current)
    }

    /// Makes the current request of the transfer.
    private func start(_ transfer: Transfer, _ handle: EasyHandle, _ pool: MultiHandle) {
        do throws(FetchError) {
            try handle.begin(transfer)
            let added = pool.add(handle)
            guard added == CURLM_OK else { throw Self.failure(added, of: transfer) }
            running[transfer.id] = (handle, pool)
        } catch {
            running[transfer.id] = nil
            _ = handle.end()
            transfer.completion(.failure(error))
        }
    }

    private func cancel(_ id: TransferID) {
        guard let (handle, pool) = running[id], let transfer = handle.transfer else { return }
        release(handle, pool)
        transfer.completion(.failure(.cancelled(transfer.request.url)))
    }

    private func release(_ handle: EasyHandle, _ pool: MultiHandle) {
        pool.remove(handle)
        if let transfer = handle.end() { running[transfer.id] = nil }
        if idle.count < settings.connections { idle.append(handle) }
    }

    // MARK: Results

    private static func report(_ transfer: Transfer) -> Result<TransferReport, FetchError> {
        guard let head = transfer.reader.head, let plan = transfer.plan,
            plan.isKept || plan == .notModified
        else { return .failure(transfer.error(.badResponse, "no response")) }
        return .success(
            TransferReport(
                request: transfer.request, effectiveURL: transfer.hop.shown,
                target: transfer.hop.target, response: head,
                isNotModified: plan == .notModified, bytes: transfer.body.bytes,
                total: transfer.total, prefix: transfer.body.prefix, crc32: transfer.body.crc32,
                resumedFrom: transfer.body.resumedFrom, redirects: transfer.redirects,
                sentCookies: transfer.cookies.wereSent,
                elapsed: ContinuousClock.now - transfer.started,
                reusedConnection: transfer.connections == 0))
    }

    private static func failure(_ code: CURLMcode, of transfer: Transfer) -> FetchError {
        let words = String(cString: darkroom_curl_multi_strerror(code))
        return FetchError(
            .transferFailed, "\(transfer.place): \(words)",
            storageFailure: code == CURLM_OUT_OF_MEMORY ? .scarce : nil)
    }
}
