import Testing

@testable import DarkroomClient
@testable import DarkroomCore

struct SentSourcesTests {
    static let places: [(String, [FileName]?, [[FileName]])] = [
        ("a.png", ["a.png"], []), ("/a.png", ["a.png"], []), ("//x///a.png", ["x", "a.png"], []),
        ("./x/./a.png", ["x", "a.png"], []), ("x/../a.png", ["a.png"], [["x"]]),
        ("/x/y/../../a.png", ["a.png"], [["x", "y"], ["x"]]), ("../a.png", nil, []),
        ("x/../../a.png", nil, []), ("/../a.png", nil, []), ("/", nil, []), (".", nil, []),
        ("x/..", nil, []), ("/x/a\nb.png", ["x", "a\nb.png"], []),
    ]

    @Test(arguments: places)
    func haveAPlaceInTheFolder(path: String, place: [FileName]?, passed: [[FileName]]) {
        let found = SentSources.places(of: path)
        #expect(found?.place == place)
        #expect(found?.passed ?? [] == passed)
    }

    @Test func foldersHaveNamesThatAreTaken() throws {
        #expect(try SubmissionName.ofFolder("x.2026", isChosen: true) == "x.2026")
        for name in ["x.hold", "x.part", "x~"] {
            #expect(try SubmissionName.ofFolder(name, isChosen: false) == name + "_")
            let error = #expect(throws: ClientError.self) {
                try SubmissionName.ofFolder(name, isChosen: true)
            }
            #expect(error?.exit == .usage && error?.code == "bad-name")
        }
    }
}
