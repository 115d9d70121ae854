import Foundation
import Glibc
import TestSupport
import Testing

@testable import DarkroomCore

@Suite struct DirectoryTreeTests {
    let scratch: ScratchDirectory
    let folder: Directory

    init() throws {
        scratch = try ScratchDirectory()
        folder = try Directory(path: scratch.path)
    }

    /// Very many levels, and names that the removal itself could choose.
    @Test func removesATreeOfAnyDepth() throws {
        try folder.makeDirectory("tree")
        var place = try Directory("tree", in: folder)
        for level in 0..<3000 {
            try place.write([], to: "file", durably: false)
            try place.makeDirectory(".\(level % 3 + 1)")
            place = try Directory(".\(level % 3 + 1)", in: place)
        }
        try folder.removeTree("tree")
        #expect(try folder.names().isEmpty)
    }

    @Test func followsNoLinks() throws {
        try folder.makeDirectory("outside")
        try Directory("outside", in: folder).write([1], to: "a", durably: false)
        try folder.makeDirectory("tree")
        let tree = try Directory("tree", in: folder)
        try tree.makeDirectory("sub")
        for path in ["/tree/link", "/tree/sub/link"] {
            #expect(symlink(folder.path + "/outside", folder.path + path) == 0)
        }
        #expect(mkfifo(folder.path + "/tree/sub/fifo", 0o600) == 0)
        try folder.removeTree("tree")
        #expect(try folder.names() == ["outside"])
        #expect(try Directory("outside", in: folder).names() == ["a"])
    }
}
