import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomFixtures

/// A small file that is read at once.
final class DescriptorContentTests: FolderSuite {
    /// The bytes of a file, the length that it is said to have, and whether its content is returned.
    static let lengths: [(file: Int, said: Int, isWhole: Bool)] = [
        (0, 0, true), (1, 1, true), (5000, 5000, true), (65_536, 65_536, true),
        // It has grown.
        (1, 0, false), (5001, 5000, false), (200_000, 5000, false),
        // It has shrunk.
        (0, 1, false), (4999, 5000, false),
    ]

    @Test(arguments: lengths)
    func isReturnedIfItHasItsLength(file: Int, said: Int, isWhole: Bool) throws {
        let bytes = (0..<file).map { UInt8(truncatingIfNeeded: $0 * 7) }
        try Data(bytes).write(to: scratch.url.appending(path: "file"))
        let descriptor = try folder.open("file")
        let content = try descriptor.content(ofLength: said)
        #expect(content == (isWhole ? bytes : nil))
        // Whoever reads the file now reads it from its beginning.
        #expect(try descriptor.readAll(upTo: 1 << 20, path: "file") == bytes)
    }

    @Test func aFailureIsReported() throws {
        let number = open(scratch.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try #require(number >= 0)
        let opened = Descriptor(owning: number)
        let error = #expect(throws: Errno.self) { try opened.content(ofLength: 10) }
        #expect(error == .isDirectory)
    }
}
