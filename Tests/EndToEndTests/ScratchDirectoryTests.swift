import Foundation
import TestSupport
import Testing

struct ScratchDirectoryTests {
    @Test func isRemovedWithItsOwner() throws {
        let path: String
        do {
            let scratch = try ScratchDirectory()
            path = scratch.path
            #expect(FileManager.default.fileExists(atPath: path))
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
