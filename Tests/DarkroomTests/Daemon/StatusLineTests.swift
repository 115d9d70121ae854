import Testing

@testable import DarkroomAnswer
@testable import DarkroomBoard
@testable import DarkroomDaemon
@testable import DarkroomWork

/// The line that `systemctl status` shows.
struct StatusLineTests {
    private static func summary(
        inWork: Int = 0, waiting: Int = 0, held: Int = 0, ended: Int = 0, done: Int = 0,
        images: Int = 0, retrying: Int = 0
    ) -> Board.Summary {
        var summary = Board.Summary()
        (summary.batchesInWork, summary.batchesWaiting) = (inWork, waiting)
        (summary.batchesHeld, summary.batchesEnded) = (held, ended)
        summary.images = Status.Counts(new: images)
        summary.images.filtered = done
        summary.retrying = retrying
        return summary
    }

    private static let full = StorageGuard.Report(
        code: "disk-full", message: "write /s: No space left on device", since: "",
        secondsBetweenAttempts: 4)
    private static let lost = StorageGuard.Report(
        code: "io-error", message: "sync /s: Input/output error", since: "",
        secondsBetweenAttempts: nil)

    private static func still(_ seconds: Double) -> StillWork {
        StillWork(work: WatchedWork("the picture 7 of trip"), patience: .steps, seconds: seconds)
    }

    private static func backlog(_ counts: [InboxReason: Int]) -> InboxBacklog {
        var report = InboxReport(written: "")
        for (reason, count) in counts { report.counts[reason.rawValue] = count }
        return InboxBacklog(report)
    }

    private static let lines: [(StatusLine, String)] = [
        (StatusLine(), "Idle; 0 batches finished since the start"),
        (
            StatusLine(summary: summary(held: 2, ended: 1)),
            "Idle; 1 batch finished since the start; 2 held"
        ),
        (
            StatusLine(recovery: (left: 180, total: 300)),
            "Resuming: 120 of 300 unfinished batches read"
        ),
        (
            StatusLine(summary: summary(inWork: 3, waiting: 2, done: 41, images: 120), running: 4),
            "Processing 3 batches, 41 of 120 images; 2 waiting"
        ),
        (
            StatusLine(
                summary: summary(inWork: 1, images: 1, retrying: 5), hostsPaused: 1,
                recovery: (left: 1, total: 1)),
            "Processing 1 batch, 0 of 1 image; Resuming: 0 of 1 unfinished batch read; "
                + "5 downloads to be retried; 1 host paused"
        ),
        (
            StatusLine(summary: summary(inWork: 1, images: 9), still: still(14)),
            "Processing 1 batch, 0 of 9 images"
        ),
        (
            StatusLine(summary: summary(inWork: 1, images: 9), still: still(45.9)),
            "Processing 1 batch, 0 of 9 images; the picture 7 of trip has made no progress for 45 s"
        ),
        (
            StatusLine(
                summary: summary(inWork: 1, waiting: 1, held: 1), isPaused: true, running: 1),
            "Paused: 2 batches waiting, 1 image still finishing; 1 held"
        ),
        (
            StatusLine(summary: summary(inWork: 2), storage: full),
            "Waiting: write /s: No space left on device; next attempt in 4 s; 2 batches unfinished"
        ),
        (
            StatusLine(summary: summary(held: 1), isPaused: true, storage: lost),
            "Paused, and waiting: sync /s: Input/output error; "
                + "next attempt after darkroom resume or a restart; 1 batch unfinished"
        ),
        (
            StatusLine(
                summary: summary(inWork: 1, waiting: 3), isStopping: true, running: 2,
                publishing: 1, storage: full),
            "Stopping: 2 operations finishing, 1 image to be published; "
                + "4 unfinished batches for the next start"
        ),
        (
            StatusLine(isStopping: true, running: 1), "Stopping: 1 operation finishing"
        ),
        (
            StatusLine(inbox: backlog([.unreadable: 1])),
            "Idle; 0 batches finished since the start; "
                + "1 file in the inbox cannot be taken (1 unreadable)"
        ),
        (
            StatusLine(
                inbox: backlog([
                    .picture: 3, .unreadable: 2, .notAFile: 1, .hasActed: 1, .ignoredName: 9,
                    .settling: 9, .beingWritten: 9, .queued: 9, .disk: 9, .overLimit: 4,
                ])),
            "Idle; 0 batches finished since the start; 7 files in the inbox cannot be taken "
                + "(2 unreadable, 1 not-a-file, 3 picture, 1 has-acted); "
                + "4 manifests in the inbox over batches.maxWaiting"
        ),
        (
            StatusLine(isStopping: true, running: 1, inbox: backlog([.unreadable: 1])),
            "Stopping: 1 operation finishing"
        ),
        (
            StatusLine(isReloadRefused: true),
            "Idle; 0 batches finished since the start; "
                + "the changed configuration was refused, the old one is in use"
        ),
    ]

    @Test(arguments: lines.indices)
    func says(index: Int) {
        #expect(Self.lines[index].0.text == Self.lines[index].1)
    }
}
