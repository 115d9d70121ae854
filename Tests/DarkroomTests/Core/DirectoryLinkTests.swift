import SystemPackage
import TestSupport
import Testing

@testable import DarkroomCore

/// Renames on file systems that cannot refuse to replace a file, such as NFS.
@Suite final class DirectoryLinkTests: FolderSuite {
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

    // MARK: Without links

    /// A file gets its name in one step; another file is never replaced, and nothing is left of an attempt.
    @Test(arguments: [Rivals.none, .some])
    func aFileWithoutLinksGetsItsNewName(rivals: Rivals) throws {
        try folder.write([1], to: "a", durably: false)
        try folder.renameWithoutLinks("a", to: folder, as: "b", rivals: rivals)
        #expect(try names == ["b"])
        #expect(try folder.read("b") == [1])
        try folder.write([2], to: "c", durably: false)
        let error = #expect(throws: FileError.self) {
            try folder.renameWithoutLinks("c", to: folder, as: "b", rivals: rivals)
        }
        #expect(error?.errno == .fileExists)
        #expect(try names == ["b", "c"])
        #expect(try folder.read("b") == [1])
        let missing = #expect(throws: FileError.self) {
            try folder.renameWithoutLinks("none", to: folder, as: "d", rivals: rivals)
        }
        #expect(missing?.errno == .noSuchFileOrDirectory)
        #expect(try names == ["b", "c"])
    }

    @Test(arguments: [Rivals.none, .some])
    func aFolderWithoutLinksGetsItsNewName(rivals: Rivals) throws {
        try folder.makeDirectory("a")
        try folder.makeDirectory("c")
        try folder.renameWithoutLinks("a", to: folder, as: "b", rivals: rivals)
        let error = #expect(throws: FileError.self) {
            try folder.renameWithoutLinks("c", to: folder, as: "b", rivals: rivals)
        }
        #expect(error?.errno == .fileExists)
        #expect(try names == ["b", "c"])
    }

    /// Many try to get one name at once, each as if there were no links.
    @Test func oneOfManyRivalsGetsTheName() async throws {
        for number in 0..<16 {
            try folder.write([UInt8(number)], to: "new-\(number)", durably: false)
        }
        let winners: [Int] = await withTaskGroup(of: Int?.self) { group in
            for number in 0..<16 {
                group.addTask { [folder] in
                    let name: FileName = "new-\(number)"
                    let result: ()? = try? folder.renameWithoutLinks(
                        name, to: folder, as: "name", rivals: .some)
                    return result == nil ? nil : number
                }
            }
            var winners: [Int] = []
            for await number in group { if let number { winners.append(number) } }
            return winners
        }
        #expect(winners.count == 1)
        #expect(try folder.read("name") == winners.map { UInt8($0) })
        #expect(try names.count == 16)
    }

    @Test func aFileIsPublishedOnce() throws {
        try folder.write([1], to: "a", durably: false)
        try folder.publish("a", to: folder, as: "b", rivals: .some)
        try folder.write([2], to: "a", durably: false)
        let error = #expect(throws: FileError.self) {
            try folder.publish("a", to: folder, as: "b", rivals: .some)
        }
        #expect(error?.errno == .fileExists)
        #expect(try folder.read("b") == [1])
    }
}
