import DarkroomCore

/// Why a process ended while it filtered a picture.
package enum CrashCause: Sendable, Hashable {
    /// The thread that worked on this picture crashed with a signal such as `SIGSEGV`.
    case signal(String)
    /// The picture made no progress, and the service manager's watchdog ended the process.
    case watchdog
    /// The kernel killed the process, or another process, because of a lack of memory. At that time this picture was
    /// the only one that was being filtered, or it was the first time.
    case outOfMemory
    /// Any other cause, such as kill -9 or a crash in other code, which says nothing about the picture.
    case killed

    /// The signals of a crash, see `darkroom_crash.h`.
    static let signals = ["SIGSEGV", "SIGBUS", "SIGILL", "SIGTRAP", "SIGFPE", "SIGABRT", "SIGSYS"]

    /// Whether this is evidence against the picture.
    package var isEvidence: Bool { self != .killed }
}

extension CrashCause: RawRepresentable, Codable {
    /// The text in a journal.
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

/// How often, and why, the process ended while it filtered one picture.
///
/// Two ends with evidence against the picture are enough for quarantine. A signal and the watchdog identify this
/// picture; a lack of memory counts the second time only if no other picture was being filtered. Without evidence it
/// takes five ends. So someone who kills the daemon again and again, as tests do, does not quarantine a picture soon,
/// but a picture that ends each process without a trace is quarantined at last.
package struct Crashes: Sendable, Equatable {
    /// Each crash has a number, so that a crash that is recorded twice counts once. This happens if the process ends
    /// between recording it in the journal and clearing the record.
    private var causes: [Int: CrashCause] = [:]

    static let enoughEvidence = 2
    package static let enoughKills = 5

    package init() {}

    package mutating func add(_ cause: CrashCause, number: Int) { causes[number] = cause }

    /// The number of the last one; 0 if there is none.
    package var last: Int { causes.keys.max() ?? 0 }

    /// The causes, in the order of the crashes.
    package var all: [CrashCause] { causes.sorted { $0.key < $1.key }.map(\.value) }

    /// Whether the picture must not be tried again.
    package var shouldQuarantine: Bool {
        let evidence = causes.values.count(where: \.isEvidence)
        return evidence >= Self.enoughEvidence || causes.count - evidence >= Self.enoughKills
    }

    /// The failure of a quarantined picture.
    package func failure(of name: String) -> Failure {
        let causes = all.map(\.rawValue).joined(separator: ", ")
        return Failure(
            .quarantined,
            "\(name): filtering it ended the daemon \(all.count) times (\(causes)),"
                + " so it is quarantined")
    }
}
