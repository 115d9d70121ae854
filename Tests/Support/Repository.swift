import Foundation

/// The checkout the tests were built from.
package enum Repository {
    /// The folder that holds Package.swift.
    package static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
}
