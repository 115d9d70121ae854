import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import DarkroomCore

/// A small file that is read at once.
@Suite struct DescriptorContentTests {
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
        let scratch = try ScratchDirectory()
        try Data(bytes).write(to: scratch.url.appending(path: "file"))
        let descriptor = try Directory(path: scratch.path).open("file")
        let content = try descriptor.content(ofLength: said)
        #expect(content == (isWhole ? bytes : nil))
        // Whoever reads the file now reads it from its beginning.
        #expect(try descriptor.readAll(upTo: 1 << 20, path: "file") == bytes)
    }

    @Test func aFailureIsReported() throws {
        let scratch = try ScratchDirectory()
        let number = open(scratch.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        try #require(number >= 0)
        let folder = Descriptor(owning: number)
        let error = #expect(throws: Errno.self) { try folder.content(ofLength: 10) }
        #expect(error == .isDirectory)
    }
}
