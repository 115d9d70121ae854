import CDarkroomShims
import DarkroomCore
import Glibc

/// A program that was started for the end of a batch. Its exit code 0 is the success.
final class ProgramCall: NotificationCall {
    private let process: pid_t
    private let name: String
    /// Has input when the program has ended; negative if the system has no such descriptors.
    private let handle: Descriptor
    private var result: CallResult?
    let slack = 0.0

    /// The seconds between the request to end and the kill.
    private static let patience = 5.0

    init(_ process: pid_t, name: String) {
        self.process = process
        self.name = name
        handle = Descriptor(owning: darkroom_open_process(process))
    }

    deinit { end() }

    func wait(seconds: Double, beside file: CInt) -> CallResult? {
        if let result = reap() { return result }
        // poll(2) ignores negative numbers.
        var entries = [
            pollfd(fd: handle.number, events: Int16(POLLIN), revents: 0),
            pollfd(fd: file, events: Int16(POLLIN), revents: 0),
        ]
        let limit = handle.number < 0 ? min(seconds, 0.05) : seconds
        poll(&entries, 2, CInt(max(1, min(limit * 1000, 60_000))))
        return reap()
    }

    private func reap() -> CallResult? {
        if let result { return result }
        var status: CInt = 0
        let reaped = waitpid(process, &status, WNOHANG)
        if reaped == -1, errno == ECHILD {
            // The kernel has reaped it by itself (SIGCHLD was ignored when it ended).
            result = .failed("\(name) has ended, and the system does not tell how")
            return result
        }
        guard reaped == process else { return nil }
        // As in wait(2).
        let signal = status & 0x7F
        let code = (status >> 8) & 0xFF
        if signal != 0 {
            result = .failed(
                "\(name) was ended by signal \(signal) (\(String(cString: strsignal(signal))))")
        } else {
            result = code == 0 ? .succeeded : .failed("\(name) ended with exit code \(code)")
        }
        return result
    }

    func end() {
        guard result == nil else { return }
        // Until the program is reaped, no other process and no other group gets its number.
        kill(-process, SIGTERM)
        let deadline = Clock.uptime + Self.patience
        while !hasEndedSoon(), Clock.uptime < deadline {}
        // It may have left children.
        kill(-process, SIGKILL)
        while reap() == nil { _ = hasEndedSoon() }
    }

    /// Whether the program ends within a tenth of a second.
    private func hasEndedSoon() -> Bool {
        var entry = pollfd(fd: handle.number, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 100) > 0
    }
}
