import Foundation
import Glibc
import Testing

@testable import DarkroomCore
@testable import DarkroomFixtures
@testable import DarkroomSpool

/// The copy of a picture whose owner still has it open.
final class SparseCopyTests: FolderSuite {
    /// The content, the length that the copy has to have, and the bytes of the copy.
    static let contents: [(content: [UInt8], length: Int)] = [
        ([1, 2, 3], 3),
        // It has become longer since it was examined.
        ([1, 2, 3], 2),
        // Shorter.
        ([1, 2, 3], 9),
        // More than one piece, with zeros at the beginning, between and at the end.
        ([UInt8](repeating: 0, count: 300 << 10) + [7], 300 << 10 | 1),
        ([7] + [UInt8](repeating: 0, count: 600 << 10) + [8], 600 << 10 | 2),
        ([7] + [UInt8](repeating: 0, count: 600 << 10), 600 << 10 | 1),
        ([UInt8](repeating: 9, count: 600 << 10), 300 << 10),
    ]

    private func copy(length: Int, stop: CancellationFlag = CancellationFlag()) throws -> String {
        let file = try folder.open("picture")
        let copy = try folder.create("copy")
        return try file.copySparsely(
            upTo: length, path: "picture", to: copy, "copy", stop: stop)
    }

    @Test(arguments: contents.indices)
    func copiesWhatWasThere(index: Int) throws {
        let (content, length) = Self.contents[index]
        try folder.write(content, to: "picture", durably: false)
        let digest = try copy(length: length)
        let expected = Array(content.prefix(length))
        #expect(try folder.read("copy") == expected)
        var own = SHA256Digest()
        own.update(expected)
        #expect(digest == own.hex())
    }

    /// A file that was extended by a hole costs neither time nor room, and its own holes cost no room.
    @Test func holesCostNothing() throws {
        let file = try folder.create("picture")
        try file.write([1], path: "picture")
        try file.truncate(to: 1 << 40, path: "picture")
        let length = 64 << 20
        _ = try copy(length: length)
        let information = try #require(try folder.information(of: "copy"))
        #expect(information.length == length)
        // In units of 512 bytes.
        #expect(information.st_blocks * 512 <= 1 << 20)
    }

    @Test func stops() throws {
        try folder.write([1, 2, 3], to: "picture", durably: false)
        let stop = CancellationFlag()
        stop.set()
        _ = try copy(length: 3, stop: stop)
        #expect(try folder.read("copy") == [])
    }
}
