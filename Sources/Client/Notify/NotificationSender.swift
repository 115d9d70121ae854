import DarkroomAnswer
import DarkroomCore
import Glibc

/// Tells a receiver of each end of a batch: at least once, one after the other, in the order of the ends.
///
/// | step                                       | cursor      | after a kill at this point                   |
/// |--------------------------------------------|-------------|----------------------------------------------|
/// | a look finds the end                       | due         | the next start finds it again                |
/// | the receiver is called                     | due, failed | the next start calls again, also if the call |
/// |                                            |             | has succeeded: nobody has seen its result    |
/// | the call has failed                        | failed      | the next start calls again                   |
/// | the limit of attempts is reached           | passed-over | the next end follows                         |
/// | the call has succeeded                     | called      | the next end follows                         |
/// | the answer is removed or the batch repeated | removed, replaced | the next end follows                   |
///
/// A call that is interrupted by a stop or a kill does not count as an attempt. A state that the disk refuses is kept,
/// and the next call waits until it is written.
package final class NotificationSender {
    private let spool: SpoolFolder
    private let cursor: NotificationCursor
    private let receiver: NotificationReceiver
    private let policy: NotificationPolicy
    private let manager: ServiceManager
    private let tell: (NotificationEvent) throws(ClientError) -> Void
    private let scan: EndScan
    private var queue = NotificationQueue()
    private var news: [EndScan.News] = []
    /// States that are not in the cursor yet.
    private var unwritten: [NotificationCursor.Record] = []
    private var isRefused = false

    /// The longest wait, in seconds: a signal that arrives just before a wait does not end it.
    private static let tick = 0.5

    package init(
        _ spool: SpoolFolder, _ cursor: NotificationCursor, _ receiver: NotificationReceiver,
        _ policy: NotificationPolicy, _ manager: ServiceManager = ServiceManager(),
        tell: @escaping (NotificationEvent) throws(ClientError) -> Void
    ) throws(ClientError) {
        self.spool = spool
        self.cursor = cursor
        self.receiver = receiver
        self.policy = policy
        self.manager = manager
        self.tell = tell
        scan = try EndScan(spool)
    }

    // MARK: The start

    /// Looks at the outbox for the first time, and writes the cursor.
    ///
    /// - Parameter fromStart: whether a new cursor also notifies what has ended before.
    package func begin(fromStart: Bool) throws(ClientError) {
        let news = try scan.look()
        var present: Set<ByteString> = []
        var passed: [NotificationCursor.Record] = []
        for case .ended(let end) in news {
            present.insert(ByteString(end.id))
            if cursor.isNew, !fromStart {
                passed.append(.init(ByteString(end.id), end.key, .before))
            }
        }
        if cursor.isNew {
            try asClientError(cursor.begin(with: passed))
            try tell(.begun(passed: passed.count))
        }
        try forgetRemoved(present)
        for item in news { try take(item) }
        manager.ready()
    }

    /// Says which ends were not notified and cannot be any more, because their answers were removed in the meantime.
    private func forgetRemoved(_ present: Set<ByteString>) throws(ClientError) {
        var gone: [NotificationCursor.Record] = []
        for record in cursor.records.values where !present.contains(record.id) {
            // A batch that is being repeated is there, but has not ended.
            if try !scan.hasAnswer(record.id.string) { gone.append(record) }
        }
        for record in gone.sorted(by: { $0.id < $1.id }) where record.state.isOpen {
            try tell(.removed(id: record.id.string, record.end))
        }
        cursor.forget(gone.map(\.id))
        if cursor.isLong || !gone.isEmpty { try asClientError(cursor.rewrite()) }
    }

    // MARK: What a look finds

    private func take(_ item: EndScan.News) throws(ClientError) {
        switch item {
        case .ended(let end): try take(end)
        case .unreadable(let id, let reason): try tell(.unreadable(id: id, reason))
        case .vanished(let id, let hadEnded):
            if let item = queue.remove(id) {
                try tell(.removed(id: id, item.end.key))
                close(item.end, .removed)
            } else {
                if !hadEnded { try tell(.removedUnseen(id: id)) }
                cursor.forget([ByteString(id)])
            }
        }
    }

    private func take(_ end: BatchEnd) throws(ClientError) {
        let id = ByteString(end.id)
        let record = unwritten.last { $0.id == id } ?? cursor.records[id]
        if let record, record.end == end.key {
            guard record.state.isOpen else { return }
            let waiting = queue.remove(end.id)
            return queue.add(
                .init(end: end, tries: waiting?.tries ?? record.tries ?? 0, due: waiting?.due ?? 0))
        }
        if let record, record.state.isOpen { try tell(.replaced(id: end.id, record.end)) }
        queue.add(.init(end: end))
        // This line need not be on the disk, so a refusal does not matter.
        try? cursor.append([.init(id, end.key, .due)])
    }

    private func look() throws(ClientError) {
        for item in try scan.lookIfDue() { try take(item) }
    }

    // MARK: The loop

    /// Calls for each end until a signal arrives, and returns the signal.
    package func run() throws(ClientError) -> CInt {
        while true {
            if let signal = StopSignals.signal {
                manager.stopping()
                return signal
            }
            try look()
            guard try write() else {
                wait(Self.tick)
                continue
            }
            guard let next = queue.first() else {
                manager.status("Waiting for batches to end")
                wait(scan.pause)
                continue
            }
            let pause = next.due - Clock.uptime
            if pause > 0 {
                manager.status(
                    "\(Words.count(queue.count, "end")) to notify; \(next.end.id.visible) had "
                        + "\(Words.count(next.tries, "failed try", "failed tries"))")
                wait(min(pause, scan.pause))
            } else {
                try call(next)
            }
        }
    }

    private func wait(_ seconds: Double) {
        var entry = pollfd(fd: scan.events, events: Int16(POLLIN), revents: 0)
        let limit = min(max(seconds, 0.001), Self.tick)
        poll(&entry, 1, CInt((limit * 1000).rounded(.up)))
    }

    /// Writes the states that are not in the cursor yet; returns false if the disk refuses them.
    private func write() throws(ClientError) -> Bool {
        do throws(FileError) {
            try cursor.append(unwritten)
            unwritten = []
            if cursor.isLong { try cursor.rewrite() }
        } catch {
            if !isRefused { try tell(.cursorRefused(error.message)) }
            isRefused = true
            return false
        }
        if isRefused { try tell(.cursorAccepted) }
        isRefused = false
        return true
    }

    // MARK: A call

    /// Nobody is called for the end any more.
    private func close(_ end: BatchEnd, _ state: NotificationCursor.State, tries: Int? = nil) {
        queue.remove(end.id)
        unwritten.append(.init(ByteString(end.id), end.key, state, tries: tries))
    }

    private func call(_ item: NotificationQueue.Item) throws(ClientError) {
        let end = item.end
        switch try scan.answer(of: end) {
        case .removed:
            close(end, .removed)
            try tell(.removed(id: end.id, end.key))
        case .replaced:
            close(end, .replaced)
            try tell(.replaced(id: end.id, end.key))
        case .status(let status):
            manager.status("Calling for \(end.id.visible)")
            let began = receiver.call(
                for: end, status: status, folder: scan.path(of: end.id), within: policy.timeout)
            FaultPoint.notifyBegan.pass()
            switch began {
            case .failure(let failure): try finish(item, .failed(failure.reason))
            case .success(let call):
                guard let result = try waitForEnd(of: call, end) else {
                    return try tell(.interrupted(end))
                }
                FaultPoint.notifyEnded.pass()
                try finish(item, result)
            }
            defer { news = [] }
            for item in news { try take(item) }
        }
    }

    /// Waits for the end of a call, and looks at the outbox in the meantime.
    ///
    /// - Returns: nil if the command stops, and the call was ended because of that.
    private func waitForEnd(
        of call: any NotificationCall, _ end: BatchEnd
    ) throws(ClientError) -> CallResult? {
        let deadline = Clock.uptime + policy.timeout + call.slack
        var stop: Double?
        while true {
            let now = Clock.uptime
            if stop == nil, StopSignals.signal != nil {
                let time = min(policy.stopTime, max(0, deadline - now))
                stop = now + time
                manager.stopping()
                try tell(.waitingForCall(end, seconds: time))
            }
            let limit = min(deadline, stop ?? .infinity)
            if let result = call.wait(
                seconds: min(max(limit - now, 0.001), Self.tick),
                beside: stop == nil ? scan.events : -1)
            {
                return result
            }
            // A second signal does not wait.
            if let stop, Clock.uptime >= stop || StopSignals.count > 1 {
                call.end()
                return nil
            }
            if Clock.uptime >= deadline {
                call.end()
                let time = Words.time(microseconds: UInt64(policy.timeout * 1e6))
                return .failed("the call did not end within \(time)")
            }
            if stop == nil { news += try scan.lookIfDue() }
        }
    }

    private func finish(_ item: NotificationQueue.Item, _ result: CallResult) throws(ClientError) {
        let end = item.end
        switch result {
        case .succeeded:
            close(end, .called)
            _ = try write()
            try tell(.called(end))
        case .failed(let reason, let retryAfter):
            let tries = item.tries + 1
            if policy.isOver(afterTries: tries) {
                close(end, .passedOver, tries: tries)
                _ = try write()
                try tell(.passedOver(end, reason: reason, tries: tries))
            } else {
                unwritten.append(.init(ByteString(end.id), end.key, .failed, tries: tries))
                let pause = policy.pause(afterTries: tries, retryAfter: retryAfter)
                queue.postpone(end.id, tries: tries, until: Clock.uptime + pause)
                _ = try write()
                try tell(.failed(end, reason: reason, tries: tries, pause: pause))
            }
        }
    }
}
