import Foundation
import Glibc
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomFixtures

final class DirectoryTreeTests: FolderSuite {
    private func make(_ name: FileName, in parent: Directory? = nil) throws -> Directory {
        try (parent ?? folder).makeDirectory(name)
        return try Directory(name, in: parent ?? folder)
    }

    /// Very many levels, and names that the removal itself could choose.
    @Test func removesATreeOfAnyDepth() throws {
        var place = try make("tree")
        for level in 0..<3000 {
            try place.write([], to: "file", durably: false)
            place = try make(".\(level % 3 + 1)", in: place)
        }
        try folder.removeTree("tree")
        #expect(try folder.names().isEmpty)
    }

    /// It stops between two entries, and a later call removes the rest.
    @Test func stopsAndGoesOn() throws {
        let tree = try make("tree")
        for number in 0..<10 {
            let sub = try make(FileName("\(number)"), in: tree)
            try make("deeper", in: sub).write([], to: "file", durably: false)
        }
        var left = 5
        let error = #expect(throws: FileError.self) {
            try folder.removeTree("tree") {
                left -= 1
                return left >= 0
            }
        }
        #expect(error?.errno == .canceled)
        // Each of five is gone, and what it contained is here under a number.
        let names = try tree.names().map(\.text)
        #expect(names.count == 10 && names.count { $0.hasPrefix(".") } == 5)
        try folder.removeTree("tree")
        #expect(try folder.names().isEmpty)
    }

    /// Somebody else who removes and exchanges entries at the same time does not prevent it.
    @Test func bearsOneWhoRemovesToo() throws {
        for _ in 0..<20 {
            let tree = try make("tree")
            for number in 0..<50 {
                try make(FileName("\(number)"), in: tree).write([], to: "a", durably: false)
            }
            let path = folder.path + "/tree"
            try removeTree(besideOne: {
                for number in (0..<50).reversed() {
                    unlink("\(path)/\(number)/a")
                    rmdir("\(path)/\(number)")
                    symlink("/", "\(path)/\(number)")
                    unlink("\(path)/\(number)")
                }
            })
        }
    }

    /// Removes the tree while somebody else does something with it.
    private func removeTree(besideOne body: @escaping @Sendable () -> Void) throws {
        let other = Thread(block: body)
        other.start()
        try folder.removeTree("tree")
        while !other.isFinished { sched_yield() }
        #expect(try !folder.exists("tree"))
    }

    /// Somebody else who adds files for a while does not end it.
    @Test func bearsOneWhoAdds() throws {
        for _ in 0..<20 {
            let tree = try make("tree")
            let sub = try make("sub", in: tree)
            try sub.write([], to: "first", durably: false)
            try removeTree(besideOne: {
                for number in 0..<2000 {
                    try? sub.write([], to: FileName("\(number)"), durably: false)
                }
            })
        }
    }

    @Test func followsNoLinks() throws {
        try make("outside").write([1], to: "a", durably: false)
        let tree = try make("tree")
        try tree.makeDirectory("sub")
        for path in ["/tree/link", "/tree/sub/link"] {
            #expect(symlink(folder.path + "/outside", folder.path + path) == 0)
        }
        #expect(mkfifo(folder.path + "/tree/sub/fifo", 0o600) == 0)
        try folder.removeTree("tree")
        #expect(try folder.names() == ["outside"])
        #expect(try Directory("outside", in: folder).names() == ["a"])
    }

    /// NFS does not let this machine remove a file that a process has open. Here a mount point refuses in the same way.
    @Test(.enabled(if: SmallDisk.isAvailable)) func leavesWhatIsStillOpen() throws {
        let stuck = ".nfs0000000000abcdef00000001"
        for path in ["tree", "tree/sub", "tree/sub/deep"] {
            #expect(mkdir("\(scratch.path)/\(path)", 0o755) == 0)
        }
        for path in ["tree/a", "tree/sub/b", "tree/sub/deep/\(stuck)", "tree/sub/deep/c"] {
            try "".write(toFile: "\(scratch.path)/\(path)", atomically: false, encoding: .utf8)
        }
        let target = "\(scratch.path)/tree/sub/deep/\(stuck)"
        try #require(mount("\(scratch.path)/tree/a", target, "", UInt(MS_BIND), nil) == 0)
        var isMounted = true
        defer { if isMounted { umount2("\(scratch.path)/tree/.1/\(stuck)", CInt(MNT_DETACH)) } }
        let error = #expect(throws: FileError.self) { try folder.removeTree("tree") }
        #expect(error?.errno == .resourceBusy)
        // The rest is gone, at once.
        let left = try FileManager.default.subpathsOfDirectory(atPath: "\(scratch.path)/tree")
        #expect(left.sorted() == [".1", ".1/\(stuck)"])
        umount2("\(scratch.path)/tree/.1/\(stuck)", CInt(MNT_DETACH))
        isMounted = false
        try folder.removeTree("tree")
        #expect(try folder.names().isEmpty)
    }
}
