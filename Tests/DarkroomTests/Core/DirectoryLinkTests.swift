import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import DarkroomCore

/// Renames on file systems that cannot refuse to replace a file, such as NFS.
@Suite struct DirectoryLinkTests {
    private let scratch: ScratchDirectory
    private let folder: Directory

    init() throws {
        scratch = try ScratchDirectory()
        folder = try Directory(path: scratch.path)
    }

    private var names: [String] { get throws { try folder.names().map(\.text).sorted() } }

    @Test func aFileGetsItsNewName() throws {
        try folder.write([1], to: "a", durably: false)
        try folder.renameByLink("a", to: folder, as: "b")
        #expect(try names == ["b"])
        #expect(try folder.read("b") == [1])
    }

    @Test func anotherFileIsNotReplaced() throws {
        try folder.write([1], to: "a", durably: false)
        try folder.write([2], to: "b", durably: false)
        let error = #expect(throws: FileError.self) {
            try folder.renameByLink("a", to: folder, as: "b")
        }
        #expect(error?.errno == .fileExists)
        #expect(try folder.read("a") == [1])
        #expect(try folder.read("b") == [2])
    }

    /// A process was killed between the two steps.
    @Test func anInterruptedRenameIsCompleted() throws {
        try folder.write([1], to: "a", durably: false)
        try folder.link("a", to: folder, as: "b")
        try folder.renameByLink("a", to: folder, as: "b")
        #expect(try names == ["b"])
    }

    @Test func aFolderGetsItsNewName() throws {
        try folder.makeDirectory("a")
        try folder.renameByLink("a", to: folder, as: "b")
        #expect(try names == ["b"])
        try folder.makeDirectory("c")
        let error = #expect(throws: FileError.self) {
            try folder.renameByLink("c", to: folder, as: "b")
        }
        #expect(error?.errno == .fileExists)
        #expect(try names == ["b", "c"])
    }
}
