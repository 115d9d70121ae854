import SystemPackage
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomFixtures

/// Renames on file systems that cannot refuse to replace a file, such as NFS.
final class DirectoryLinkTests: FolderSuite {
    private var names: [String] { get throws { try folder.names().map(\.text).sorted() } }

    /// How a rename goes where the kernel cannot refuse to replace a file: by a link, or without links.
    enum Way: CaseIterable {
        case byLink, alone, amongRivals
    }

    private func rename(
        _ name: FileName, as newName: FileName, by way: Way
    ) throws(FileError) {
        switch way {
        case .byLink: try folder.renameByLink(name, to: folder, as: newName)
        case .alone:
            try folder.renameWithoutLinks(name, to: folder, as: newName, rivals: .none)
        case .amongRivals:
            try folder.renameWithoutLinks(name, to: folder, as: newName, rivals: .some)
        }
    }

    private func expect(_ errno: Errno, _ body: () throws -> Void) {
        let error = #expect(throws: FileError.self) { try body() }
        #expect(error?.errno == errno)
    }

    /// A file gets its name in one step; another file is never replaced, and nothing is left of an attempt.
    @Test(arguments: Way.allCases) func aFileGetsItsNewName(way: Way) throws {
        try folder.write([1], to: "a", durably: false)
        try rename("a", as: "b", by: way)
        #expect(try names == ["b"])
        #expect(try folder.read("b") == [1])
        try folder.write([2], to: "c", durably: false)
        expect(.fileExists) { try rename("c", as: "b", by: way) }
        #expect(try names == ["b", "c"])
        #expect(try folder.read("b") == [1])
        #expect(try folder.read("c") == [2])
        expect(.noSuchFileOrDirectory) { try rename("none", as: "d", by: way) }
        #expect(try names == ["b", "c"])
    }

    @Test(arguments: Way.allCases) func aFolderGetsItsNewName(way: Way) throws {
        try folder.makeDirectory("a")
        try folder.makeDirectory("c")
        try rename("a", as: "b", by: way)
        expect(.fileExists) { try rename("c", as: "b", by: way) }
        #expect(try names == ["b", "c"])
    }

    /// A process was killed between the two steps.
    @Test func anInterruptedRenameIsCompleted() throws {
        try folder.write([1], to: "a", durably: false)
        try folder.link("a", to: folder, as: "b")
        try folder.renameByLink("a", to: folder, as: "b")
        #expect(try names == ["b"])
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
        expect(.fileExists) { try folder.publish("a", to: folder, as: "b", rivals: .some) }
        #expect(try folder.read("b") == [1])
    }
}
