import Foundation

/// A folder of its own for one test, removed with everything in it when the test lets go of it.
package final class ScratchDirectory: Sendable {
    package let url: URL

    package var path: String { url.path }

    package init() throws {
        let template = FileManager.default.temporaryDirectory.appending(path: "darkroom-XXXXXX")
            .path
        var bytes = Array(template.utf8CString)
        guard mkdtemp(&bytes) != nil else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        url = URL(
            filePath: String(
                decoding: bytes.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    /// Writes a file at a path in it, and creates the folders above.
    package func write(_ text: String, _ path: String) throws {
        let file = url.appending(path: path)
        try FileManager.default.makeFolder(at: file.deletingLastPathComponent())
        try Data(text.utf8).write(to: file)
    }

    package func text(_ path: String) throws -> String {
        try String(contentsOf: url.appending(path: path), encoding: .utf8)
    }
}
