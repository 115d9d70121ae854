import Foundation
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomClient
@testable import DarkroomCore
@testable import DarkroomFixtures
@testable import DarkroomRun
@testable import DarkroomSpool

/// What is said of a status that somebody has altered.
final class StatusDefectTests: FolderSuite {
    /// A text of a good status, what stands in its place, and what is said.
    static let changes: [(String, String, String)] = [
        (
            #""file" : "a.png""#, #""file" : "../../etc/passwd""#,
            "images[0].output.file: ../../etc/passwd is not the name of a file in the folder"
        ),
        (
            #""file" : "a.png""#, #""file" : "/etc/passwd""#,
            "images[0].output.file: /etc/passwd is not the name of a file in the folder"
        ),
        (
            #""file" : "a.png""#, #""file" : "..""#,
            "images[0].output.file: .. is not the name of a file in the folder"
        ),
        (
            #""file" : "a.png""#, #""file" : "\#(String(repeating: "a", count: 500))""#,
            "images[0].output.file: \(String(repeating: "a", count: 100))…"
        ),
        (
            #""file" : "manifest.json""#, #""file" : "../x""#,
            "manifest.file: ../x is not the name of a file in the folder"
        ),
        (
            #""attempts" : 1"#, #""attempts" : "one""#,
            "images[0].attempts: it has a value of another type"
        ),
        (#""name" : "b","#, "", "images[1].name: it is missing"),
        (#""name" : "b""#, #""name" : null"#, "images[1].name: it is null"),
        (#""name" : "b""#, #""name" : x"#, "images[1]: it is not JSON"),
        (
            #""schemaVersion" : 1"#, #""schemaVersion" : 7"#,
            "schemaVersion: 7 is not a version it knows"
        ),
        (#""schemaVersion" : 1"#, #"schemaVersion"#, StatusDefect.unknown),
    ]

    @Test(arguments: changes)
    func namesTheField(old: String, new: String, sentence: String) throws {
        let text = String(decoding: Status.full.encoded(), as: UTF8.self)
        #expect(text.contains(old))
        try folder.write(
            Array(text.replacing(old, with: new, maxReplacements: 1).utf8),
            to: BatchFile.status, durably: false)
        #expect(StatusDefect.sentence(in: folder) == sentence)
        #expect(try Status(in: folder) == nil)

        let path = folder.path(of: BatchFile.status)
        #expect(throws: ClientError.self) {
            try BatchDetails(ofRunIn: folder.path, images: .all).json { _ in }
        }
        #expect(
            ClientError(.unreadableStatus(in: folder))
                == ClientError.unreadable(path, sentence))
        #expect(
            RunError(unreadableStatusIn: folder).message == "\(path): \(sentence)")
    }

    @Test func aGoodOneHasNone() throws {
        try folder.write(Status.full.encoded(), to: BatchFile.status, durably: false)
        #expect(StatusDefect.sentence(in: folder) == StatusDefect.unknown)
        var frame = Status.full
        frame.images = []
        #expect(try BatchDetails(ofRunIn: folder.path).status == frame)
    }
}
