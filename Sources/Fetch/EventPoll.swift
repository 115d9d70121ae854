import CDarkroomShims
import DarkroomCore
import Glibc
import SystemPackage

/// Ends the sleep of the engine's thread, from whatever thread.
final class Wakeup: Sendable {
    /// An eventfd.
    fileprivate let descriptor: Descriptor

    init() throws(Errno) {
        descriptor = Descriptor(owning: try retryingInterrupts { darkroom_poll_wakeup() })
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

    /// Tells of the socket from now on when it is ready for what `flags` name (`DARKROOM_POLL_IN`, `_OUT`), in
    /// place of what it was watched for before. `owner` comes back in its events.
    func watch(_ socket: CInt, owner: UInt32, flags: UInt32) throws(Errno) {
        _ = try retryingInterrupts {
            darkroom_poll_watch(descriptor.number, socket, owner, flags)
        }
    }

    /// Must come before the socket is closed, whose number may soon be that of another.
    func forget(_ socket: CInt) {
        darkroom_poll_forget(descriptor.number, socket)
    }

    /// Waits until something is ready or somebody calls `wake()`, at most for so long, and returns the sockets
    /// that are ready.
    func wait(milliseconds: CInt) throws(Errno) -> [darkroom_poll_event] {
        let count = darkroom_poll_wait(
            descriptor.number, &buffer, CInt(buffer.count), milliseconds)
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
