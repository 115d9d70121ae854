import DarkroomCore

extension FaultPoint {
    /// Whether only daemons pass it that keep the pictures of submitted folders.
    var needsOriginals: Bool {
        [.originalsManifestReplaced, .originalsMoved, .originalsSynced].contains(self)
    }

    var needsSecrets: Bool {
        [.exactFolderMade, .exactManifestWritten, .exactManifestSynced].contains(self)
    }

    /// The point at which a previous daemon must have died, so that the next one reaches this one.
    var needsDeath: FaultPoint? {
        switch self {
        case .recoveryReceiptWithdrawn: .receiptStatusWritten
        case .recoveryEmptyRemoved: .claimFolderMade
        case .recoveryJournalMended: .publishJournalTorn
        case .recoveryOutputMoved: .publishJournalSynced
        case .recoveryScrapRemoved: .filterWritten
        case .recoveryFinished: .finalStatusSynced
        case .recoveryControlReturned: .controlMoved
        case .recoveryRetryRemoved: .retryBuilt
        case .recoveryCrashJournaled: .filterBegan
        default: nil
        }
    }

    /// Whether each picture or manifest passes it.
    var comesOften: Bool {
        switch self {
        case .pauseMarked, .pauseSynced, .pauseUnmarked, .receiptManifestMoved,
            .submittedGivenBack, .controlRecorded, .controlMoved, .controlConsumed, .retryBuilt,
            .retryMoved, .removeSynced, .pageMade, .pageWithdrawn, .pageMoved, .exactFolderMade,
            .exactManifestWritten, .exactManifestSynced, .exactManifestRemoved,
            .originalsManifestReplaced:
            false
        default: needsDeath == nil
        }
    }
}
