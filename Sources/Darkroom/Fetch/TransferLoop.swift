import CCurl
import Glibc

/// What the engine's thread does: it owns the transfers and all their handles, and nobody else sees
/// it.
final class TransferLoop {
    private let mailbox: TransferMailbox
    private let multi: MultiHandle
    private var settings: TransferSettings
    private var running: [TransferID: EasyHandle] = [:]
    /// Handles without a transfer, to be used again.
    private var idle: [EasyHandle] = []
    private let headers: UnsafeMutablePointer<curl_slist>?

    /// What the thread is given to begin with.
    final class Start: Sendable {
        let mailbox: TransferMailbox
        let multi: MultiHandle
        let settings: TransferSettings

        init(mailbox: TransferMailbox, multi: MultiHandle, settings: TransferSettings) {
            self.mailbox = mailbox
            self.multi = multi
            self.settings = settings
        }
    }

    init(_ start: Start) {
        mailbox = start.mailbox
        multi = start.multi
        settings = start.settings
        headers = curl_slist_append(nil, "Accept: image/png, image/*;q=0.8, */*;q=0.1")
        adopt(start.settings)
    }

    deinit { curl_slist_free_all(headers) }

    /// Goes round until the mailbox is closed, then cancels what is left.
    func run() {
        while true {
            let (commands, isClosed) = mailbox.collect()
            commands.forEach(obey)
            if isClosed { break }
            var count: CInt = 0
            let performed = curl_multi_perform(multi.curl, &count)
            finishDone()
            guard performed == CURLM_OK else {
                failAll(performed)
                continue
            }
            sleep()
        }
        running.keys.forEach(cancel)
        idle = []
    }

    /// Until a socket is ready, a time limit of libcurl's is reached, or somebody wakes it up; with
    /// nothing to do, an hour.
    private func sleep() {
        let result = curl_multi_poll(multi.curl, nil, 0, 3_600_000, nil)
        if result != CURLM_OK {
            failAll(result)
            // Whatever poll(2) fails of, it must not be asked again without a pause.
            usleep(100_000)
        }
    }

    private func obey(_ command: TransferMailbox.Command) {
        switch command {
        case .start(let id, let request, let completion): begin(id, request, completion)
        case .cancel(let id): cancel(id)
        case .update(let settings): adopt(settings)
        }
    }

    private func adopt(_ settings: TransferSettings) {
        self.settings = settings
        // Refused only for a number that is out of range, and then the former one stays.
        _ = darkroom_curl_multi_set_long(
            multi.curl, CURLMOPT_MAXCONNECTS, max(1, settings.connections))
        idle.removeLast(max(0, idle.count - settings.connections))
    }

    private func begin(
        _ id: TransferID, _ request: TransferRequest,
        _ completion: @escaping TransferEngine.Completion
    ) {
        let transfer = EasyHandle.Transfer(
            id: id, request: request, limits: settings.limits, completion: completion)
        guard let handle = idle.popLast() ?? EasyHandle() else {
            completion(
                .failure(
                    FetchError(
                        .transferFailed, "\(request.url): out of memory", fault: .scarce)))
            return
        }
        do throws(FetchError) {
            try handle.begin(transfer, settings: settings, headers: headers)
            let added = curl_multi_add_handle(multi.curl, handle.curl)
            guard added == CURLM_OK else { throw Self.failure(added, of: transfer) }
            running[id] = handle
        } catch {
            _ = handle.end()
            completion(.failure(error))
        }
    }

    private func cancel(_ id: TransferID) {
        guard let handle = running[id], let transfer = handle.transfer else { return }
        release(handle)
        transfer.completion(.failure(.cancelled(transfer.request.url)))
    }

    /// Reports the transfers that libcurl has ended.
    private func finishDone() {
        var left: CInt = 0
        while let message = curl_multi_info_read(multi.curl, &left)?.pointee {
            guard message.msg == CURLMSG_DONE, let curl = message.easy_handle,
                let handle = EasyHandle.of(curl), let transfer = handle.transfer
            else { continue }
            let outcome = Self.outcome(of: transfer, result: message.data.result, handle: handle)
            release(handle)
            transfer.completion(outcome)
        }
    }

    /// After an error of libcurl's that concerns no single transfer.
    private func failAll(_ code: CURLMcode) {
        for handle in running.values {
            guard let transfer = handle.transfer else { continue }
            release(handle)
            transfer.completion(.failure(Self.failure(code, of: transfer)))
        }
    }

    private func release(_ handle: EasyHandle) {
        curl_multi_remove_handle(multi.curl, handle.curl)
        if let transfer = handle.end() { running[transfer.id] = nil }
        if idle.count < settings.connections { idle.append(handle) }
    }

    private static func outcome(
        of transfer: EasyHandle.Transfer, result: CURLcode, handle: EasyHandle
    ) -> Result<TransferReport, FetchError> {
        if let failure = FetchError(transfer, result: result, handle: handle) {
            return .failure(failure)
        }
        let curl = handle.curl
        let effective = darkroom_curl_get_string(curl, CURLINFO_EFFECTIVE_URL)
        let type = darkroom_curl_get_string(curl, CURLINFO_CONTENT_TYPE)
        return .success(
            TransferReport(
                request: transfer.request,
                effectiveURL: effective.map { RedactedURL(String(cString: $0)) }
                    ?? transfer.request.url.shown,
                status: HTTPStatus(darkroom_curl_get_long(curl, CURLINFO_RESPONSE_CODE)),
                contentType: type.map { String(cString: $0) }, bytes: transfer.bytes,
                prefix: transfer.prefix, crc32: transfer.crc32, resumedFrom: 0,
                redirects: darkroom_curl_get_long(curl, CURLINFO_REDIRECT_COUNT),
                elapsed: ContinuousClock.now - transfer.started,
                reusedConnection: darkroom_curl_get_long(curl, CURLINFO_NUM_CONNECTS) == 0))
    }

    private static func failure(
        _ code: CURLMcode, of transfer: EasyHandle.Transfer
    ) -> FetchError {
        let words = String(cString: curl_multi_strerror(code))
        return FetchError(
            .transferFailed, "\(transfer.request.url): \(words)",
            fault: code == CURLM_OUT_OF_MEMORY ? .scarce : nil)
    }
}
