import Testing

@testable import DarkroomConfiguration
@testable import DarkroomCore
@testable import DarkroomDaemon
@testable import DarkroomSpool

struct ExitCodeTests {
    struct Nothing: Error {}

    /// Which of them systemd does not start again stands in the unit, RestartPreventExitStatus=.
    @Test(arguments: [
        (FileError(.createFolder, "/spool", .permissionDenied), ExitCode.noPermission, 77),
        (FileError(.createFolder, "/spool", .notPermitted), .noPermission, 77),
        (FileError(.open, "/spool", .ioError), .ioError, 74),
        (FileError(.write, "/spool", .noSpace), .ioError, 74),
        (FileError(.open, "/spool", .tooManyOpenFiles), .systemError, 71),
    ])
    func followsTheError(error: FileError, code: ExitCode, number: Int) {
        #expect(ExitCode(of: error) == code)
        #expect(Int(code.rawValue) == number)
    }

    @Test func knowsErrorsOfOtherKinds() {
        #expect(ExitCode(of: ConfigurationError(problems: ["x"])) == .configuration)
        let locked = SpoolError.locked(spool: "/s", holder: "another")
        #expect(ExitCode(of: locked) == .temporaryFailure)
        #expect(ExitCode(of: Nothing()) == .systemError)
    }
}
