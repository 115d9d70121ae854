import CDarkroomCurl
import DarkroomCore
import Glibc
import Synchronization
import SystemPackage

/// Runs any number of downloads at once on one thread of its own, which makes every libcurl call but
/// the one that wakes it up. The others speak to it through a mailbox.
///
/// Connections are kept and used again; transfers to one HTTP/2 server share one. How many transfers
/// run at once is up to the caller: each one that is started begins at once.
///
/// An engine with nothing to do sleeps and costs nothing.
package final class TransferEngine: Sendable {
    /// Called once for each transfer, on the engine's thread, and so keeps every other transfer
    /// waiting: it hands over, and must not call `stop()`.
    package typealias Completion = @Sendable (Result<TransferReport, FetchError>) -> Void

    private let mailbox = TransferMailbox()
    private let wakeup: Wakeup
    private let thread: Mutex<pthread_t?>

    /// Starts the thread. SIGPIPE is ignored from here on, in the whole process: libcurl and OpenSSL
    /// write to sockets whose other end may be gone, and their error is enough.
    package init(settings: TransferSettings) throws(FetchError) {
        _ = Self.libraryIsReady
        signal(SIGPIPE, SIG_IGN)
        do throws(Errno) {
            wakeup = try Wakeup()
        } catch {
            throw Self.noEngine("\(error)", error.storageFault)
        }
        // Made here, so that what it lacks is told at once; then only its thread uses it.
        let loop = Unmanaged.passRetained(
            try TransferLoop(mailbox: mailbox, wakeup: wakeup, settings: settings))
        var thread = pthread_t()
        let result = pthread_create(&thread, nil, runLoop, loop.toOpaque())
        guard result == 0 else {
            loop.release()
            throw Self.noEngine(
                String(cString: strerror(result)), Errno(rawValue: result).storageFault)
        }
        self.thread = Mutex(thread)
    }

    deinit { stop() }

    /// Begins a download. `completion` is called also if the engine has been stopped, then at once and
    /// on the caller's thread.
    @discardableResult
    package func start(
        _ request: TransferRequest, completion: @escaping Completion
    ) -> TransferID {
        let (id, isAccepted) = mailbox.start(request, completion: completion)
        if isAccepted {
            wakeup.wake()
        } else {
            completion(.failure(.cancelled(request.url)))
        }
        return id
    }

    /// Ends a transfer, whose completion is then called with `cancelled`. Does nothing to one that has
    /// ended.
    package func cancel(_ id: TransferID) {
        if mailbox.post(.cancel(id)) { wakeup.wake() }
    }

    /// Ends the transfers whose answer has not begun, as `cancel` does: nothing has come of them yet, and their servers
    /// may never say a word.
    package func cancelUnanswered() {
        if mailbox.post(.cancelUnanswered) { wakeup.wake() }
    }

    /// Takes other settings for the transfers that are started from now on.
    package func update(_ settings: TransferSettings) {
        if mailbox.post(.update(settings)) { wakeup.wake() }
    }

    /// Cancels what is running, waits for the thread to end and closes all connections. Further calls
    /// do nothing.
    package func stop() {
        mailbox.close()
        wakeup.wake()
        guard let thread = thread.withLock({ $0.take() }) else { return }
        // A completion may have held the last reference, and this be the engine's own thread.
        if pthread_equal(thread, pthread_self()) != 0 {
            pthread_detach(thread)
        } else {
            pthread_join(thread, nil)
        }
    }

    /// How often the thread has gone round. A watchdog calls `nudge()`, and some time later finds the
    /// number grown, or the thread stuck.
    package var turns: UInt64 { mailbox.turns.load(ordering: .relaxed) }

    /// Has the thread go round once more, also when it has nothing to do.
    package func nudge() { wakeup.wake() }

    static func noEngine(_ cause: String, _ fault: StorageFault?) -> FetchError {
        FetchError(.transferFailed, "the transfer engine cannot be started: \(cause)", fault: fault)
    }

    /// libcurl's global state, set up once and never torn down: other engines may be using it.
    private static let libraryIsReady: Void = {
        _ = curl_global_init(Int(CURL_GLOBAL_DEFAULT))
    }()
}

extension FetchError {
    static func cancelled(_ url: RemoteURL) -> FetchError {
        FetchError(.cancelled, "\(url): the download was cancelled")
    }
}

/// The thread's main function.
private func runLoop(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    // libidn2 takes names to be in the locale's encoding, and a daemon has the locale C. This one counts for
    // the thread alone; without it, names in other letters are refused.
    let locale = newlocale(CInt(LC_CTYPE_MASK), "C.UTF-8", nil)
    let former = locale.map { uselocale($0) }
    Unmanaged<TransferLoop>.fromOpaque(argument).takeRetainedValue().run()
    if let locale, let former {
        uselocale(former)
        freelocale(locale)
    }
    return nil
}
