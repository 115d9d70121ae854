import TestSupport

@testable import DarkroomCore

/// What the suites of files have in common: each of their tests has an empty folder of its own, which is open.
class FolderSuite {
    let scratch: ScratchDirectory
    let folder: Directory

    init() throws {
        scratch = try ScratchDirectory()
        folder = try Directory(path: scratch.path)
    }
}
