import Foundation
import Glibc
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomSpool

/// Holds the identity of a manifest's file against what GNU stat prints for its submitter.
struct DroppedFileTests {
    @Test(
        arguments: [
            (7, timespec(tv_sec: 12, tv_nsec: 3), "7-12.000000003"),
            (0, timespec(tv_sec: 0, tv_nsec: 0), "0-0.000000000"),
            (
                .max, timespec(tv_sec: .max, tv_nsec: 999_999_999),
                "18446744073709551615-9223372036854775807.999999999"
            ),
            // Before 1970.
            (7, timespec(tv_sec: -2, tv_nsec: 500_000_000), "7--1.500000000"),
            (7, timespec(tv_sec: -1, tv_nsec: 1), "7--0.999999999"),
            (7, timespec(tv_sec: -3, tv_nsec: 0), "7--3.000000000"),
            (7, nil, "7-0.000000000"),
        ] as [(UInt64, timespec?, String)])
    func isInodeAndBirth(inode: UInt64, birth: timespec?, text: String) {
        #expect(DroppedFile.identity(inode: inode, birth: birth) == text)
    }

    /// On a disk, and in memory where there is such a file system.
    @Test(arguments: ["/var/tmp", "/dev/shm"])
    func isWhatStatPrints(place: String) throws {
        guard access(place, W_OK) == 0 else { return }
        let path = place + "/darkroom-\(UUID().uuidString)"
        try FileManager.default.makeFolder(atPath: path)
        defer { try? FileManager.default.removeItem(atPath: path) }
        let folder = try Directory(path: path)
        try folder.write([1], to: "first", durably: false)
        try folder.write([1], to: "second", durably: false)
        let first = try folder.droppedIdentity(of: "first")
        #expect(try first == printedIdentity(path + "/first"))
        #expect(try folder.droppedIdentity(of: "second") == printedIdentity(path + "/second"))
        #expect(try folder.droppedIdentity(of: "second") != first)
        // Neither new names nor what its owner can set changes it.
        try folder.rename("first", to: folder, as: "renamed")
        #expect(link(path + "/renamed", path + "/linked") == 0)
        try folder.remove("renamed")
        let times = [timespec(tv_sec: 1, tv_nsec: 2), timespec(tv_sec: 3, tv_nsec: 4)]
        #expect(utimensat(AT_FDCWD, path + "/linked", times, 0) == 0)
        #expect(try folder.droppedIdentity(of: "linked") == first)
        #expect(try first == printedIdentity(path + "/linked"))
        #expect(try folder.droppedIdentity(of: "first") == nil)
    }

    /// A file system that knows nothing of births.
    @Test func isZeroWhereNobodyKnows() throws {
        let folder = try Directory(path: "/proc")
        let identity = try #require(try folder.droppedIdentity(of: "version"))
        #expect(try identity == printedIdentity("/proc/version"))
        #expect(identity.hasSuffix("-0.000000000"))
    }
}
