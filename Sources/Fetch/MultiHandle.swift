import CDarkroomCurl
import CDarkroomShims
import DarkroomCore
import SystemPackage

/// libcurl's multi handle: a pool of connections and the transfers that run on them. It tells which sockets
/// to watch and when its next time limit is, and is told what happened.
///
/// Belongs to the engine's thread; its callbacks run there, within its own calls.
final class MultiHandle {
    /// Its name in the events of `poll`.
    let number: UInt32
    /// How many handles are in it.
    private(set) var count = 0
    private let curl: UnsafeMutableRawPointer
    private let poll: EventPoll
    /// When libcurl wants to be called without an event, by the monotonic clock in nanoseconds.
    private(set) var due: UInt64?
    /// Those that were given no socket for an address and have to be run again to see it.
    private var refused: [EasyHandle] = []

    private static let input = UInt32(DARKROOM_POLL_IN)
    private static let output = UInt32(DARKROOM_POLL_OUT)

    /// nil if there is no memory for it.
    init?(number: UInt32, poll: EventPoll) {
        guard let curl = curl_multi_init() else { return nil }
        self.curl = curl
        self.number = number
        self.poll = poll
        let user = Unmanaged.passUnretained(self).toOpaque()
        // Fail of nothing but an option that is unknown, and these are older than what we link with.
        _ = darkroom_curl_multi_set_socket(curl, watchSocket, user)
        _ = darkroom_curl_multi_set_timer(curl, setDue, user)
    }

    deinit { curl_multi_cleanup(curl) }

    /// How many connections are kept open for reuse.
    func keep(connections: Int) {
        // Refused only for a number that is out of range, and then the former one stays.
        _ = darkroom_curl_multi_set_long(curl, CURLMOPT_MAXCONNECTS, max(1, connections))
    }

    /// Begins the handle's transfer.
    func add(_ handle: EasyHandle) -> CURLMcode {
        let result = curl_multi_add_handle(curl, handle.curl)
        guard result == CURLM_OK else { return result }
        handle.pool = self
        count += 1
        return result
    }

    /// Ends it, wherever it is.
    func remove(_ handle: EasyHandle) {
        guard handle.pool === self else { return }
        // Fails of nothing but a handle that is not in here.
        _ = curl_multi_remove_handle(curl, handle.curl)
        handle.pool = nil
        count -= 1
    }

    /// Notes that the handle was given no socket for an address.
    ///
    /// Where several addresses in a row are refused, libcurl (7.88) does not see the second one until a
    /// time limit passes: nothing happens on a socket that there is not. So the handle is run again.
    func noteRefusal(of handle: EasyHandle) { refused.append(handle) }

    /// Whether there is something to do without an event.
    var isDue: Bool { !refused.isEmpty }

    /// Goes on with the transfers that wait for the socket.
    func act(on socket: CInt, flags: UInt32) -> CURLMcode {
        var ready: CInt = 0
        if flags & Self.input != 0 { ready |= CURL_CSELECT_IN }
        if flags & Self.output != 0 { ready |= CURL_CSELECT_OUT }
        // What has broken is found, and told in words, by whoever reads or writes.
        if flags & UInt32(DARKROOM_POLL_BROKEN) != 0 {
            ready |= CURL_CSELECT_IN | CURL_CSELECT_OUT
        }
        var running: CInt = 0
        return curl_multi_socket_action(curl, socket, ready, &running)
    }

    /// Does what libcurl has put off until its time limit, if that has come.
    func fire(now: UInt64) -> CURLMcode {
        let stuck = refused
        refused = []
        for handle in stuck where handle.pool === self {
            // Ending a pause has libcurl run the handle at its next time limit, which is now. In the middle of
            // connecting there is nothing that a pause could hold up.
            curl_easy_pause(handle.curl, CURLPAUSE_SEND)
            curl_easy_pause(handle.curl, CURLPAUSE_CONT)
        }
        guard let due, due <= now else { return CURLM_OK }
        self.due = nil
        var running: CInt = 0
        return curl_multi_socket_action(curl, CURL_SOCKET_TIMEOUT, 0, &running)
    }

    /// The next transfer that libcurl has ended, with its result; it is still in here.
    func nextDone() -> (handle: EasyHandle, result: CURLcode)? {
        var left: CInt = 0
        while let message = curl_multi_info_read(curl, &left)?.pointee {
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
        do throws(Errno) {
            try poll.watch(socket, owner: number, flags: flags)
            return true
        } catch {
            return false
        }
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
    guard let user else { return -1 }
    let multi = Unmanaged<MultiHandle>.fromOpaque(user).takeUnretainedValue()
    return multi.watch(socket, what: what) ? 0 : -1
}

/// libcurl's timer callback; `user` is the `MultiHandle`.
private func setDue(
    curl: UnsafeMutableRawPointer?, milliseconds: Int, user: UnsafeMutableRawPointer?
) -> CInt {
    guard let user else { return -1 }
    Unmanaged<MultiHandle>.fromOpaque(user).takeUnretainedValue()
        .noteTimer(milliseconds: milliseconds)
    return 0
}
