import Glibc
import Synchronization

/// The points between the steps of a manifest at which a test can end the process, as by kill -9.
///
/// `DARKROOM_FAULT=NAME` in the environment ends the process when it passes the point of this name for the first time;
/// with `DARKROOM_FAULT=NAME:N`, for the Nth time. Without the variable, a point costs a load and a branch. `darkroomd
/// --self-test` passes all points except those that need a network, a run or a notification, and without codec programs
/// except theirs.
///
/// If you add a step that survives a crash, for example a rename or a sync, add a point after it.
///
/// `DARKROOM_FAULT=trace` ends nothing, but prints each point with the target that passes it to standard error.
package enum FaultPoint: String, Sendable, CaseIterable {
    /// A name in the inbox was reported.
    case manifestArrived = "manifest-arrived"
    /// A manifest was read, and has no error.
    case manifestRead = "manifest-read"

    // From the inbox into `active/ID`.
    case claimFolderMade = "claim-folder-made"
    case claimPlaceMade = "claim-place-made"
    case claimMoved = "claim-moved"
    /// The daemon has its own copy.
    case claimCopied = "claim-copied"
    case claimFolderSynced = "claim-folder-synced"
    case claimActiveSynced = "claim-active-synced"
    case claimInboxSynced = "claim-inbox-synced"

    // The beginning of a run in a folder.
    case planWritten = "plan-written"
    case planMoved = "plan-moved"
    /// The list of outputs that go, or get others.
    case formerWritten = "former-written"
    case formerMoved = "former-moved"
    /// An output that no image has any more is removed.
    case formerRemoved = "former-removed"
    /// The copy of the manifest that all shards share.
    case planManifestWritten = "plan-manifest-written"
    case planManifestMoved = "plan-manifest-moved"
    /// All that the next shards share is there; the plan does not name it yet.
    case revisionBuilt = "revision-built"
    /// A shard has the former results of its images.
    case formerTaken = "former-taken"

    // The whole status of all shards.
    case mergeWritten = "merge-written"
    case mergeMoved = "merge-moved"
    /// The former statuses are not needed any more.
    case mergeSettled = "merge-settled"

    // The receipt: `outbox/ID` appears.
    case receiptFolderMade = "receipt-folder-made"
    case receiptStatusWritten = "receipt-status-written"
    /// The folder of the exact manifests exists.
    case exactFolderMade = "exact-folder-made"
    /// The exact manifest is where only the daemon reads it; the receipt has no copy yet.
    case exactManifestWritten = "exact-manifest-written"
    case exactManifestSynced = "exact-manifest-synced"
    case receiptManifestWritten = "receipt-manifest-written"
    /// The only copy of a rejected manifest is in the receipt, which is not in the outbox yet.
    case receiptManifestMoved = "receipt-manifest-moved"
    case receiptSynced = "receipt-synced"
    case receiptMoved = "receipt-moved"
    case receiptOutboxSynced = "receipt-outbox-synced"
    /// The submitted file is removed; its folder still exists.
    case submittedRemoved = "submitted-removed"
    /// A manifest that was too large is in `tmp` again.
    case submittedGivenBack = "submitted-given-back"

    /// The control files of an answered batch are found; nothing of it is in work.
    case batchHandedOver = "batch-handed-over"
    /// The batch is in work, and none of its images is.
    case batchBegun = "batch-begun"

    // An image's steps.
    case downloadBegan = "download-began"
    case downloadEnded = "download-ended"
    case filterBegan = "filter-began"
    case filterWritten = "filter-written"
    /// The pixels for other images are complete, but the file still has its temporary name.
    case handOverWritten = "hand-over-written"
    case handOverMoved = "hand-over-moved"
    /// The file is removed because no image needs the pixels any more.
    case handOverRemoved = "hand-over-removed"

    // A picture in the process of a codec program. Nothing of it survives the daemon, neither a file nor a process.
    /// A codec program has started.
    case codecReady = "codec-ready"
    /// It has the order to read or write a picture.
    case codecOrdered = "codec-ordered"
    case codecHeaderRead = "codec-header-read"
    case codecRowsRead = "codec-rows-read"
    /// Some rows are where an encoder finds them, and it is told so.
    case codecRowsPassed = "codec-rows-passed"
    /// Some bytes that an encoder has made are in the file.
    case codecBytesWritten = "codec-bytes-written"
    /// The child has said its last word.
    case codecEnded = "codec-ended"

    // Its publication.
    case publishOutputsSynced = "publish-outputs-synced"
    /// Half of the new records is in the journal.
    case publishJournalTorn = "publish-journal-torn"
    case publishJournalWritten = "publish-journal-written"
    case publishJournalSynced = "publish-journal-synced"
    /// A folder that a template has is made; no output is in it.
    case outputFolderMade = "output-folder-made"
    case publishOutputMoved = "publish-output-moved"
    /// All outputs of a group are in the outbox.
    case publishOutputsMoved = "publish-outputs-moved"

    // The delivery of an output into another folder.
    /// A copy is there under its hidden name; nothing is promised yet.
    case deliveryCopied = "delivery-copied"
    /// The journal has the name that the copy gets.
    case deliveryPromised = "delivery-promised"
    case deliveryPlaced = "delivery-placed"
    case deliverySynced = "delivery-synced"

    // The move of an original from a hot folder into another folder.
    /// A copy is there under its hidden name, because the folder is on another file system; nothing is promised yet.
    case placeCopied = "place-copied"
    /// The journal has the name that the original, or its copy, gets.
    case placePromised = "place-promised"
    case placeRenamed = "place-renamed"
    case placeSynced = "place-synced"

    // The page of a batch.
    /// The page is complete, but not in the outbox yet.
    case pageMade = "page-made"
    /// An earlier page was taken out of the outbox.
    case pageWithdrawn = "page-withdrawn"
    case pageMoved = "page-moved"

    // A status file, including the last one of a batch.
    case statusWritten = "status-written"
    case statusMoved = "status-moved"
    case finalStatusWritten = "final-status-written"
    /// The content of the last status and the outputs in the outbox are on the disk.
    case finalStatusStaged = "final-status-staged"
    /// `sizes.json` is in the answer; its last status is not.
    case sizesMoved = "sizes-moved"
    case finalStatusMoved = "final-status-moved"
    case finalStatusSynced = "final-status-synced"
    /// One file of `active/ID`, or of a withdrawn receipt, is removed.
    case treeEntryRemoved = "tree-entry-removed"
    /// The copy of the answer is in the place of a submitted folder's manifest that may have secrets.
    case originalsManifestReplaced = "originals-manifest-replaced"
    /// The pictures of a submitted folder are in its answer.
    case originalsMoved = "originals-moved"
    case originalsSynced = "originals-synced"
    case activeRemoved = "active-removed"

    // Control files.
    /// The journal has what a control file asked for, which is still there.
    case controlRecorded = "control-recorded"
    /// The control file was moved out of the inbox, to be removed.
    case controlMoved = "control-moved"
    case controlConsumed = "control-consumed"
    /// A finished batch is being reopened; everything that it needs is in `active/.retry-ID`.
    case retryBuilt = "retry-built"
    case retryMoved = "retry-moved"
    /// An answer is removed from the outbox, and the control file that asked for it is still there.
    case removeSynced = "remove-synced"
    /// The exact manifest of an answer is removed, and the answer is still in the outbox.
    case exactManifestRemoved = "exact-manifest-removed"
    /// A finished batch was moved out of the outbox, but not removed it yet.
    case expiredMoved = "expired-moved"
    case expiredFileRemoved = "expired-file-removed"
    case pauseMarked = "pause-marked"
    case pauseSynced = "pause-synced"
    case pauseUnmarked = "pause-unmarked"

    // A hot folder.
    /// The pictures of a batch are copied.
    case hotCopied = "hot-copied"
    /// The copies have the name of their batch.
    case hotMade = "hot-made"
    case hotRecordWritten = "hot-record-written"
    /// The pictures are taken.
    case hotRecorded = "hot-recorded"
    case hotLedgerWritten = "hot-ledger-written"
    case hotSubmitted = "hot-submitted"
    /// An original is copied, but not yet in the answer.
    case hotOriginalCopied = "hot-original-copied"
    case hotOriginalAnswered = "hot-original-answered"
    /// An original has a hidden name, to be removed.
    case hotOriginalHidden = "hot-original-hidden"
    case hotOriginalRemoved = "hot-original-removed"
    case hotForgotten = "hot-forgotten"

    /// An output was copied from the store of results.
    case resultCopied = "result-copied"

    // A response that is being added to the cache, or an output that is added to the store of results.
    case cacheHeadWritten = "cache-head-written"
    case cacheWritten = "cache-written"
    case cacheMoved = "cache-moved"

    // Steps of the start itself.
    case recoveryReceiptWithdrawn = "recovery-receipt-withdrawn"
    case recoveryEmptyRemoved = "recovery-empty-removed"
    case recoveryJournalMended = "recovery-journal-mended"
    case recoveryOutputMoved = "recovery-output-moved"
    case recoveryScrapRemoved = "recovery-scrap-removed"
    case recoveryFinished = "recovery-finished"
    case recoveryControlReturned = "recovery-control-returned"
    case recoveryRetryRemoved = "recovery-retry-removed"
    /// The journal has the cause of the previous process's crash, and `attempts` still has it too.
    case recoveryCrashJournaled = "recovery-crash-journaled"

    // Notifications of ended batches.
    /// A new cursor file is complete, but still has its temporary name.
    case notifyCursorWritten = "notify-cursor-written"
    case notifyCursorMoved = "notify-cursor-moved"
    /// The cursor has the end of a batch; nobody has been told yet.
    case notifyFound = "notify-found"
    /// The program has started, or the request is about to be sent.
    case notifyBegan = "notify-began"
    /// The call has ended; the cursor does not have its result yet.
    case notifyEnded = "notify-ended"
    /// Half of the result is in the cursor.
    case notifyTorn = "notify-torn"
    case notifyRecorded = "notify-recorded"

    package static let variable = "DARKROOM_FAULT"

    /// What must be in use so that a process passes a point.
    package enum Need {
        /// `darkroom run` or `darkroom merge`.
        case run
        /// `darkroom watch --finished`.
        case notification
        /// Downloads from a network, or a store of results.
        case cache
        case results
        case hotFolder
        /// A hot folder whose outputs are delivered.
        case delivery
        /// A hot folder whose originals move into another folder.
        case place
        case codec
    }

    /// nil if every daemon passes it.
    package var need: Need? {
        switch rawValue.prefix(while: { $0 != "-" }) {
        case "plan", "revision", "former", "merge": .run
        case "notify": .notification
        case "cache": .cache
        case "result": .results
        case "hot": .hotFolder
        case "delivery": .delivery
        case "place": .place
        case "codec": .codec
        default: nil
        }
    }

    /// Ends the process here if that was requested.
    @inline(__always)
    package func pass(_ place: StaticString = #fileID) {
        if let armed = Self.armed, armed.isDue(at: self, place) { Self.end() }
    }

    /// Ends the process here if that was requested, after it has completed `last`.
    @inline(__always)
    package func pass(_ place: StaticString = #fileID, after last: () -> Void) {
        guard let armed = Self.armed, armed.isDue(at: self, place) else { return }
        last()
        Self.end()
    }

    /// Ends the process at once: no handler and no other thread runs any more.
    private static func end() -> Never {
        kill(getpid(), SIGKILL)
        while true { pause() }
    }

    // MARK: What was requested

    private static let armed: ArmedFault? = getenv(variable).flatMap {
        ArmedFault(String(cString: $0))
    }

    /// The problem of a value of the variable; nil if it names a point or, with a `=`, one of the faults of pictures.
    package static func problem(with text: String) -> String? {
        if text.contains("=") || ArmedFault(text) != nil { return nil }
        let names = allCases.map(\.rawValue).joined(separator: ", ")
        return
            "\"\(text)\" is not a fault point; the fault points (with :N for the Nth pass) are \(names)"
    }
}

/// A fault point, and how often it must still be passed.
final class ArmedFault: Sendable {
    /// nil to print all points.
    let point: FaultPoint?
    private let left: Atomic<Int>

    /// Reads `NAME`, `NAME:N` or `trace`.
    init?(_ text: String) {
        if text == "trace" {
            point = nil
            left = Atomic(0)
            return
        }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let point = FaultPoint(rawValue: String(parts[0])),
            let number = parts.count == 1 ? 1 : Int(parts[1]), number > 0
        else { return nil }
        self.point = point
        left = Atomic(number)
    }

    /// Whether the requested pass is this one.
    func isDue(at passed: FaultPoint, _ place: StaticString = #fileID) -> Bool {
        guard let point else {
            let module = place.description.prefix { $0 != "/" }
            _ = StandardStream.write(
                Array("\(passed.rawValue) \(module)\n".utf8), to: STDERR_FILENO)
            return false
        }
        return passed == point && left.subtract(1, ordering: .relaxed).newValue == 0
    }
}
