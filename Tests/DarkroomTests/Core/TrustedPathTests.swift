import Foundation
import Glibc
import TestSupport
import Testing

@testable import DarkroomCore

/// Who could put another folder in the place of a hot folder.
struct TrustedPathTests {
    private let scratch: ScratchDirectory
    private let group: gid_t

    init() throws {
        scratch = try ScratchDirectory()
        for name in ["above", "above/scans"] {
            try FileManager.default.makeFolder(at: scratch.url.appending(path: name))
        }
        // Whatever the file mode mask is.
        try #require(chmod(scratch.path, 0o700) == 0 && chmod("\(scratch.path)/above", 0o755) == 0)
        group = try Directory(path: "\(scratch.path)/above").information().st_gid
    }

    private var above: String { "\(scratch.path)/above" }

    private func problem(
        _ path: String, users: [uid_t] = [0, geteuid()], groups: [gid_t]? = nil
    ) throws -> String? {
        try TrustedPath(users: users, groups: groups ?? [group]).problem(Directory(path: path))
    }

    /// The mode of the folder above, whether its group is trusted, and who may put another folder there.
    @Test(
        arguments: [
            (0o755, false, nil), (0o775, true, nil), (0o1775, false, nil), (0o1777, false, nil),
            (0o775, false, "group"), (0o777, true, "everybody"),
        ] as [(mode_t, Bool, String?)])
    func theModeDecides(mode: mode_t, isTrusted: Bool, who: String?) throws {
        #expect(chmod(above, mode) == 0)
        let words = try problem("\(above)/scans", groups: isTrusted ? [group] : [])
        let subject = who == "group" ? "group \(group)" : who
        #expect(
            words
                == subject.map {
                    "\($0) may write to \(above), and put another folder in its place"
                })
    }

    /// Its own mode does not matter: whoever may write into it gives pictures.
    @Test func theFolderItselfMayBeOpenToAll() throws {
        #expect(chmod("\(above)/scans", 0o777) == 0)
        #expect(try problem("\(above)/scans", groups: []) == nil)
    }

    /// A folder above that belongs to somebody else.
    @Test func theOwnerDecides() throws {
        let user = try stranger(above)
        let words = try problem("\(above)/scans", users: [0])
        #expect(
            words?.hasSuffix(" belongs to user \(user), who could put another folder in its place")
                == true)
        #expect(try problem("\(above)/scans", users: [0, geteuid(), user]) == nil)
    }

    /// A link belongs to the way, and so do the folders to which it leads.
    @Test func linksAreFollowed() throws {
        let link = "\(scratch.path)/link"
        #expect(symlink("\(above)/scans", link) == 0)
        #expect(try problem(link) == nil)
        #expect(chmod(above, 0o777) == 0)
        #expect(try problem(link)?.hasPrefix("everybody may write to \(above),") == true)
        #expect(chmod(above, 0o755) == 0)
        let user = try stranger(link)
        #expect(try problem(link, users: [0, geteuid()].filter { $0 != user }) != nil)
    }

    /// Gives a file to a user who is not root; the user of the tests may be that.
    private func stranger(_ path: String) throws -> uid_t {
        guard geteuid() == 0 else { return geteuid() }
        try #require(lchown(path, 12_345, gid_t.max) == 0)
        return 12_345
    }
}
