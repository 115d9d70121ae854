/// The order of manifests.
package enum Priority: String, Codable, Sendable, CaseIterable, Comparable {
    case veryLow, low, normal, high, veryHigh

    package static func < (a: Priority, b: Priority) -> Bool { a.rank < b.rank }

    /// 0 for the lowest.
    package var rank: Int {
        switch self {
        case .veryLow: 0
        case .low: 1
        case .normal: 2
        case .high: 3
        case .veryHigh: 4
        }
    }
}

package enum QualityOfServiceName: String, Codable, Sendable, CaseIterable {
    case background, utility, `default`, userInitiated, userInteractive

    /// 0 for the lowest.
    package var rank: Int {
        switch self {
        case .background: 0
        case .utility: 1
        case .default: 2
        case .userInitiated: 3
        case .userInteractive: 4
        }
    }
}
