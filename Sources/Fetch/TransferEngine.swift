import CDarkroomCurl
import DarkroomCore
import Glibc
import Synchronization
import SystemPackage

/// Runs any number of concurrent downloads on one thread. This thread makes all calls of libcurl except the one that
/// wakes it up. Other threads send commands through a mailbox.
///
/// Connections are kept and reused; transfers to one HTTP/2 server share one. The caller decides how many transfers run
/// at once: each started transfer begins at once.
///
/// An engine without work sleeps and costs nothing.
///
///     let engine = try TransferEngine(settings: settings)
///     engine.start(TransferRequest(url: url, output: output)) { result in … }
package final class TransferEngine: Sendable {
    /// Called once for each transfer, on the engine's thread, so all other transfers wait for it. It must return soon
    /// and must not call `stop()`.
    package typealias Completion = @Sendable (Result<TransferReport, FetchError>) -> Void

    private let mailbox = TransferMailbox()
    private let wakeup: Wakeup
    private let thread: Mutex<pthread_t?>

    /// Starts the thread. From then on, the whole process ignores SIGPIPE: libcurl and OpenSSL write to sockets whose
    /// other end may be closed, and their error is sufficient.
    ///
    /// - Throws: `transferFailed` if the thread cannot be started or libcurl cannot be loaded.
    package init(settings: TransferSettings) throws(FetchError) {
        try Self.loadLibrary()
        signal(SIGPIPE, SIG_IGN)
        do throws(Errno) {
            wakeup = try Wakeup()
        } catch {
            throw Self.noEngine("\(error)", error.storageFailure)
        }
        // Created here, so that an error is thrown at once. Later only the engine's thread uses it.
        let loop = Unmanaged.passRetained(
            try TransferLoop(mailbox: mailbox, wakeup: wakeup, settings: settings))
        var thread = pthread_t()
        let result = pthread_create(&thread, nil, runLoop, loop.toOpaque())
        guard result == 0 else {
            loop.release()
            throw Self.noEngine(
                String(cString: strerror(result)), Errno(rawValue: result).storageFailure)
        }
        self.thread = Mutex(thread)
    }

    deinit { stop() }

    /// Begins a download. If the engine has been stopped, `completion` is called at once on the caller's thread.
    @discardableResult
    package func start(_ request: TransferRequest, completion: @escaping Completion) -> TransferID {
        let (id, isAccepted) = mailbox.start(request, completion: completion)
        if isAccepted {
            wakeup.wake()
        } else {
            completion(.failure(.cancelled(request.url)))
        }
        return id
    }

    /// Ends a transfer; its completion is called with `cancelled`. Does nothing if the transfer has ended.
    package func cancel(_ id: TransferID) { post(.cancel(id)) }

    /// Ends the transfers without a response, as `cancel` does: they have no result yet, and their servers may never
    /// answer.
    package func cancelUnanswered() { post(.cancelUnanswered) }

    /// Uses other settings for transfers that are started from now on.
    package func update(_ settings: TransferSettings) { post(.update(settings)) }

    private func post(_ command: TransferMailbox.Command) {
        if mailbox.post(command) { wakeup.wake() }
    }

    /// Cancels all transfers, waits for the thread to end and closes all connections. Later calls do nothing.
    package func stop() {
        mailbox.close()
        wakeup.wake()
        guard let thread = thread.withLock({ $0.take() }) else { return }
        // A completion may have held the last reference, so this may be the engine's own thread.
        if pthread_equal(thread, pthread_self()) != 0 {
            pthread_detach(thread)
        } else {
            pthread_join(thread, nil)
        }
    }

    /// The number of loops of the thread. A watchdog calls `nudge()`; if the number has not grown some time later, the
    /// thread is stuck.
    package var turns: UInt64 { mailbox.turns.load(ordering: .relaxed) }

    /// Makes the thread loop once more, even if it has nothing to do.
    package func nudge() { wakeup.wake() }

    static func noEngine(_ cause: String, _ failure: StorageFailure?) -> FetchError {
        FetchError(.transferFailed, "downloads cannot begin: \(cause)", storageFailure: failure)
    }

    /// Loads libcurl, once for all engines and requests.
    static func loadLibrary() throws(FetchError) {
        if let problem = darkroom_curl_load() { throw noEngine(String(cString: problem), nil) }
    }
}

extension FetchError {
    static func cancelled(_ url: RemoteURL) -> FetchError {
        FetchError(.cancelled, "\(url): the download was cancelled")
    }

    static func noMemory(_ place: some CustomStringConvertible) -> FetchError {
        FetchError(.transferFailed, "\(place): out of memory", storageFailure: .scarce)
    }
}

private func runLoop(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument else { return nil }
    withUTF8Locale { Unmanaged<TransferLoop>.fromOpaque(argument).takeRetainedValue().run() }
    return nil
}

/// Runs `body` with another locale of this thread: libidn2 reads names in the encoding of the locale, and a daemon has the
/// locale C. Without it, international names are refused.
func withUTF8Locale<Value, Failure: Error>(
    _ body: () throws(Failure) -> Value
) throws(Failure) -> Value {
    let locale = newlocale(CInt(LC_CTYPE_MASK), "C.UTF-8", nil)
    let former = locale.map { uselocale($0) }
    defer {
        if let locale, let former {
            uselocale(former)
            freelocale(locale)
        }
    }
    return try body()
}
