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
    package static let signals = [
        "SIGSEGV", "SIGBUS", "SIGILL", "SIGTRAP", "SIGFPE", "SIGABRT", "SIGSYS",
    ]

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

/// What ends when a picture crashes it, and how its ends count against the picture that was being filtered.
///
/// | cause                                  | daemon                                           | run             |
/// |----------------------------------------|--------------------------------------------------|-----------------|
/// | a signal of the picture's own thread   | the second end of these three kinds is enough    | the second one  |
/// | the watchdog                           | the same                                         | never           |
/// | out of memory                          | the same; after the first, only if it was alone  | the fifth, each |
/// |                                        |                                                  | of them alone   |
/// | unknown, such as kill -9               | the fifth                                        | never           |
///
/// A service manager ends a daemon rarely, so five ends without a trace are the picture's fault. But schedulers,
/// preemption and out-of-memory killers of clusters end a run again and again, whatever it filters.
package enum CrashVictim: Sendable {
    case daemon
    case run
}

/// How often, and why, the process ended while it filtered one picture.
///
/// What is enough to set the picture aside (quarantine) is in the table of `CrashVictim`. A signal and the watchdog
/// identify this picture. Someone who kills a daemon again and again, as tests do, does not quarantine a picture soon,
/// but a picture that ends each daemon without a trace is quarantined at last.
package struct Crashes: Sendable, Equatable {
    /// Each crash has a number, so that a crash that is recorded twice counts once. This happens if the process ends
    /// between recording it in the journal and clearing the record.
    private var causes: [Int: CrashCause] = [:]
    package let victim: CrashVictim

    package static let enoughEvidence = 2
    package static let enoughKills = 5

    package init(of victim: CrashVictim) { self.victim = victim }

    package mutating func add(_ cause: CrashCause, number: Int) { causes[number] = cause }

    /// The number of the last one; 0 if there is none.
    package var last: Int { causes.keys.max() ?? 0 }

    /// The causes, in the order of the crashes.
    package var all: [CrashCause] { causes.sorted { $0.key < $1.key }.map(\.value) }

    /// Whether the picture must not be tried again.
    package var shouldQuarantine: Bool { !convincing.isEmpty }

    /// The causes for which the picture must not be tried again; empty if it may be.
    private var convincing: [CrashCause] {
        let all = all
        switch victim {
        case .daemon:
            let evidence = all.count(where: \.isEvidence)
            return evidence >= Self.enoughEvidence || all.count - evidence >= Self.enoughKills
                ? all : []
        case .run:
            let signals = all.filter { if case .signal = $0 { true } else { false } }
            if signals.count >= Self.enoughEvidence { return signals }
            let memory = all.filter { $0 == .outOfMemory }
            return memory.count >= Self.enoughKills ? memory : []
        }
    }

    package func failure(of name: String) -> Failure {
        let causes = convincing
        let ended = victim == .daemon ? "the daemon" : "darkroom run"
        return Failure(
            .quarantined,
            "\(name): filtering it ended \(ended) \(causes.count) times"
                + " (\(causes.map(\.rawValue).joined(separator: ", "))), so it is quarantined")
    }
}
