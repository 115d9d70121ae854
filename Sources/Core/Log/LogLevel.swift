import Logging
import Synchronization

/// The lowest level that is logged. A reload can change it.
package enum LogLevel {
    private static let current = Atomic(Logger.Level.info.index)

    package static func set(_ level: Logger.Level) {
        current.store(level.index, ordering: .relaxed)
    }

    package static var value: Logger.Level {
        Logger.Level.allCases[current.load(ordering: .relaxed)]
    }
}

extension Logger.Level {
    fileprivate var index: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
