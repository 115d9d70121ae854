import Foundation
import Glibc
import TestSupport
import Testing

@testable import DarkroomCore

/// Folders that are made with the mode of another one, and completed after a kill.
struct FolderMakingTests {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
        try FileManager.default.makeFolder(at: scratch.url.appending(path: "model"))
    }

    private func mode(_ name: String) -> mode_t {
        var information = stat()
        #expect(stat("\(scratch.path)/\(name)", &information) == 0)
        return information.st_mode & 0o7777
    }

    enum Before: CaseIterable { case nothing, left, chosen, full }

    /// The mode of the model, and that of the folder that is made.
    static let modes: [(mode_t, mode_t)] = [
        (0o755, 0o755), (0o2750, 0o750), (0o1777, 0o1777), (0o700, 0o700), (0o4711, 0o711),
    ]

    @Test(arguments: modes.indices, Before.allCases)
    func getsTheModeOfItsModel(number: Int, before: Before) throws {
        let (mode, expected) = Self.modes[number]
        #expect(chmod("\(scratch.path)/model", mode) == 0)
        let path = "\(scratch.path)/made"
        switch before {
        case .nothing: break
        case .left: #expect(mkdir(path, 0o700) == 0)
        case .chosen: #expect(mkdir(path, 0o700) == 0 && chmod(path, 0o710) == 0)
        case .full:
            #expect(mkdir(path, 0o700) == 0)
            try Data().write(to: URL(filePath: path + "/x"))
        }
        let root = try Directory(path: scratch.path)
        let model = try Directory("model", in: root)
        for durably in [true, false] {
            let made = try root.makeFolder("made", like: model, durably: durably)
            #expect(try made.exists("x") == (before == .full))
        }
        let kept: mode_t? =
            switch before {
            case .nothing, .left: nil
            case .chosen: 0o710
            case .full: 0o700
            }
        #expect(self.mode("made") == kept ?? expected)
    }

    /// What is no folder, and a link to one, are left as they are.
    @Test(arguments: [false, true]) func aTakenNameIsAnError(isLink: Bool) throws {
        let path = "\(scratch.path)/made"
        if isLink {
            #expect(symlink("model", path) == 0)
        } else {
            try Data().write(to: URL(filePath: path))
        }
        let before = mode("model")
        let root = try Directory(path: scratch.path)
        let error = #expect(throws: FileError.self) {
            _ = try root.makeFolder("made", like: root, durably: true)
        }
        #expect(
            error.map { [.notDirectory, .tooManySymbolicLinkLevels].contains($0.errno) } == true)
        #expect(mode("model") == before)
    }
}
