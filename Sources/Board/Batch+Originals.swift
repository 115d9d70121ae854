import DarkroomAnswer
import DarkroomCore

/// The originals of a hot folder's pictures between the end of the last image and the last status of a batch.
///
/// | phase     | until                                | a command                                            |
/// |-----------|--------------------------------------|------------------------------------------------------|
/// | untouched | all images have ended                | acts                                                 |
/// | moving    | each has moved, or stays             | a cancellation lets those stay that wait; a hold has |
/// |           |                                      | no effect, because nothing is left to be held        |
/// | done      | the last status is written           | the batch is ending                                  |
package enum OriginalsPhase: Sendable {
    case untouched
    case moving
    case done
}

extension Batch {
    /// Has the originals moved if the batch may have some.
    ///
    /// - Returns: whether its end waits for them.
    mutating func moveOriginals(_ pool: inout Pool) -> Bool {
        guard isFolder, originals == .untouched else { return originals == .moving }
        originals = .moving
        pool.request(.moveOriginals(key, id: id))
        return true
    }

    /// The originals are where they belong, or stay.
    ///
    /// - Parameter outcomes: by the sources of the pictures.
    package mutating func originalsMoved(
        _ outcomes: [ByteString: OriginalOutcome], _ pool: inout Pool
    ) {
        guard originals == .moving else { return }
        originals = .done
        var outcomes = outcomes
        for index in status.images.indices where !outcomes.isEmpty {
            var image = status.images[index]
            guard let source = image.source.map({ ByteString($0) }),
                let outcome = outcomes[source]
            else { continue }
            switch outcome {
            case .moved(let path): image.originalAt = RareText(path)
            case .isLost(let path):
                image.originalAt = RareText(path)
                outcomes[source] = .moved(to: path)
                // Once for all variants of the picture.
                image.warnings =
                    (image.warnings ?? []) + [
                        "darkroomd was interrupted while it moved its original to \(path), and now no file has the name and "
                            + "its content; somebody has taken or changed it"
                    ]
            case .isAnother: continue
            case .stays(let reason):
                // Once for all variants of the picture.
                outcomes[source] = nil
                image.warnings = (image.warnings ?? []) + ["its original stays: \(reason)"]
            }
            replace(index, with: image)
        }
        finishIfEnded(&pool)
    }
}
