import DarkroomAnswer
import DarkroomSpool

/// What `darkroom merge` has found and done. If a shard is missing or there is a fault, it has written no status.
package struct MergeReport: Sendable, Equatable {
    /// A shard that has not done all of its work.
    package struct Missing: Sendable, Equatable {
        package let shard: Int
        package let reason: Reason
        /// Whether a process works on it. Then it need not run again.
        package var isInWork = false

        package enum Reason: Sendable, Equatable {
            case notBegun
            /// Its status is not a final one.
            case unfinished(Status.Counts)
            /// Outputs that it has written are not there any more.
            case outputsGone(Int)
        }
    }

    /// What the same run of a shard does not repair.
    package struct Fault: Sendable, Equatable {
        package let shard: Int
        /// The image that it is about, if it is about one.
        package let image: String?
        package let message: String
    }

    /// Faults that are kept; a broken disk may have a million. The same holds for images.
    static let mostFaults = 1000

    package let id: String
    package let folder: String
    package let shards: Int
    /// The whole status without its images; nil if it was not written.
    package internal(set) var status: Status?
    package internal(set) var missing: [Missing] = []
    package internal(set) var faults: [Fault] = []
    /// The number of faults, also of those that are not kept.
    package internal(set) var faultCount = 0
    package internal(set) var failed: [Int] = []
    /// Images that were filtered according to the former whole status, and have failed since then. Their outputs of that
    /// time are gone or changed.
    package internal(set) var lost: [String] = []
    /// The number of these images, also of those that are not kept.
    package internal(set) var lostCount = 0
    /// The files of former outputs whose images fail now.
    package internal(set) var stale: [String] = []
    /// The files of former outputs whose images are gone because a file system is not mounted.
    package internal(set) var away: [String] = []
    /// The files of former outputs that no image has any more.
    package internal(set) var gone: [String] = []
    /// How many such files were removed.
    package internal(set) var removed = 0
    /// Whether none was removed because all sources are gone at once.
    package internal(set) var keepsAll = false
    /// The number of images that failed because another file is in the place of their output.
    package internal(set) var blockedCount = 0
    package internal(set) var blockingFiles: [String] = []
    /// The tasks of these shards: the first array's.
    private let array: RunPlan.TaskArray

    init(_ plan: RunPlan, _ shards: RunPlan.Shards, folder: String) {
        id = plan.id
        self.folder = folder
        self.shards = shards.count
        array = shards.array ?? RunPlan.TaskArray(first: 1, step: 1)
    }

    var isWhole: Bool { missing.isEmpty && faultCount == 0 }

    package var idle: [Int] { missing.filter { !$0.isInWork }.map(\.shard) }

    /// Their tasks, as `--array` takes them.
    package var idleTasks: String { array.list(idle) }

    package var failedTasks: String { array.list(failed) }

    mutating func add(_ message: String, of image: String? = nil, in shard: Int) {
        faultCount += 1
        guard faults.count < Self.mostFaults else { return }
        faults.append(Fault(shard: shard, image: image, message: message))
    }

    mutating func addBlocked(by file: String) {
        blockedCount += 1
        if blockingFiles.count < Self.mostFaults { blockingFiles.append(file) }
    }

    mutating func addLost(_ image: String) {
        lostCount += 1
        if lost.count < Self.mostFaults { lost.append(image) }
    }
}

extension MergeReport.Missing {
    /// For people.
    package var message: String {
        guard isInWork else { return reason.message }
        return reason == .notBegun ? "it is in work" : "it is in work; \(reason.message)"
    }
}

extension MergeReport.Missing.Reason {
    /// For people.
    package var message: String {
        switch self {
        case .notBegun: "it has not begun"
        case .unfinished(let counts):
            "\(counts.finished) of \(counts.total) images are done"
        case .outputsGone(let count):
            count == 1 ? "an output is missing" : "\(count) outputs are missing"
        }
    }
}
