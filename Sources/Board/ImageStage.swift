/// The stage of an image of a batch in work. `Batch.move(_:to:_:)` is the only function that changes it.
///
/// | stage            | users see         | its source       | its work           | waits for                   | left by                |
/// |------------------|-------------------|------------------|--------------------|-----------------------------|------------------------|
/// | `new`            | `new`             | any              | –                  | its blockers, then a place  | `admit`, `takeAlong`   |
/// | `waits(.queue)`  | `new` (*)         | `queued`         | storage, queued    | the downloads queue         | `downloadBegan`        |
/// | `waits(.turn)`   | `new` (*)         | `queued`         | flight, turn       | another download, its turn  | `downloadBegan`        |
/// |                  | `downloading`     | `retrying`       | –                  | its next attempt            | `retryDue`             |
/// | `downloading`    | `downloading`     | `running`        | running            | the transfer                | `downloadEnded`        |
/// | `waits(.filter)` | `downloaded` (**) | `ready`, or none | any, or none (***) | the filters queue, memory   | `filterBegan`          |
/// | `filtering`      | `filtering`       | `ready`, or none | running (***)      | its own or another's filter | `filterEnded`          |
/// | `delivering`     | `filtering`       | `ready`, or none | –                  | the folder of its delivery  | `deliveryEnded`        |
/// | `recording`      | as before         | `ready`, failed  | –                  | the committer               | `imageEnded`           |
/// | `ended`          | its result        | any              | –                  | –                           | –                      |
///
/// "Its work" is the place of the download or the filter in the `Admission`. What is deferred goes back to the stage
/// before it: by `downloadDeferred`, `filterDeferred`, `filterPostponed` or `sourceGivenBack`.
///
/// A hold takes images in a stage `waits` back to `new`. A cancellation ends them, and new ones, at once.
///
/// (\*) `downloading` after the first attempt for its source. (\*\*) `new` if it is made from another image.
/// (\*\*\*) It has no operation of its own while it waits for memory, and while another variant takes it along.
///
/// While an image is in the stage `waits(.turn)` or `delivering`, it uses none of the places of the batch and the level.
package enum ImageStage: Hashable, Sendable, CaseIterable {
    /// What an admitted image waits for before a step.
    package enum Wait: Hashable, Sendable, CaseIterable { case queue, turn, filter }

    case new
    case waits(Wait)
    case downloading
    case filtering
    case delivering
    case recording
    case ended

    package static let allCases: [ImageStage] =
        [.new] + Wait.allCases.map(waits)
        + [.downloading, .filtering, .delivering, .recording, .ended]

    var isAdmitted: Bool { self != .new && self != .ended }

    var isWaiting: Bool {
        if case .waits = self { true } else { false }
    }

    /// Whether the image uses a place of its level: it is admitted, and does not wait outside the queues.
    var hasPlace: Bool { isAdmitted && self != .waits(.turn) && self != .delivering }

    /// Whether the image uses a place of its batch: it also does not only wait for the committer.
    var isWorking: Bool { hasPlace && self != .recording }

    func leads(to next: ImageStage) -> Bool {
        switch (self, next) {
        // A shared source may be in any phase. A failure of others, or a cancellation, needs no place.
        case (.new, .waits), (.new, .downloading), (.new, .recording), (.new, .ended): true
        // It was filtered under a previous daemon.
        case (.new, .delivering): true
        // The source may be given back, have another attempt, be held, or fail with another download.
        case (.waits(.queue), .waits(.turn)), (.waits(.turn), .waits(.queue)): true
        case (.waits(.queue), .downloading), (.waits(.turn), .downloading): true
        case (.waits(.queue), .recording), (.waits(.turn), .recording): true
        case (.waits(.filter), .filtering): true
        case (.waits, .new), (.waits, .ended): true
        case (.downloading, .waits), (.downloading, .new), (.downloading, .recording): true
        // It is postponed, its source is given back, or the disk refuses its record.
        case (.filtering, .waits(.filter)), (.filtering, .waits(.queue)): true
        case (.filtering, .recording), (.recording, .waits(.filter)), (.recording, .ended): true
        case (.filtering, .delivering), (.delivering, .recording): true
        default: false
        }
    }
}
