import Logging

/// What all records of a kind have in common.
///
/// | level      | meaning                                                | examples                                        |
/// |------------|--------------------------------------------------------|-------------------------------------------------|
/// | `critical` | the spool is blocked or may have lost data             | a full disk, a failed sync, a lost spool        |
/// | `error`    | the daemon failed to do something                      | a refused reload, a failed start                |
/// | `warning`  | a user does not get what they asked for, or soon may not | a failed image, a rejected manifest           |
/// | `notice`   | the state of the daemon changed, or a user changed it  | a stop, a hold, a finished batch                |
/// | `info`     | the progress of a manifest                             | claimed, begun, a retried download              |
/// | `debug`    | normal events of single images                         | a downloaded source, a filtered image           |
///
/// An image without problems is logged only at `debug`, so that the journal does not grow with the work.
package struct EventForm: Sendable {
    package let level: Logger.Level
    /// The level of records that report a worse result.
    package let worse: Logger.Level?
    /// The fields of all records of this kind, and those of some.
    package let always: [EventField]
    package let sometimes: [EventField]
    /// For a kind of which many records may come at once: what a summary calls them, and the field by which it counts
    /// them.
    let many: String?
    let countedBy: EventField?

    fileprivate init(
        _ level: Logger.Level, or worse: Logger.Level? = nil, _ always: [EventField] = [],
        sometimes: [EventField] = [], many: String? = nil, by countedBy: EventField? = nil
    ) {
        self.level = level
        self.worse = worse
        self.always = always
        self.sometimes = sometimes
        self.many = many
        self.countedBy = countedBy
    }
}

extension Event {
    /// The name of the kind in a summary: `batchClaimed`.
    package var name: String { "\(self)" }

    /// One row for each kind. A test compares the table with the records that are sent and with the catalog.
    package var form: EventForm {
        switch self {
        case .started, .stopped, .configured: EventForm(.notice)
        case .stopping, .paused, .resumed: EventForm(.notice, sometimes: [.batch])
        case .stopHurried: EventForm(.notice, [.count])
        case .stopTimedOut: EventForm(.warning, [.count])
        case .notStarted: EventForm(.error, [.error])
        case .reloadRefused: EventForm(.error)
        case .rootMissing, .headersExposed: EventForm(.warning, [.file])
        // A summary has the level of its records.
        case .summedUp: EventForm(.info, [.event, .count], sometimes: [.batch, .failed])
        case .said: EventForm(.info, or: .warning)

        case .watching: EventForm(.info)
        case .polling: EventForm(.warning, [.error])
        case .inboxLost, .eventsLost: EventForm(.warning)
        case .notTaken: EventForm(.notice, sometimes: [.file, .count])

        case .folderLost: EventForm(.warning, [.file])
        case .picturesTaken:
            EventForm(.info, [.batch, .file, .count], many: "batches of hot folders")
        case .originalsKept:
            EventForm(.notice, [.batch, .file], many: "batches whose originals stay")
        case .originalsRefused:
            EventForm(
                .warning, [.batch, .error], many: "batches whose pictures are not kept", by: .error)

        case .batchClaimed:
            EventForm(
                .info, [.batch, .state, .file, .bytes, .count], sometimes: [.user, .microseconds],
                many: "manifests claimed")
        case .batchRejected:
            EventForm(
                .warning, [.batch, .state, .error, .file, .bytes], sometimes: [.user],
                many: "manifests rejected", by: .error)
        case .batchResumed:
            EventForm(.info, [.batch, .state, .count], many: "manifests resumed")
        case .batchBegun: EventForm(.info, [.batch, .state, .count], many: "manifests begun")
        case .batchProgressed:
            EventForm(
                .info, [.batch, .state, .count, .failed], many: "progress records of manifests"
            )
        case .batchFinished:
            EventForm(
                .notice, or: .warning,
                [.batch, .state, .microseconds, .count, .failed, .warnings],
                many: "manifests finished", by: .state)
        case .batchRemoved:
            EventForm(
                .warning, [.batch, .state, .error], many: "manifests whose folder was removed")

        case .pageFailed:
            EventForm(.warning, [.batch, .error], many: "batches without their pages", by: .error)

        case .manifestGivenBack:
            EventForm(.notice, [.batch, .file], many: "manifests moved back to tmp/")

        case .batchCancelled: EventForm(.notice, [.batch, .user], many: "manifests cancelled")
        case .batchHeld: EventForm(.notice, [.batch, .user], many: "manifests held")
        case .batchReleased: EventForm(.notice, [.batch, .user], many: "manifests released")
        case .batchReopened:
            EventForm(
                .notice, [.batch, .user], sometimes: [.state, .count],
                many: "manifests reopened")
        case .answerRemoved: EventForm(.notice, [.batch, .user], many: "answers removed")
        case .controlIdle:
            EventForm(.notice, [.batch, .user, .file], many: "control files without effect")
        case .controlRefused:
            EventForm(.warning, [.batch, .user, .file], many: "control files refused")

        case .imageDownloaded:
            EventForm(
                .debug, [.batch, .image, .step, .bytes, .microseconds],
                sometimes: [.host, .attempt])
        case .imageFiltered:
            EventForm(
                .debug, [.batch, .image, .step, .state, .bytes, .microseconds],
                sometimes: [.attempt])
        case .imageFailed:
            EventForm(
                .warning, [.batch, .image, .step, .state, .error, .microseconds],
                sometimes: [.host, .attempt], many: "images failed", by: .error)
        case .failuresCounted:
            EventForm(.warning, [.batch], many: "manifests with many failed images")
        case .imageCancelled:
            EventForm(
                .debug, [.batch, .image, .step, .state, .error, .microseconds],
                sometimes: [.host, .attempt])
        case .imageWaits: EventForm(.debug, [.batch, .image, .step, .bytes])
        case .imageSuspected:
            EventForm(
                .warning, [.batch, .image, .step, .error],
                many: "images that may have crashed darkroomd", by: .error)
        case .workStuck: EventForm(.error, sometimes: [.batch, .image])
        case .downloadRetried:
            EventForm(
                .info, [.batch, .image, .step, .error, .attempt], sometimes: [.host],
                many: "downloads to be retried", by: .error)
        case .hostPaused:
            EventForm(
                .notice, [.batch, .error, .host, .microseconds], many: "pauses of hosts", by: .error
            )

        case .deliveryWaits: EventForm(.warning, [.error, .file], many: "folders refused")
        case .deliveryWorksAgain: EventForm(.notice, [.error, .file], many: "folders back")

        case .storageFailed:
            EventForm(.error, [.error], sometimes: [.batch], many: "failures", by: .error)
        case .storageWaits, .storageLost: EventForm(.critical, [.error], sometimes: [.batch])
        case .storageStillWaits: EventForm(.warning, [.error])
        case .storageWorksAgain: EventForm(.notice, [.error])
        case .spoolLost: EventForm(.critical, [.error])

        case .entryExpired: EventForm(.info, [.batch, .bytes], many: "finished batches removed")
        case .entriesExpired: EventForm(.notice, [.bytes, .count])
        case .entryKept: EventForm(.notice, [.batch], many: "finished batches kept")
        case .orphanFound: EventForm(.warning, [.file], many: "unknown entries in active/")
        case .orphanRemoved:
            EventForm(.notice, [.count], many: "entries in active/ or tmp/ removed")
        case .uploadsStale, .uploadsRemoved: EventForm(.notice, [.bytes, .count])
        case .clockDoubted: EventForm(.notice, or: .warning)
        case .metricsFailed, .reportFailed: EventForm(.warning, [.error])

        case .cacheOpened: EventForm(.info, [.bytes])
        case .cacheUnused: EventForm(.debug, or: .notice)
        case .cacheDiscarded: EventForm(.notice, many: "cached responses discarded")
        case .cacheTroubled:
            EventForm(.warning, [.error], many: "cache problems", by: .error)
        case .cacheEvicted:
            EventForm(.info, [.bytes, .count], many: "cache evictions")
        case .cacheDecided: EventForm(.debug, [.batch, .image, .step])
        }
    }
}
