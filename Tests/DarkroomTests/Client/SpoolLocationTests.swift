import Foundation
import TestSupport
import Testing

@testable import DarkroomClient

struct SpoolLocationTests {
    /// As the daemon reads it: a value of one word is text, whatever YAML takes it for.
    @Test(
        arguments: [
            ("spool: /srv/spool\n", "/srv/spool"),
            ("log: {level: info}\n'spool': '/a b'\n", "/a b"),
            ("spool: 2026\n", "2026"), ("spool: yes\n", "yes"),
            // No such key, no value, no file.
            ("log: {spool: /srv}\n", nil), ("spool:\n", nil), ("spool: ~\n", nil), ("", nil),
            ("spool: [/srv]\n", nil), ("- spool\n", nil), ("spool: /a\nspool: /b\n", nil),
            ("spool: {\n", nil), (nil, nil),
        ] as [(String?, String?)])
    func isReadFromTheConfiguration(text: String?, path: String?) throws {
        let folder = try ScratchDirectory()
        let file = folder.path + "/darkroomd.yaml"
        if let text { try Data(text.utf8).write(to: URL(filePath: file)) }
        #expect(
            SpoolLocation.path(option: nil, environment: [:], configuration: file)
                == path ?? SpoolLocation.standard)
    }

    @Test func theOptionComesFirstAndThenTheVariable() throws {
        let folder = try ScratchDirectory()
        let file = folder.path + "/darkroomd.yaml"
        try Data("spool: /file\n".utf8).write(to: URL(filePath: file))
        func path(_ option: String?, _ variable: String) -> String {
            SpoolLocation.path(
                option: option, environment: [SpoolLocation.variable: variable],
                configuration: file)
        }
        #expect(path("/option", "/variable") == "/option")
        #expect(path(nil, "/variable") == "/variable")
        // As a shell leaves it.
        #expect(path(nil, "") == "/file")
    }
}
