import Foundation
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomFixtures
@testable import DarkroomManifest
@testable import DarkroomPicture

/// Holds darkroom-status(5) against the schemas, the states and the codes of errors.
struct ManualStatusTests {
    static let page = Result { try ManualPage("darkroom-status.5") }

    // MARK: Keys

    @Test func hasEveryKeyOfAStatus() throws {
        let page = try Self.page.get()
        let ofStatus = page.items("STATUS", "Keys of a status").flatMap(\.names)
        let ofImages = page.items("STATUS", "Keys of an image").flatMap(\.names)
        let described = ofStatus + ofImages.map { "images.\($0)" }
        let keys = Set(try JSONSchema(file: "status.schema.json").members.keys)
        // Of the last error the page says that it has the keys of the error.
        let lastError = "images.download.lastError."
        #expect(
            Set(keys.filter { $0.hasPrefix(lastError) }.map { $0.dropFirst(lastError.count) })
                == Set(
                    keys.filter { $0.hasPrefix("images.error.") }
                        .map { $0.dropFirst("images.error.".count) }))
        #expect(Set(described) == keys.filter { !$0.hasPrefix(lastError) })
        #expect(Set(described).count == described.count)
    }

    /// The words of an item.
    private static func text(of key: String, in section: String) throws -> String {
        try #require(try page.get().items(section).first { $0.names == [key] }).text
    }

    /// Each report has a count for each reason, and an item that names all states.
    @Test(arguments: [
        (
            "INBOX REPORT", "Reasons", "Keys of a report", "inbox.schema.json", "counts",
            InboxReason.allCases.map(\.rawValue), "watch",
            InboxReport.Watch.allCases.map(\.rawValue)
        ),
        (
            "FOLDERS REPORT", "Reasons of a folders report", "Keys of a folders report",
            "folders.schema.json", "folders.counts", HotFileReason.allCases.map(\.rawValue),
            "folders.state", FoldersReport.State.allCases.map(\.rawValue)
        ),
    ])
    func hasEveryKeyOfAReport(
        section: String, reasons: String, keys: String, schema: String, counts: String,
        known: [String], stateKey: String, states: [String]
    ) throws {
        let page = try Self.page.get()
        #expect(page.items(section, reasons).flatMap(\.names) == known)
        let described = page.items(section, keys).flatMap(\.names)
        #expect(
            Set(described + known.map { "\(counts).\($0)" })
                == Set(try JSONSchema(file: schema).members.keys))
        let text = try Self.text(of: stateKey, in: section)
        for state in states { #expect(text.contains(state)) }
    }

    /// Each subsection lists every key of its schema once, and no other.
    @Test(arguments: [
        ("PROGRESS", "Keys of a progress file", "progress.schema.json"),
        ("SIZES", "Keys of sizes", "sizes.schema.json"),
        ("QUEUE REPORT", "Keys of a queue report", "queue.schema.json"),
    ])
    func hasEveryKey(section: String, subsection: String, schema: String) throws {
        let described = try Self.page.get().items(section, subsection).flatMap(\.names)
        #expect(Set(described) == Set(try JSONSchema(file: schema).members.keys))
        #expect(Set(described).count == described.count)
    }

    @Test func hasEveryStateOfTheDaemon() throws {
        let text = try Self.text(of: "state", in: "QUEUE REPORT")
        for state in QueueReport.State.allCases { #expect(text.contains(state.rawValue)) }
    }

    @Test func hasEveryState() throws {
        let page = try Self.page.get()
        #expect(
            page.items("DESCRIPTION", "States of a batch").flatMap(\.names)
                == BatchState.allCases.map(\.rawValue))
        #expect(
            page.items("DESCRIPTION", "States of an image").flatMap(\.names)
                == ImageState.allCases.map(\.rawValue))
    }

    // MARK: Codes

    /// Every code that the error of an image can have. Filters and outputs of a manifest are checked when it is read.
    static let codes =
        Set(FetchError.Code.allCases.map(\.rawValue))
        .union(PictureError.Code.allCases.filter { $0 != .invalidArguments }.map(\.rawValue))
        .union(FileError.Code.allCases.map(\.rawValue))
        .union(Failure.Code.allCases.map(\.rawValue))

    @Test func hasEveryCodeAndNoOther() throws {
        let names = try Self.page.get().items("ERROR CODES").flatMap(\.names)
        #expect(Set(names) == Self.codes)
        #expect(names.count == Self.codes.count)
    }

    /// Which downloads are retried the page says in fixed words.
    @Test(arguments: FetchError.Code.allCases)
    func saysWhichDownloadsAreRetried(code: FetchError.Code) throws {
        let text = try Self.text(of: code.rawValue, in: "ERROR CODES")
        #expect(text.contains("Retried automatically") == code.isTransient)
    }

    @Test func saysWhichAnswersAreRetried() throws {
        let text = try Self.text(of: FetchError.Code.httpStatus.rawValue, in: "ERROR CODES")
        let sentence = try #require(text.firstRange(of: " are retried automatically and retryable"))
        let before = text[..<sentence.lowerBound].split { !$0.isNumber }.compactMap { Int($0) }
        #expect(before == (100...599).filter { HTTPStatus($0).isTransient })
    }

    /// Of the codes of files, those that a status may call retryable.
    @Test func saysWhichFileErrorsPass() throws {
        let failures = [
            FileError(.write, "/x", .noSpace), FileError(.open, "/x", .tooManyOpenFiles),
            FileError(.open, "/x", .noMemory), FileError(.write, "/x", .ioError),
            FileError(.open, "/x", .permissionDenied), FileError(.write, "/x", .fileTooLarge),
        ]
        for failure in failures {
            let text = try Self.text(of: failure.code, in: "ERROR CODES")
            #expect(text.contains("Retryable") == failure.isTransient, "\(failure.code)")
        }
    }

    @Test func hasTheCodesOfWaiting() throws {
        let text = try Self.text(of: "waiting.code", in: "STATUS")
        for wait in [
            FileError(.write, "/x", .noSpace), FileError(.open, "/x", .tooManyOpenFiles),
            FileError(.open, "/x", .noMemory), FileError(.write, "/x", .readOnlyFileSystem),
            FileError(.sync, "/x", .ioError),
        ] {
            #expect(wait.storageFailure != nil)
            #expect(text.contains(wait.code))
        }
        for code in Status.Waiting.Code.allCases { #expect(text.contains(code.rawValue)) }
    }

    /// No code stands in the sources as a text of its own, where the lists above would miss it.
    @Test func findsNoFurtherCodeInTheSources() throws {
        let known = Self.codes.union(ProblemCode.allCases.map(\.rawValue))
            .union(try Self.page.get().items("INBOX REPORT", "Reasons").flatMap(\.names))
            .union(["stopping", "stopped"])
        var found = 0
        // The command's own errors are not those of a status.
        for (file, text) in try Sources.all()
        where !["Client/", "Page/", "Run/", "darkroom/"].contains(where: file.contains) {
            for match in text.matches(of: /\bcode: "([a-z0-9-]+)"/) {
                found += 1
                #expect(known.contains(String(match.1)), "\(file): \(match.1)")
            }
        }
        #expect(found > 0)
    }

    // MARK: Examples

    /// A status of the page is one, and has nothing that a status has not.
    @Test func itsStatusesAreStatuses() throws {
        let examples = try Self.page.get().examples("status")
        #expect(examples.count >= 2)
        for example in examples {
            let status = try #require(Status(decoding: Array(example.text.utf8)), "\(example)")
            #expect(status.encoded() == Array(example.text.utf8), "\(example)")
            #expect(status.counts.total == status.images.count)
            for state in ImageState.allCases {
                #expect(status.counts[state] == status.images.count { $0.state == state })
            }
            for image in status.images {
                #expect((image.state == .failed) == (image.error != nil))
                if let code = image.error?.code { #expect(Self.codes.contains(code)) }
            }
        }
    }

    @Test func itsInboxReportIsOne() throws {
        let examples = try Self.page.get().examples("inbox")
        #expect(examples.count == 1)
        for example in examples {
            let report = try JSONDecoder().decode(InboxReport.self, from: Data(example.text.utf8))
            #expect(report.encoded() == Array(example.text.utf8))
            #expect(Set(report.counts.keys) == Set(InboxReason.allCases.map(\.rawValue)))
            #expect(report.total == report.files.count)
            for file in report.files { #expect(file.help == file.reason.help) }
        }
    }
}
