import DarkroomCore

/// Why a process died while it filtered a picture.
package enum CrashCause: Sendable, Hashable {
    /// The thread that worked on this picture crashed. `SIGSEGV` and the like.
    case signal(String)
    /// The picture took no step any more, and the service manager's watchdog ended the process.
    case watchdog
    /// The kernel killed the process, or one beside it, for want of memory, while this picture was the only one at
    /// work, or for the first time.
    case outOfMemory
    /// Anything else, someone's kill -9 or a crash elsewhere, which says nothing of the picture.
    case killed

    /// The signals that a crash is known by, see `darkroom_crash.h`.
    static let signals = ["SIGSEGV", "SIGBUS", "SIGILL", "SIGTRAP", "SIGFPE", "SIGABRT", "SIGSYS"]

    /// Whether it speaks against the picture.
    package var isEvidence: Bool { self != .killed }
}

extension CrashCause: RawRepresentable, Codable {
    /// As it stands in a journal.
    package var rawValue: String {
        switch self {
        case .signal(let name): name
        case .watchdog: "watchdog"
        case .outOfMemory: "out-of-memory"
        case .killed: "killed"
        }
    }

    package init?(rawValue: String) {
        switch rawValue {
        case "watchdog": self = .watchdog
        case "out-of-memory": self = .outOfMemory
        case "killed": self = .killed
        default:
            guard Self.signals.contains(rawValue) else { return nil }
            self = .signal(rawValue)
        }
    }
}

/// How often, and why, the process died while it filtered one picture.
///
/// Two times with evidence against the picture are enough: a signal and the watchdog mean this one picture, and
/// a want of memory counts the second time only where no other one was at work. Without evidence it takes five: whoever kills the daemon again and again, as tests do, convicts nobody that
/// way, but a picture that ends every process it meets in a manner that leaves no trace does not do so
/// for ever.
package struct Crashes: Sendable, Equatable {
    /// Each crash has a number, so that one that is recorded twice, as a crash between recording and
    /// forgetting leaves it, counts once.
    private var causes: [Int: CrashCause] = [:]

    static let enoughEvidence = 2
    package static let enoughKills = 5

    package init() {}

    package mutating func add(_ cause: CrashCause, number: Int) { causes[number] = cause }

    /// The number of the last one; 0 where there was none.
    package var last: Int { causes.keys.max() ?? 0 }

    /// In the order in which they happened.
    package var all: [CrashCause] { causes.sorted { $0.key < $1.key }.map(\.value) }

    /// Whether the picture is not to be retried.
    package var shouldQuarantine: Bool {
        let evidence = causes.values.count(where: \.isEvidence)
        return evidence >= Self.enoughEvidence || causes.count - evidence >= Self.enoughKills
    }

    /// What becomes of a convicted picture.
    package func failure(of name: String) -> Failure {
        let causes = all.map(\.rawValue).joined(separator: ", ")
        return Failure(
            .quarantined,
            "\(name): filtering it ended the daemon \(all.count) times (\(causes)),"
                + " so it is quarantined")
    }
}
