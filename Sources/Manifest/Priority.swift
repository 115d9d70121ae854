/// The order of manifests.
package enum Priority: String, Codable, Sendable, CaseIterable, Comparable {
    case veryLow, low, normal, high, veryHigh

    package static func < (a: Priority, b: Priority) -> Bool { a.rank < b.rank }
}

package enum QualityOfServiceName: String, Codable, Sendable, CaseIterable {
    case background, utility, `default`, userInitiated, userInteractive
}

extension CaseIterable where Self: Equatable, AllCases == [Self] {
    /// 0 for the first case, which is the lowest.
    package var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
