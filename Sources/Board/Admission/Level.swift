import DarkroomManifest

/// The rank of a batch: by priority, and within one priority by quality of service.
///
/// Higher levels are served first. On Linux, OperationQueue sorts by priority only and ignores an operation's quality
/// of service. Therefore the places are given out by level.
struct Level: Equatable {
    static let count = 25
    /// From the lowest.
    static let all = (0..<count).map(Level.init(index:))

    /// 0 for the lowest.
    let index: Int

    /// The levels of the same priority with a higher quality of service.
    var above: Range<Int> { (index + 1)..<(index / 5 + 1) * 5 }
}

extension Level {
    init(_ priority: Priority, _ quality: QualityOfServiceName) {
        self.init(index: priority.rank * 5 + quality.rank)
    }
}
