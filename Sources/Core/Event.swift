/// The kinds of records in the journal. Each has a fixed id, by which `journalctl MESSAGE_ID=…` finds it and the
/// message catalog (`systemd/darkroomd.catalog`) explains it. An id is never given to another kind.
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

    // Manifests.
    case batchClaimed = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e010"
    case batchRejected = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e011"
    case batchResumed = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e012"
    case batchFinished = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e013"
    case batchBegun = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e015"
    case batchProgressed = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e016"
    case batchRemoved = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e035"
    case manifestGivenBack = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e01c"

    // Control files.
    case batchCancelled = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e014"
    case batchHeld = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e040"
    case batchReleased = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e041"
    case batchReopened = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e042"
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

    // The spool's disk.
    case storageFailed = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e030"
    case storageWaits = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e031"
    case storageStillWaits = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e032"
    case storageWorksAgain = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e033"
    case storageLost = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e034"
    case spoolLost = "7d6e6b1c0f5d4d0e9a3f2b8c51a0e036"

    // Keeping it tidy and visible.
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

/// What a record says besides its message; the journal has each as a field DARKROOM_….
package enum EventField: String, Sendable, CaseIterable {
    /// The ID of a batch. A record that concerns several has it several times.
    case batch = "BATCH"
    /// An image's name.
    case image = "IMAGE"
    /// A batch's or an image's state, as in the status.
    case state = "STATE"
    /// `wait`, `download` or `filter`.
    case step = "STEP"
    /// The code of a failure.
    case error = "ERROR"
    /// How long it took.
    case microseconds = "USEC"
    case bytes = "BYTES"
    /// A file's name in the inbox, or in `tmp` where it was put back there.
    case file = "FILE"
    /// A server, `name:port`.
    case host = "HOST"
    /// The number of the user who dropped a manifest or a control file.
    case user = "USER"
    /// How often the source has been asked for.
    case attempt = "ATTEMPT"
    /// How many images, or entries, or what else the message counts.
    case count = "COUNT"
    /// Of these, the images that have failed.
    case failed = "FAILED"
    /// Of a summary: the kind of the records that it stands for, by its name.
    case event = "EVENT"

    /// The field's name in the journal.
    package var name: String { "DARKROOM_" + rawValue }
}
