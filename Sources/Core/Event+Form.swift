import Logging

/// What all records of a kind have in common.
///
/// | level      | means                                             | for instance                                   |
/// |------------|---------------------------------------------------|------------------------------------------------|
/// | `critical` | the spool stands still, or may have lost something | a full disk, a sync that failed, a lost spool  |
/// | `error`    | something was not done that should have been       | a refused reload, a start that failed          |
/// | `warning`  | someone does not get what they asked for, or soon may not | a failed image, a rejected manifest     |
/// | `notice`   | the daemon's state has changed, or someone has changed something | a stop, a hold, a finished manifest |
/// | `info`     | how a manifest gets on                             | claimed, begun, a download retried             |
/// | `debug`    | what is as it should be, image by image            | a source fetched, an image filtered            |
///
/// Nothing above `debug` is said of an image that goes well, so that the journal does not grow with the work.
package struct EventForm: Sendable {
    package let level: Logger.Level
    /// Of records that say that it went less well.
    package let worse: Logger.Level?
    /// The fields that each of its records has, and those that only some have.
    package let always: [EventField]
    package let sometimes: [EventField]
    /// Of a kind that may come in bursts: what a number of them is called, and the field they are counted by.
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
    /// The name by which a summary calls it: `batchClaimed`.
    package var name: String { "\(self)" }

    /// One line for each kind; a test holds the table against what is said and against the catalog.
    package var form: EventForm {
        switch self {
        case .started, .stopped, .configured: EventForm(.notice)
        case .stopping, .paused, .resumed: EventForm(.notice, sometimes: [.batch])
        case .stopHurried: EventForm(.notice, [.count])
        case .stopTimedOut: EventForm(.warning, [.count])
        case .notStarted: EventForm(.error, [.error])
        case .reloadRefused: EventForm(.error)
        case .rootMissing, .headersExposed: EventForm(.warning, [.file])
        // At the level of those that it sums up.
        case .summedUp: EventForm(.info, [.event, .count], sometimes: [.batch, .failed])
        case .said: EventForm(.info, or: .warning)

        case .watching: EventForm(.info)
        case .polling: EventForm(.warning, [.error])
        case .inboxLost, .eventsLost: EventForm(.warning)
        case .notTaken: EventForm(.notice, sometimes: [.file, .count])

        case .batchClaimed:
            EventForm(
                .info, [.batch, .state, .file, .bytes, .count], sometimes: [.user, .microseconds],
                many: "manifests claimed")
        case .batchRejected:
            EventForm(
                .warning, [.batch, .state, .error, .file, .bytes], sometimes: [.user],
                many: "manifests rejected", by: .error)
        case .batchResumed:
            EventForm(
                .info, [.batch, .state, .count],
                many: "manifests resumed")
        case .batchBegun: EventForm(.info, [.batch, .state, .count], many: "manifests begun")
        case .batchProgressed:
            EventForm(
                .info, [.batch, .state, .count, .failed], many: "progress records of manifests"
            )
        case .batchFinished:
            EventForm(
                .notice, or: .warning, [.batch, .state, .microseconds, .count, .failed],
                many: "manifests finished", by: .state)
        case .batchRemoved:
            EventForm(
                .warning, [.batch, .state, .error], many: "manifests whose folder was removed")

        case .manifestGivenBack:
            EventForm(.notice, [.batch, .file], many: "manifests moved back to tmp/")

        case .batchCancelled: EventForm(.notice, [.batch, .user], many: "manifests cancelled")
        case .batchHeld: EventForm(.notice, [.batch, .user], many: "manifests held")
        case .batchReleased: EventForm(.notice, [.batch, .user], many: "manifests released")
        case .batchReopened:
            EventForm(
                .notice, [.batch, .user], sometimes: [.state, .count],
                many: "manifests reopened")
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
        case .orphanRemoved: EventForm(.notice, [.count], many: "entries in active/ removed")
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
