import CDarkroomShims
import DarkroomCore
import Glibc
import SystemPackage

/// Wakes up the engine's thread, from any thread.
final class Wakeup: Sendable {
    /// An eventfd.
    fileprivate let descriptor: Descriptor

    init() throws(Errno) {
        descriptor = Descriptor(owning: try retryingInterrupts { darkroom_poll_wakeup() })
    }

    /// Ends the current wait, or the next one if the thread does not wait.
    func wake() {
        var one: UInt64 = 1
        // This fails only if the counter is at its maximum, and then the thread has been woken up already.
        _ = write(descriptor.number, &one, MemoryLayout<UInt64>.size)
    }

    fileprivate func reset() {
        var count: UInt64 = 0
        _ = read(descriptor.number, &count, MemoryLayout<UInt64>.size)
    }
}

/// Waits for the events of the engine's thread: sockets of libcurl, and a wakeup. It uses epoll(7), so that the cost
/// depends on the number of events and not on the number of sockets.
final class EventPoll {
    private let descriptor: Descriptor
    private let wakeup: Wakeup
    private var buffer = [darkroom_poll_event](repeating: darkroom_poll_event(), count: 256)

    /// No owner has this number.
    private static let wakeupOwner = UInt32.max

    init(wakeup: Wakeup) throws(Errno) {
        descriptor = Descriptor(owning: try retryingInterrupts { darkroom_poll_create() })
        self.wakeup = wakeup
        let flags = UInt32(DARKROOM_POLL_IN)
        try watch(wakeup.descriptor.number, owner: Self.wakeupOwner, flags: flags)
    }

    /// Watches the socket for the events in `flags` (`DARKROOM_POLL_IN`, `_OUT`) and no longer for others. Its events
    /// contain `owner`.
    func watch(_ socket: CInt, owner: UInt32, flags: UInt32) throws(Errno) {
        _ = try retryingInterrupts {
            darkroom_poll_watch(descriptor.number, socket, owner, flags)
        }
    }

    /// Call this before the socket is closed, because its number may soon belong to another one.
    func forget(_ socket: CInt) { darkroom_poll_forget(descriptor.number, socket) }

    /// Waits until a socket is ready or somebody calls `wake()`, at most for this time. Returns the ready sockets.
    func wait(milliseconds: CInt) throws(Errno) -> [darkroom_poll_event] {
        let count = darkroom_poll_wait(descriptor.number, &buffer, CInt(buffer.count), milliseconds)
        if count < 0 {
            let error = Errno(rawValue: errno)
            if error == .interrupted { return [] }
            throw error
        }
        return buffer.prefix(Int(count)).filter { event in
            if event.owner == Self.wakeupOwner { wakeup.reset() }
            return event.owner != Self.wakeupOwner
        }
    }
}
