import Foundation
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomFixtures
@testable import DarkroomManifest
@testable import DarkroomPicture
@testable import DarkroomSpool

struct StatusTests {
    /// Image by image, by the scanner; what it does not know it leaves to the decoder.
    @Test(arguments: ["a", "ä \u{1F600}", "a\"b\\c/d\u{1}"])
    func comesBackFromAFolder(text: String) throws {
        let scratch = try ScratchDirectory()
        let folder = try Directory(path: scratch.path)
        var status = Status.full
        status.images[0].name = text
        status.images[0].warnings = [text, ""]
        status.images[1].error?.message = text
        status.images[1].metadata = [:]
        try folder.write(status.encoded(), to: "status.json", durably: false)
        #expect(try Status(in: folder) == status)
        for image in status.images {
            var writer = JSONWriter()
            image.write(&writer)
            #expect(ImageStatus(text: writer.text()[...]) == image)
        }
    }

    /// Each text is in memory once, and none is exchanged for another one.
    @Test func textsAreShared() {
        var texts = SharedTexts()
        for number in 0..<200 {
            let text = "text \(number % 20) \(number % 3)"
            #expect(texts.shared(text) == text)
        }
        #expect(texts.shared(nil) == nil)
    }

    @Test(arguments: [
        "{}", "", "{", #"{"attempts":1}"#, #"{"name":"a","attempts":1}"#,
        #"{"attempts":1,"milliseconds":{},"name":"a","state":"new"}"#,
        #"{"attempts":1,"milliseconds":{"downloading":0,"filtering":0,"waited":0},"name":"a","state":"old"}"#,
        #"{"attempts":1,"milliseconds":{"downloading":0,"filtering":0,"waited":0},"name":"a","state":"new"}x"#,
        #"{"attempts":1,"milliseconds":{"downloading":0,"filtering":0,"waited":0},"name":"a","output":{"bytes":1,"channels":1,"depth":8,"file":"../a","format":"png","height":1,"sha256":"0","width":1},"state":"filtered"}"#,
        #"{"attempts":01,"milliseconds":{"downloading":0,"filtering":0,"waited":0},"name":"a","state":"new"}"#,
        #"{"attempts":1,"milliseconds":{"downloading":0,"filtering":-00,"waited":0},"name":"a","state":"new"}"#,
    ]) func otherTextsAreNoImages(text: String) {
        #expect(ImageStatus(text: Array(text.utf8)[...]) == nil)
    }

    /// What an older version has written.
    @Test(arguments: ["written", "identity"]) func isReadWithoutANewKey(key: String) throws {
        let lines = String(decoding: Status.full.encoded(), as: UTF8.self).split(separator: "\n")
        var text = lines.filter { !$0.contains("\"\(key)\"") }.joined(separator: "\n")
        if key == "written" { text.replace("  },\n}", with: "  }\n}") }
        let status = try #require(Status(decoding: Array(text.utf8)))
        var expected = Status.full
        if key == "written" { expected.written = nil } else { expected.manifest.identity = nil }
        #expect(status == expected)
    }

    /// The same for values of several lines.
    @Test func isReadWithoutVersionsAndShards() throws {
        var older = Status.full
        older.versions = nil
        older.shards = nil
        older.images[0].sourceSHA256 = nil
        older.images[0].sourceIdentity = nil
        older.images[0].settingsSHA256 = nil
        older.images[0].inputsSHA256 = nil
        older.images[1].limitsSHA256 = nil
        older.images[1].libraries = nil
        older.images[0].versionsSHA256 = nil
        older.images[0].times = nil
        let text = String(decoding: older.encoded(), as: UTF8.self)
        for key in ["versions", "shards", "sourceSha256", "sourceIdentity", "settingsSha256"] {
            #expect(!text.contains(key))
        }
        #expect(Status(decoding: Array(text.utf8)) == older)
    }

    @Test func versionsAreThoseOfTheLibraries() {
        for (name, version) in PictureVersions.present.named {
            #expect(version.contains(/^[0-9]+\.[0-9]+/), "\(name) \(version)")
        }
        let old = PictureVersions(
            darkroom: "0", libpng: "2", libjpegTurbo: "3", zlib: "4", libdeflate: "5")
        #expect([old].joined(by: [.present, old]) == [old, .present])
        // Each codec's library has a name and a version, which are known once it has run.
        _ = FormatSupport.all()
        let all = PictureVersions.present(writing: Set(OutputFormat.allCases))
        #expect(all.codecs?.keys.sorted() == ["libheif", "libjxl", "libtiff", "libwebp"])
        for (name, version) in all.codecs ?? [:] {
            #expect(version.contains(/^[0-9]+\.[0-9]+/), "\(name) \(version)")
        }
        #expect(all.codecs?["libheif"]?.contains(/^[0-9.]+, aom v?[0-9]+\.[0-9]+/) == true)
        #expect(PictureVersions.present(writing: [.png, .jpeg]) == .present)
    }

    /// Parts of a manifest have outputs of different formats.
    @Test func versionsOfCodecsAreJoined() {
        func versions(_ codecs: [String: String]?) -> PictureVersions {
            PictureVersions(
                darkroom: "1", libpng: "2", libjpegTurbo: "3", zlib: "4", libdeflate: "5",
                codecs: codecs)
        }
        let (none, a, b, c) = (
            versions(nil), versions(["a": "1"]), versions(["b": "1"]),
            versions(["a": "2", "b": "1"])
        )
        #expect([none].joined(by: [a, b, none]) == [versions(["a": "1", "b": "1"])])
        #expect([a].joined(by: [c, b, a]) == [versions(["a": "1", "b": "1"]), c])
        #expect([none].joined(by: [none]) == [none])
    }

    /// So that the comparison of `full` with the text of the encoder leaves no member out.
    @Test func theFullOneHasEachMember() {
        var missing: Set<String> = []
        var present: Set<String> = []
        func look(at value: Any, _ name: String) {
            let mirror = Mirror(reflecting: value)
            guard mirror.displayStyle == .optional else {
                present.insert(name)
                for child in mirror.children {
                    look(at: child.value, child.label.map { "\(type(of: value)).\($0)" } ?? name)
                }
                return
            }
            guard let content = mirror.children.first else {
                missing.insert(name)
                return
            }
            look(at: content.value, name)
        }
        look(at: Status.full, "full")
        #expect(present.contains("ImageStatus.rareDownload") && present.contains("Status.waiting"))
        // An image is made from another one or has a source, so each member is in one of the images. The failure of the
        // storage is not written.
        #expect(missing.subtracting(present) == ["Failure.storageFailure"])
    }

    /// The text is that of Foundation's encoder, whatever is missing or empty.
    @Test func isWrittenAsByTheEncoder() throws {
        var whole = Status.full
        whole.errors?[0].suggestion = "s \u{7F}\u{1F}/\\\"\r\n"
        whole.images[0].metadata = ["é": "kept", "e": "dropped", "\"": "\u{8}\u{C}", "Z": ""]
        var empty = whole
        empty.errors = []
        empty.commands = []
        empty.images[0].warnings = []
        empty.images[0].metadata = [:]
        empty.images[0].times = .init()
        let least = Status(
            id: "", manifest: .init(name: "n", file: nil, sha256: nil, bytes: 0), state: .pending,
            times: .init(received: "r"))
        for status in [whole, empty, least] {
            #expect(
                String(decoding: status.encoded(), as: UTF8.self)
                    == String(decoding: try Self.reference(status), as: UTF8.self))
        }
    }

    private static func reference(_ status: Status) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(status)) + [UInt8(ascii: "\n")]
    }

    /// The images are written one by one; the text is that of all at once.
    @Test(arguments: [0, 1, 2, 50, 500])
    func isWrittenAsAWhole(count: Int) throws {
        var status = Status.full
        status.errors = nil
        status.images = (0..<count).map { index in
            var image = Status.full.images[index % 2]
            image.name = "\(index) ] \"images\" : [\n\t\u{2028}"
            return image
        }
        #expect(try status.encoded() == Self.reference(status))
        var longest = 0
        status.encode { longest = max(longest, $0.count) }
        #expect(longest < 66 << 10)
    }

    /// Read image by image it is what it is read at once. Whoever needs no images does not read them, whatever is in
    /// them.
    @Test func comesBackWithAndWithoutItsImages() throws {
        let scratch = try ScratchDirectory()
        let folder = try Directory(path: scratch.path)
        func write(_ bytes: some Sequence<UInt8>) throws {
            try folder.write(Array(bytes), to: "status.json", replacing: true, durably: false)
        }
        var frame = Status.full
        frame.images = []
        for status in [frame, Status.full, Self.many(3000)] {
            try write(status.encoded())
            #expect(try Status(in: folder) == status)
            #expect(try Status(frameIn: folder) == frame)
        }
        // One that somebody has written anew is read as it is.
        try write(try JSONEncoder().encode(Status.full))
        #expect(try Status(in: folder) == Status.full)
        #expect(try Status(frameIn: folder) == Status.full)
        // One image that is none.
        let text = String(decoding: Self.many(3).encoded(), as: UTF8.self)
        for broken in [
            text.replacing("\"attempts\" : 1", with: "\"attempts\" : true"),
            text.replacing("    },\n", with: "    \n"), "{",
        ] {
            #expect(broken != text)
            try write(broken.utf8)
            #expect(try Status(in: folder) == nil)
        }
        #expect(try Status(frameIn: folder) == nil)
    }

    /// A change to what stands around the images leaves them as they are.
    @Test(arguments: [0, 1, 2, 3000])
    func isAmendedAroundItsImages(count: Int) throws {
        let scratch = try ScratchDirectory()
        let spool = try Spool(path: scratch.path)
        let folders = BatchFolders(spool: spool, id: "holiday")
        try spool.active.makeDirectory("holiday")
        try spool.outbox.makeDirectory("holiday")
        var status = Self.many(count)
        /// What is in the file, except the time at which it was written, which must be a new one.
        func expectFile(_ status: Status) throws {
            var status = status
            let text = try folders.outbox().read("status.json")
            let written = Status(decoding: text)?.written.flatMap(Clock.date)
            #expect(try #require(written) > Date.now - 60)
            status.written = Status(decoding: text)?.written
            #expect(text == status.encoded())
        }
        try folders.writeStatus(status, durably: false)
        try folders.amendStatus { _ in false }
        try expectFile(status)
        func change(_ status: inout Status) -> Bool {
            status.state = .held
            status.waiting = nil
            status.commands?.append(ControlRecord(.release, time: "e", uid: 0))
            return true
        }
        _ = change(&status)
        try folders.amendStatus(change)
        try expectFile(status)
        #expect(try folders.active().names().isEmpty)
        guard count > 0 else { return }
        // One that somebody has written anew.
        try folders.outbox().write(
            Array(try JSONEncoder().encode(Self.many(count))), to: "status.json", replacing: true,
            durably: false)
        try folders.amendStatus(change)
        try expectFile(status)
    }

    /// Images whose names look like the file around them.
    private static func many(_ count: Int) -> Status {
        var many = Status.full
        many.images = (0..<count).map { index in
            var image = Status.full.images[index % 2]
            image.name = "\(index)\n    }\n  ]\n\"images\" : ["
            return image
        }
        return many
    }

    @Test(arguments: [
        "", ".", "..", "../a.png", "/etc/passwd", "a/../../x", "a//b.png", "a/", "a/./b",
        "a\u{0}b",
        String(repeating: "a", count: 300), String(repeating: "ä", count: 128),
    ])
    func refusesNamesThatLeadOutOfTheFolder(name: String) throws {
        var status = Status.full
        status.images[0].output?.file = name
        #expect(Status(decoding: status.encoded()) == nil)
        status = Status.full
        status.manifest.file = name
        #expect(Status(decoding: status.encoded()) == nil)
        #expect(Status(decoding: Status.full.encoded()) != nil)
    }

    /// A template may put an output into a folder, but nothing else is in one.
    @Test(arguments: [
        "a/b.png", "a", "...", "..a", "a..", "a b\n.png", String(repeating: "a", count: 255),
    ])
    func takesEachOtherName(name: String) throws {
        var status = Status.full
        status.images[0].output?.file = name
        #expect(Status(decoding: status.encoded()) == status)
        status.manifest.file = "a/b.json"
        #expect(Status(decoding: status.encoded()) == nil)
    }

    @Test func refusesAnotherVersion() {
        var other = Status.full
        other.schemaVersion = 2
        #expect(Status(decoding: other.encoded()) == nil)
        #expect(Status(decoding: Array("{".utf8)) == nil)
    }

    @Test(arguments: BatchState.allCases)
    func endsInAFinalState(state: BatchState) {
        #expect(state.isFinal == ![.pending, .processing, .held].contains(state))
    }

    /// Every key that a status can have is described in the schema, and the schema has no other.
    @Test func agreesWithItsSchema() throws {
        let described = Set(try JSONSchema(file: "status.schema.json").members.keys)
        let written = try JSONSchema.paths(
            of: Status.full.encoded(),
            open: ["images.libraries", "images.metadata", "versions.codecs"])
        #expect(written.subtracting(described) == [])
        #expect(described.subtracting(written) == [])
    }

    @Test func namesEveryStateInItsSchema() throws {
        let url = Repository.root.appending(path: "etc/status.schema.json")
        let text = try String(contentsOf: url, encoding: .utf8)
        let words =
            BatchState.allCases.map(\.rawValue) + ImageState.allCases.map(\.rawValue)
            + OutputFormat.allCases.map(\.rawValue) + Priority.allCases.map(\.rawValue)
        for word in words { #expect(text.contains("\"\(word)\""), "\(word)") }
    }
}
