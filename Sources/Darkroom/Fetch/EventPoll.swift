import CShims
import Glibc
import SystemPackage

/// Ends the sleep of the engine's thread, from whatever thread.
final class Wakeup: Sendable {
    /// An eventfd.
    fileprivate let descriptor: Descriptor

    init() throws(Errno) {
        descriptor = Descriptor(owning: try retryingInterrupts { darkroom_event_descriptor() })
    }

    /// Counts for the present sleep or else for the next one.
    func wake() {
        var one: UInt64 = 1
        // Fails only where the count is at its end, and then the thread has been woken up already.
        _ = write(descriptor.number, &one, MemoryLayout<UInt64>.size)
    }

    fileprivate func reset() {
        var count: UInt64 = 0
        _ = read(descriptor.number, &count, MemoryLayout<UInt64>.size)
    }
}

/// What the engine's thread waits for: sockets of libcurl's, and to be woken up. An epoll(7), so that a turn
/// costs what has happened and not what could.
final class EventPoll {
    /// A socket is ready: whose it is, and for what.
    struct Event {
        /// The number that `watch` was given.
        var owner: UInt32
        var socket: CInt
        /// EPOLLIN, EPOLLOUT, EPOLLERR, EPOLLHUP.
        var flags: UInt32
    }

    private let descriptor: Descriptor
    private let wakeup: Wakeup
    private var buffer = [epoll_event](repeating: epoll_event(), count: 256)

    /// No owner has this number.
    private static let wakeupOwner = UInt32.max

    init(wakeup: Wakeup) throws(Errno) {
        descriptor = Descriptor(
            owning: try retryingInterrupts { epoll_create1(CInt(EPOLL_CLOEXEC.rawValue)) })
        self.wakeup = wakeup
        try watch(wakeup.descriptor.number, owner: Self.wakeupOwner, flags: EPOLLIN.rawValue)
    }

    /// Tells of the socket from now on when it is ready for what `flags` name, in place of what it was
    /// watched for before.
    func watch(_ socket: CInt, owner: UInt32, flags: UInt32) throws(Errno) {
        var event = epoll_event(
            events: flags,
            data: epoll_data(u64: UInt64(owner) << 32 | UInt64(UInt32(bitPattern: socket))))
        // Most are watched for the first time; those that are not, the kernel knows.
        if epoll_ctl(descriptor.number, EPOLL_CTL_ADD, socket, &event) == 0 { return }
        guard errno == EEXIST else { throw Errno(rawValue: errno) }
        if epoll_ctl(descriptor.number, EPOLL_CTL_MOD, socket, &event) != 0 {
            throw Errno(rawValue: errno)
        }
    }

    /// Must come before the socket is closed, whose number may soon be that of another.
    func forget(_ socket: CInt) {
        _ = epoll_ctl(descriptor.number, EPOLL_CTL_DEL, socket, nil)
    }

    /// Waits until something is ready or somebody calls `wake()`, at most for so long. What is not taken from
    /// the kernel in this turn comes in the next.
    func wait(milliseconds: CInt) throws(Errno) -> [Event] {
        let count: CInt
        do {
            count = try buffer.withUnsafeMutableBufferPointer { buffer throws(Errno) in
                try Self.valueOrErrno(
                    epoll_wait(
                        descriptor.number, buffer.baseAddress, CInt(buffer.count), milliseconds))
            }
        } catch .interrupted {
            return []
        }
        var events: [Event] = []
        events.reserveCapacity(Int(count))
        for event in buffer.prefix(Int(count)) {
            let owner = UInt32(truncatingIfNeeded: event.data.u64 >> 32)
            if owner == Self.wakeupOwner {
                wakeup.reset()
            } else {
                let socket = CInt(truncatingIfNeeded: event.data.u64)
                events.append(Event(owner: owner, socket: socket, flags: event.events))
            }
        }
        return events
    }

    private static func valueOrErrno(_ result: CInt) throws(Errno) -> CInt {
        if result == -1 { throw Errno(rawValue: errno) }
        return result
    }
}
