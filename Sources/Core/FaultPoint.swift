import Glibc
import Synchronization

/// The places between the steps of a manifest's way where a test may have the process end, as by kill -9.
///
/// `DARKROOM_FAULT=NAME` in the environment ends it when the point of that name is passed for the first
/// time, `DARKROOM_FAULT=NAME:N` for the Nth. Without the variable passing a point costs a load and a branch.
/// `darkroomd --self-test` passes through every one of them.
///
/// Whoever adds a step that survives a crash, a rename or a sync say, adds a point behind it.
package enum FaultPoint: String, Sendable, CaseIterable {
    // From the inbox into `active/ID`.
    case claimFolderMade = "claim-folder-made"
    case claimPlaceMade = "claim-place-made"
    case claimMoved = "claim-moved"
    /// The daemon has its own copy.
    case claimCopied = "claim-copied"
    case claimFolderSynced = "claim-folder-synced"
    case claimActiveSynced = "claim-active-synced"
    case claimInboxSynced = "claim-inbox-synced"

    // The receipt: `outbox/ID` appears.
    case receiptFolderMade = "receipt-folder-made"
    case receiptStatusWritten = "receipt-status-written"
    case receiptManifestWritten = "receipt-manifest-written"
    /// The only copy of a rejected manifest is in the receipt, which is not in the outbox yet.
    case receiptManifestMoved = "receipt-manifest-moved"
    case receiptSynced = "receipt-synced"
    case receiptMoved = "receipt-moved"
    case receiptOutboxSynced = "receipt-outbox-synced"
    /// The submitter's own file is gone; its folder is still there.
    case submittedRemoved = "submitted-removed"
    /// One that was too large is in `tmp` again.
    case submittedGivenBack = "submitted-given-back"

    // An image's steps.
    case downloadBegan = "download-began"
    case downloadEnded = "download-ended"
    case filterBegan = "filter-began"
    case filterWritten = "filter-written"
    /// The pixels for other images are whole, under the name that they have while they are written.
    case handOverWritten = "hand-over-written"
    case handOverMoved = "hand-over-moved"
    /// No image needs them any more.
    case handOverRemoved = "hand-over-removed"

    // Its publication.
    case publishOutputsSynced = "publish-outputs-synced"
    /// Half of what was to be appended is in the journal.
    case publishJournalTorn = "publish-journal-torn"
    case publishJournalWritten = "publish-journal-written"
    case publishJournalSynced = "publish-journal-synced"
    case publishOutputMoved = "publish-output-moved"
    case publishOutboxSynced = "publish-outbox-synced"

    // A status file, the last one among them.
    case statusWritten = "status-written"
    case statusMoved = "status-moved"
    case finalStatusWritten = "final-status-written"
    case finalStatusMoved = "final-status-moved"
    case finalStatusSynced = "final-status-synced"
    /// One of the files of `active/ID` is gone, or of a receipt that is withdrawn.
    case treeEntryRemoved = "tree-entry-removed"
    case activeRemoved = "active-removed"

    // Control files.
    /// The journal has what a control file asked for, which is still there.
    case controlRecorded = "control-recorded"
    /// The control file is out of the inbox, for its end.
    case controlMoved = "control-moved"
    case controlConsumed = "control-consumed"
    /// A finished batch is to be taken up again; all that is needed lies in `active/.retry-ID`.
    case retryBuilt = "retry-built"
    case retryMoved = "retry-moved"
    /// A finished entry is out of the outbox, for retention's sake, and not yet removed.
    case expiredMoved = "expired-moved"
    case expiredFileRemoved = "expired-file-removed"
    case pauseMarked = "pause-marked"
    case pauseSynced = "pause-synced"
    case pauseUnmarked = "pause-unmarked"

    // An answer on its way into the cache.
    case cacheHeadWritten = "cache-head-written"
    case cacheWritten = "cache-written"
    case cacheMoved = "cache-moved"

    // What a start does itself.
    case recoveryReceiptWithdrawn = "recovery-receipt-withdrawn"
    case recoveryEmptyRemoved = "recovery-empty-removed"
    case recoveryJournalWritten = "recovery-journal-written"
    case recoveryJournalMended = "recovery-journal-mended"
    case recoveryOutputMoved = "recovery-output-moved"
    case recoveryScrapRemoved = "recovery-scrap-removed"
    case recoveryFinished = "recovery-finished"
    case recoveryControlReturned = "recovery-control-returned"
    case recoveryRetryRemoved = "recovery-retry-removed"
    /// The journal has what the former process died of, and `attempts` has it, too.
    case recoveryCrashJournaled = "recovery-crash-journaled"

    package static let variable = "DARKROOM_FAULT"

    /// Whether only daemons that fetch from a network pass it; the self-test has none.
    package var needsNetwork: Bool {
        [.cacheHeadWritten, .cacheWritten, .cacheMoved].contains(self)
    }

    /// Ends the process here if that was asked for.
    @inline(__always)
    package func pass() {
        if let armed = Self.armed, armed.isDue(at: self) { Self.end() }
    }

    /// Ends the process here if that was asked for, having done `last`, of which nothing is left undone.
    @inline(__always)
    package func pass(after last: () -> Void) {
        guard let armed = Self.armed, armed.isDue(at: self) else { return }
        last()
        Self.end()
    }

    /// Nothing of the process runs on, no handler and no other thread.
    private static func end() -> Never {
        kill(getpid(), SIGKILL)
        while true { pause() }
    }

    // MARK: What was asked for

    private static let armed: ArmedFault? = getenv(variable).flatMap {
        ArmedFault(String(cString: $0))
    }

    /// What is wrong with a text that the variable holds; nil if it names a point, or with a `=` one of the
    /// faults that pictures have.
    package static func problem(with text: String) -> String? {
        if text.contains("=") || ArmedFault(text) != nil { return nil }
        let names = allCases.map(\.rawValue).joined(separator: ", ")
        return
            "\"\(text)\" is not a fault point; the fault points (with :N for the Nth pass) are \(names)"
    }
}

/// A fault point and how often it is still to be passed.
final class ArmedFault: Sendable {
    let point: FaultPoint
    private let left: Atomic<Int>

    /// Reads `NAME` or `NAME:N`.
    init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let point = FaultPoint(rawValue: String(parts[0])),
            let number = parts.count == 1 ? 1 : Int(parts[1]), number > 0
        else { return nil }
        self.point = point
        left = Atomic(number)
    }

    /// Whether this passing is the one that was asked for.
    func isDue(at passed: FaultPoint) -> Bool {
        passed == point && left.subtract(1, ordering: .relaxed).newValue == 0
    }
}
