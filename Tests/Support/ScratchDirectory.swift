import Foundation

/// A folder of its own for one test, removed with everything in it when the test lets go of it.
package final class ScratchDirectory: TestFolder {
    package let url: URL

    package var root: URL { url }

    package init(in folder: URL = FileManager.default.temporaryDirectory) throws {
        let template = folder.appending(path: "darkroom-XXXXXX").path
        var bytes = Array(template.utf8CString)
        guard mkdtemp(&bytes) != nil else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
        url = URL(
            filePath: String(
                decoding: bytes.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    package func write(_ text: String, _ path: String) throws { try write(text, to: path) }
}
