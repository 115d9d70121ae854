import Foundation
import TestSupport

/// A configuration file for one test.
final class ConfigurationText: Sendable {
    private let scratch: ScratchDirectory
    let path: String

    init(_ text: String) throws {
        scratch = try ScratchDirectory()
        path = scratch.url.appending(path: "darkroomd.yaml").path
        try write(text)
    }

    func write(_ text: String) throws {
        try Data(text.utf8).write(to: URL(filePath: path), options: .atomic)
    }
}
