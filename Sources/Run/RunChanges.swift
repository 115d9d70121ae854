import DarkroomCore
import DarkroomSpool

/// Why a run makes an image, or makes it again.
package enum MakeReason: String, Sendable, CaseIterable {
    /// No former run had it.
    case new
    /// It had not ended.
    case unfinished
    case settings = "settings-changed"
    case versions = "version-changed"
    case source = "source-changed"
    /// Its server says nothing with which its content could be compared, so it is fetched.
    case unsure = "source-unknown"
    /// An image that it is made from, or that is laid over it, is made again.
    case needed = "needed-changed"
    case output = "output-missing"
    case retry
    /// It has failed because of a limit of the configuration, which is another one now.
    case limits = "limits-changed"
    /// Its source is gone, and `--prune` was given: it fails, and has no output any more.
    case gone = "source-gone"

    /// For people.
    package var words: String {
        switch self {
        case .new: "new"
        case .unfinished: "not finished"
        case .settings: "filters or options changed"
        case .versions: "version changed"
        case .source: "source changed"
        case .unsure: "source must be fetched to compare it"
        case .needed: "made from a changed image"
        case .output: "output missing"
        case .retry: "failed before"
        case .limits: "limits changed"
        case .gone: "source gone"
        }
    }
}

/// Why the result of an image stands although nothing tells that it is what a run would make now.
package enum StandReason: String, Sendable, CaseIterable {
    case gone = "source-gone"
    /// Its source cannot be read, or the folder of the source is not there.
    case unreadable = "source-unreadable"
    /// The server does not say whether its source has changed.
    case unasked = "source-unasked"
    /// The pixels of an image that it is made from, or that is laid over it, cannot be made any more.
    case needed = "needed-stands"

    /// For people.
    package var words: String {
        switch self {
        case .gone: "source gone"
        case .unreadable: "source cannot be read"
        case .unasked: "server did not say whether it has changed"
        case .needed: "made from an image whose source is gone or cannot be read"
        }
    }
}

/// What a run does with an image of its manifest.
package enum ImageVerdict: Sendable, Equatable {
    case stands
    /// Its result stands, although nobody can make it again now.
    case standsAlone(StandReason)
    case made(MakeReason)

    /// Whether the source of a filtered image was there when it was looked for.
    var hasFoundSource: Bool {
        switch self {
        case .stands: true
        case .standsAlone: false
        case .made(let reason): reason != .gone
        }
    }
}

/// What has changed since the former run in a folder.
package struct RunChanges: Sendable, Equatable {
    package var reasons: [MakeReason: Int] = [:]
    /// How many stand.
    package var kept = 0
    /// How many of those have failed.
    package var failed = 0
    /// How many of them have the result of former filters or options, because their sources cannot be had.
    package var outdated = 0
    /// The images that nobody can make again now, and whose results stand.
    package var alone: [StandReason: [String]] = [:]
    /// Whether `--prune` removes nothing of images whose sources are gone, because all sources are gone at once.
    package var keepsAll = false
    package var stale: [String] = []
    /// The files of former outputs whose images are gone because a file system is not mounted.
    package var away: [String] = []
    /// The files of outputs that no image has any more.
    package var gone: [String] = []
    /// How many of them were removed.
    package var removed = 0

    package var made: Int { reasons.values.reduce(0, +) }

    /// An image that was to be made for this reason has the source that it had.
    mutating func stood(after reason: MakeReason) {
        guard let count = reasons[reason] else { return }
        reasons[reason] = count > 1 ? count - 1 : nil
        kept += 1
    }

    /// For programs.
    package var reasonCounts: [String: Int] {
        Dictionary(uniqueKeysWithValues: reasons.map { ($0.key.rawValue, $0.value) })
    }
}
