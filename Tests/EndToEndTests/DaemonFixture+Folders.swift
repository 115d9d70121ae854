import Foundation
import TestSupport
import Testing

/// Folders in the inbox, and those of other users.
extension DaemonFixture {
    /// Waits until the folders of all ended batches are gone.
    func waitForRemoval() async throws {
        try await eventually(
            "the removal of the folders", context: { spool.list("active").joined(separator: " ") }
        ) {
            spool.list("active").isEmpty ? true : nil
        }
    }

    /// Makes the folder `tmp/NAME` with a manifest and small pictures at these paths.
    func makeFolder(
        _ name: String, images: [(name: String, source: String)], pictures: [String],
        bytes: [UInt8] = DaemonFixture.picture
    ) throws {
        let manifest = try Self.json([
            "images": images.map { ["name": $0.name, "source": $0.source] }
        ])
        try makeFolder(
            name, files: [("manifest.json", Array(manifest.utf8))] + pictures.map { ($0, bytes) })
    }

    func makeFolder(_ name: String, files: [(path: String, bytes: [UInt8])]) throws {
        try spool.makeFolder("tmp/\(name)")
        for (path, bytes) in files { try spool.write(bytes, to: "tmp/\(name)/\(path)") }
    }

    static let daemonUser: UInt32 = 64001
    /// Of another user.
    static let submitter: UInt32 = 64002

    /// Gives the spool to a user, and starts a daemon of theirs on it.
    func runAsAnotherUser(
        _ settings: [String: String] = [:], environment: [String: String] = [:], mode: mode_t? = nil
    ) async throws -> DaemonProcess {
        try #require(chown(spool.path, Self.daemonUser, Self.daemonUser) == 0)
        if let mode { try #require(chmod(spool.path, mode) == 0) }
        try #require(chmod(spool.root.deletingLastPathComponent().path, 0o755) == 0)
        let daemon = try launch(settings, environment: environment, user: Self.daemonUser)
        try await daemon.says(" watches ")
        return daemon
    }

    /// Makes the folder `tmp/NAME` of an image `a`, which belongs to another user than the daemon.
    func makeFolderOfAnotherUser(
        _ name: String, _ mode: mode_t = 0o770, pictures: [String] = ["a.png"]
    ) throws {
        try makeFolder(name, images: [("a", "a.png")], pictures: pictures)
        let path = spool.path("tmp/\(name)")
        for file in ["", "/a.png", "/manifest.json"] {
            try #require(chown(path + file, Self.submitter, Self.daemonUser) == 0)
        }
        try #require(chmod(path, mode) == 0)
    }

    /// Renames `tmp/NAME` into the inbox.
    func dropMade(_ name: String) throws {
        guard rename("\(spool.path)/tmp/\(name)", "\(spool.path)/inbox/\(name)") == 0 else {
            throw POSIXError(.init(rawValue: errno) ?? .EIO)
        }
    }

    func dropFolder(
        _ name: String, images: [(name: String, source: String)], pictures: [String],
        bytes: [UInt8] = DaemonFixture.picture
    ) throws {
        try makeFolder(name, images: images, pictures: pictures, bytes: bytes)
        try dropMade(name)
    }
}
