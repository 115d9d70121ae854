/// Words in ascending order.
package protocol Ranked: CaseIterable, Comparable where AllCases == [Self] {}

extension Ranked {
    /// 0 for the lowest.
    package var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }

    package static func < (a: Self, b: Self) -> Bool { a.rank < b.rank }
}

/// The order of manifests.
package enum Priority: String, Codable, Sendable, Ranked {
    case veryLow, low, normal, high, veryHigh
}

/// The order within a priority.
package enum QualityOfServiceName: String, Codable, Sendable, Ranked {
    case background, utility, `default`, userInitiated, userInteractive
}
