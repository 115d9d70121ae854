import Testing

@testable import DarkroomConfiguration
@testable import DarkroomCore

struct FaultPointTests {
    @Test func readsANameAndANumber() throws {
        let plain = try #require(ArmedFault("claim-moved"))
        #expect(plain.point == .claimMoved)
        #expect(plain.isDue(at: .claimMoved))
        let third = try #require(ArmedFault("status-moved:3"))
        let passings = (0..<5).map { _ in third.isDue(at: .statusMoved) }
        #expect(passings == [false, false, true, false, false])
        // It counts its own passings only.
        let fault = try #require(ArmedFault("claim-moved:2"))
        #expect(!fault.isDue(at: .claimMoved))
        #expect(!fault.isDue(at: .claimFolderMade))
        #expect(fault.isDue(at: .claimMoved))
    }

    @Test(arguments: [
        "", "claim", "claim-moved:", "claim-moved:0", "claim-moved:-1", "claim-moved:1:1",
    ])
    func refuses(text: String) throws {
        #expect(ArmedFault(text) == nil)
        let problem = try #require(FaultPoint.problem(with: text))
        #expect(problem.contains("\"\(text)\" is not a fault point"))
        #expect(problem.contains("claim-folder-made"))
    }

    @Test func leavesPicturesFaultsToOthers() {
        #expect(FaultPoint.problem(with: "decode=x:kill") == nil)
        #expect(FaultPoint.problem(with: "claim-moved:2") == nil)
    }

    /// A misspelt point would otherwise test nothing.
    @Test func theConfigurationKnowsTheVariable() {
        func problems(_ text: String) -> [String] {
            ConfigurationLoader(path: nil, environment: [FaultPoint.variable: text])
                .resolve().problems.map(\.message)
        }
        #expect(problems("active-removed:7") == [])
        #expect(
            problems("active-removd").first?.hasPrefix("environment variable DARKROOM_FAULT: ")
                == true)
    }
}
