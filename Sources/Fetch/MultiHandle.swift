import CDarkroomCurl
import CDarkroomShims
import DarkroomCore
import SystemPackage

/// libcurl's multi handle: a pool of connections and the transfers that run on them. It tells which sockets to watch
/// and when its next time limit is, and the caller reports the events.
///
/// Used only on the engine's thread; its callbacks run there, within its own calls.
final class MultiHandle {
    /// Its number in the events of `poll`.
    let number: UInt32
    private(set) var count = 0
    private let curl: UnsafeMutableRawPointer
    private let poll: EventPoll
    /// When libcurl wants to be called without an event, in nanoseconds of the monotonic clock.
    private(set) var due: UInt64?
    /// Handles that got no socket for an address and must be run again to notice this.
    private var refused: [EasyHandle] = []

    private static let input = UInt32(DARKROOM_POLL_IN)
    private static let output = UInt32(DARKROOM_POLL_OUT)

    init?(number: UInt32, poll: EventPoll) {
        guard let curl = darkroom_curl_multi_init() else { return nil }
        self.curl = curl
        self.number = number
        self.poll = poll
        let user = Unmanaged.passUnretained(self).toOpaque()
        // These calls fail only for an unknown option, and all versions that we link with have these options.
        _ = darkroom_curl_multi_set_socket(curl, watchSocket, user)
        _ = darkroom_curl_multi_set_timer(curl, setDue, user)
    }

    deinit { darkroom_curl_multi_cleanup(curl) }

    /// Sets the number of connections that are kept open for reuse.
    func keep(connections: Int) {
        // This fails only for a number out of range; then the old value stays.
        _ = darkroom_curl_multi_set_long(curl, CURLMOPT_MAXCONNECTS, max(1, connections))
    }

    func add(_ handle: EasyHandle) -> CURLMcode {
        let result = darkroom_curl_multi_add_handle(curl, handle.curl)
        guard result == CURLM_OK else { return result }
        handle.pool = self
        count += 1
        return result
    }

    /// Ends the transfer of the handle, in whatever state it is.
    func remove(_ handle: EasyHandle) {
        guard handle.pool === self else { return }
        // This fails only for a handle that is not in the pool.
        _ = darkroom_curl_multi_remove_handle(curl, handle.curl)
        handle.pool = nil
        count -= 1
    }

    /// Notes that the handle got no socket for an address.
    ///
    /// If several addresses in sequence are refused, libcurl (7.88) notices the second one only after a time limit,
    /// because there is no socket with an event. So the handle is run again.
    func noteRefusal(of handle: EasyHandle) { refused.append(handle) }

    var isDue: Bool { !refused.isEmpty }

    func act(on socket: CInt, flags: UInt32) -> CURLMcode {
        var ready: CInt = 0
        if flags & Self.input != 0 { ready |= CURL_CSELECT_IN }
        if flags & Self.output != 0 { ready |= CURL_CSELECT_OUT }
        // libcurl finds and reports the error when it reads or writes.
        if flags & UInt32(DARKROOM_POLL_BROKEN) != 0 { ready |= CURL_CSELECT_IN | CURL_CSELECT_OUT }
        var running: CInt = 0
        return darkroom_curl_multi_socket_action(curl, socket, ready, &running)
    }

    /// Runs the work that libcurl has postponed to its time limit, if the limit is reached.
    func fire(now: UInt64) -> CURLMcode {
        let stuck = exchange(&refused, with: [])
        for handle in stuck where handle.pool === self {
            // After the end of a pause, libcurl runs the handle at its next time limit, which is now. During
            // connecting, a pause has no other effect.
            darkroom_curl_easy_pause(handle.curl, CURLPAUSE_SEND)
            darkroom_curl_easy_pause(handle.curl, CURLPAUSE_CONT)
        }
        guard let due, due <= now else { return CURLM_OK }
        self.due = nil
        var running: CInt = 0
        return darkroom_curl_multi_socket_action(curl, CURL_SOCKET_TIMEOUT, 0, &running)
    }

    /// The next transfer that libcurl has ended, with its result. It is still in the pool.
    func nextDone() -> (handle: EasyHandle, result: CURLcode)? {
        var left: CInt = 0
        while let message = darkroom_curl_multi_info_read(curl, &left)?.pointee {
            guard message.msg == CURLMSG_DONE, let curl = message.easy_handle,
                let handle = EasyHandle.of(curl)
            else { continue }
            return (handle, message.data.result)
        }
        return nil
    }

    fileprivate func watch(_ socket: CInt, what: CInt) -> Bool {
        let flags: UInt32
        switch what {
        case CURL_POLL_IN: flags = Self.input
        case CURL_POLL_OUT: flags = Self.output
        case CURL_POLL_INOUT: flags = Self.input | Self.output
        case CURL_POLL_REMOVE:
            poll.forget(socket)
            return true
        default: return true
        }
        return (try? poll.watch(socket, owner: number, flags: flags)) != nil
    }

    fileprivate func noteTimer(milliseconds: Int) {
        let nanoseconds = UInt64(clamping: milliseconds).saturatingMultiply(1_000_000)
        due = milliseconds < 0 ? nil : Clock.nanoseconds.saturatingAdd(nanoseconds)
    }
}

/// libcurl's socket callback; `user` is the `MultiHandle`. A failure ends all of its transfers.
private func watchSocket(
    curl: UnsafeMutableRawPointer?, socket: curl_socket_t, what: CInt,
    user: UnsafeMutableRawPointer?, socketUser: UnsafeMutableRawPointer?
) -> CInt {
    guard let multi: MultiHandle = object(user) else { return -1 }
    return multi.watch(socket, what: what) ? 0 : -1
}

/// libcurl's timer callback; `user` is the `MultiHandle`.
private func setDue(
    curl: UnsafeMutableRawPointer?, milliseconds: Int, user: UnsafeMutableRawPointer?
) -> CInt {
    guard let multi: MultiHandle = object(user) else { return -1 }
    multi.noteTimer(milliseconds: milliseconds)
    return 0
}
