import Foundation
import TestSupport
import Testing

/// What makes the folders of a process those of a share, or of another weak file system: `Tests/ShareShim`.
struct Share {
    private let scratch: ScratchDirectory
    let environment: [String: String]

    /// - Parameter refused: the letters of what is refused.
    init(refuses refused: String = "rtlin") throws {
        scratch = try ScratchDirectory()
        let shim = URL(filePath: try ClientProcess.program()).deletingLastPathComponent()
            .appending(path: "libshareshim.so")
        try #require(FileManager.default.fileExists(atPath: shim.path))
        let others = ProcessInfo.processInfo.environment["LD_PRELOAD"].map { [$0] } ?? []
        environment = [
            "LD_PRELOAD": ([shim.path] + others).joined(separator: ":"),
            "SHARE_SHIM": scratch.path + "/refusals", "SHARE_SHIM_REFUSES": refused,
        ]
    }

    /// The kinds of calls that were refused.
    func refusals() throws -> Set<Character> {
        Set(try scratch.text("refusals"))
    }
}
