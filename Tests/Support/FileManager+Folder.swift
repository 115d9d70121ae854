import Foundation

extension FileManager {
    /// Makes a folder, with those above it where they are not there.
    package func makeFolder(at url: URL) throws {
        try createDirectory(at: url, withIntermediateDirectories: true)
    }

    package func makeFolder(atPath path: String) throws {
        try createDirectory(atPath: path, withIntermediateDirectories: true)
    }
}
