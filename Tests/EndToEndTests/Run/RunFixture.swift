import DarkroomAnswer
import DarkroomCore
import DarkroomSelfTest
import Foundation
import TestSupport
import Testing

/// A command line, and all that it says.
struct CommandLineCase: Sendable, CustomTestStringConvertible {
    let words: String
    let exit: Int32
    var output = ""
    var errors = ""
    /// Names in the folder `out` afterwards; nil where the test does not look.
    var files: [String]?

    var testDescription: String { words }
}

/// A folder with pictures and manifests, in which `darkroom run` is tested.
final class RunFixture: TestFolder {
    let scratch: ScratchDirectory
    /// Of the same sizes and kinds as those of the self-test.
    static let pictures = ["small.png", "gray.png", "alpha.png", "deep.png", "large.png"]

    init() throws {
        scratch = try ScratchDirectory()
        try SamplePictures.write(into: Directory(path: scratch.path))
    }

    var root: URL { scratch.url }

    func status(_ folder: String = "out") throws -> Status? {
        guard exists("\(folder)/status.json") else { return nil }
        return Status(decoding: try bytes("\(folder)/status.json"))
    }

    /// Begins `darkroom run`.
    func begin(
        _ words: [String], before: String = ":", environment: [String: String] = [:],
        terminal: PseudoTerminal? = nil
    ) throws -> ClientProcess {
        try ClientProcess(
            ["run"] + words, folder: scratch.path, before: before, environment: environment,
            terminal: terminal)
    }

    /// Runs `darkroom` to its end, in the folder. Its name in what is printed becomes a dot.
    func end(
        _ words: [String], input: String = "", before: String = ":",
        environment: [String: String] = [:], user: UInt32? = nil
    ) async throws -> ClientProcess.Result {
        try await ClientProcess.end(
            words, folder: scratch.path, input: input, before: before, environment: environment,
            user: user
        ).replacing(scratch.path)
    }

    /// The same with words that spaces divide.
    func end(
        _ line: String, input: String = "", before: String = ":",
        environment: [String: String] = [:], user: UInt32? = nil
    ) async throws -> ClientProcess.Result {
        try await end(
            line.split(separator: " ").map(String.init), input: input, before: before,
            environment: environment, user: user)
    }

    func darkroom(
        _ words: String..., environment: [String: String] = [:], before: String = ":"
    ) async throws -> ClientProcess.Result {
        try await end(words, before: before, environment: environment)
    }

    /// What a status says of each image: its state, and its output or error.
    func digests(_ folder: String) throws -> [String] {
        try #require(try status(folder)).images.map {
            "\($0.name) \($0.state.rawValue) \($0.output?.sha256 ?? $0.error?.code ?? "")"
        }
    }

    /// What must hold for a run that has ended: nothing is left in `active`, the files are those of the status and
    /// their content is what it says.
    func checkOutcome(
        of folder: String = "out", and others: [String] = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let status = try #require(try status(folder), sourceLocation: sourceLocation)
        #expect(list("\(folder)/.darkroom/active") == [], sourceLocation: sourceLocation)
        #expect(
            list("\(folder)/.darkroom") == ["active", "attempts", "lock", "plan.json"],
            sourceLocation: sourceLocation)
        try checkAnswer(
            status, in: folder, and: others + [".darkroom"], sourceLocation: sourceLocation)
    }

    /// Which file each name in a folder is, and when it was written.
    func identities(of names: [String], in folder: String = "out") -> [String: String] {
        var found: [String: String] = [:]
        for name in names {
            var information = stat()
            guard lstat(url("\(folder)/\(name)").path, &information) == 0 else { continue }
            let time = information.st_mtim
            found[name] = "\(information.st_ino) \(time.tv_sec).\(time.tv_nsec)"
        }
        return found
    }
}
