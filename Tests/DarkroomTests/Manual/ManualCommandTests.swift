import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomClient
@testable import DarkroomFixtures
@testable import DarkroomRun

/// Holds darkroom(1) against the command. Its options and examples are run by `CommandManualTests`.
struct ManualCommandTests {
    static let page = Result { try ManualPage("darkroom.1") }

    @Test func hasEveryExitCode() throws {
        let items = try Self.page.get().items("EXIT STATUS")
        #expect(items.flatMap(\.names) == ClientExit.allCases.map { String($0.rawValue) })
    }

    @Test func describesEachCommandToABatchAsTheTableDoes() throws {
        let items = try Self.page.get().items("COMMANDS")
        for command in ControlCommand.allCases {
            let item = try #require(items.first { $0.names.first == command.rawValue })
            #expect(item.text.hasPrefix(command.form.manualText), "\(item.text)")
        }
    }

    /// Every variable that the sources ask for.
    @Test func hasEveryVariable() throws {
        var asked = try Sources.variables(ofCommand: true)
        asked.insert(SpoolLocation.variable)
        asked.formUnion(["LC_ALL", "LC_CTYPE", "LANG"] + ShardRequest.variables)
        let items = try Self.page.get().items("ENVIRONMENT")
        #expect(Set(items.flatMap(\.names)) == asked)
    }

    @Test func namesTheModesOfProgress() throws {
        let options = try Self.page.get().items("OPTIONS")
        let progress = try #require(options.first { $0.names.first == "-progress" })
        #expect(progress.children.flatMap(\.names) == ProgressMode.allCases.map(\.rawValue))
    }
}
