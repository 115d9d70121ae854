/// The kinds of records in the journal. Each has a fixed ID. `journalctl MESSAGE_ID=…` finds it by this ID, and the
/// message catalog (`systemd/darkroomd.catalog`) explains it. The ID of a kind is never used for another kind.
package enum Event: String, Sendable, CaseIterable {
    // The daemon.
    case started = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e001"
    case stopping = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e002"
    case stopped = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e003"
    case configured = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e004"
    case reloadRefused = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e005"
    case paused = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e006"
    case resumed = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e007"
    case stopHurried = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e00c"
    case stopTimedOut = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e00d"
    case notStarted = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e00e"
    case rootMissing = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e00f"
    case headersExposed = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e070"
    case summedUp = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e0f0"
    case said = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e0ff"

    // The inbox.
    case watching = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e008"
    case inboxLost = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e009"
    case eventsLost = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e00a"
    case notTaken = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e00b"
    case polling = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e071"

    // Hot folders.
    case folderLost = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e080"
    case picturesTaken = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e081"
    case originalsKept = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e082"
    case originalsRefused = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e083"

    // Manifests.
    case batchClaimed = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e010"
    case batchRejected = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e011"
    case batchResumed = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e012"
    case batchFinished = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e013"
    case batchBegun = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e015"
    case batchProgressed = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e016"
    case batchRemoved = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e035"
    case pageFailed = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e017"
    case manifestGivenBack = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e01c"

    // Control files.
    case batchCancelled = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e014"
    case batchHeld = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e040"
    case batchReleased = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e041"
    case batchReopened = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e042"
    case answerRemoved = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e045"
    case controlIdle = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e043"
    case controlRefused = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e044"

    // Images.
    case imageDownloaded = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e020"
    case imageFiltered = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e021"
    case imageFailed = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e022"
    case failuresCounted = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e023"
    case imageCancelled = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e024"
    case imageWaits = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e025"
    case imageSuspected = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e050"
    case workStuck = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e051"
    case downloadRetried = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e074"
    case hostPaused = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e075"
    case deliveryWaits = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e076"
    case deliveryWorksAgain = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e077"

    // The spool's disk.
    case storageFailed = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e030"
    case storageWaits = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e031"
    case storageStillWaits = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e032"
    case storageWorksAgain = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e033"
    case storageLost = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e034"
    case spoolLost = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e036"

    // Housekeeping and reports.
    case entryExpired = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e060"
    case entriesExpired = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e061"
    case entryKept = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e062"
    case orphanFound = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e063"
    case orphanRemoved = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e068"
    case uploadsStale = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e064"
    case uploadsRemoved = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e065"
    case clockDoubted = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e069"
    case metricsFailed = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e066"
    case reportFailed = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e067"

    // The cache.
    case cacheOpened = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e078"
    case cacheUnused = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e079"
    case cacheDiscarded = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e07a"
    case cacheTroubled = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e07b"
    case cacheEvicted = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e07c"
    case cacheDecided = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e07d"
}

/// The fields of a record in addition to its message. Their names in the journal begin with DARKROOM_.
package enum EventField: String, Sendable, CaseIterable {
    /// The ID of a batch. A record about several batches has this field several times.
    case batch = "BATCH"
    /// The name of an image.
    case image = "IMAGE"
    /// The state of a batch or an image, as in the status.
    case state = "STATE"
    /// `wait`, `download` or `filter`.
    case step = "STEP"
    /// The code of a failure.
    case error = "ERROR"
    /// A duration, in microseconds.
    case microseconds = "USEC"
    case bytes = "BYTES"
    /// The name of a file in the inbox, or in `tmp` if it was moved back there.
    case file = "FILE"
    /// A server, `name:port`.
    case host = "HOST"
    /// The user ID of the owner of a manifest or a control file.
    case user = "USER"
    /// The number of the download attempt.
    case attempt = "ATTEMPT"
    /// The number of images, batches or other things that the message counts.
    case count = "COUNT"
    /// The number of failed images among them.
    case failed = "FAILED"
    /// The number of images with warnings among them.
    case warnings = "WARNINGS"
    /// In a summary: the name of the kind of the summarized records.
    case event = "EVENT"

    /// The name of the field in the journal.
    package var name: String { "DARKROOM_" + rawValue }
}
