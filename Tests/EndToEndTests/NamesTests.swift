import DarkroomAnswer
import DarkroomCore
import Foundation
import TestSupport
import Testing

/// Names in many scripts, as long as a file's may be, and names that are no text at all: of manifests, of images and
/// of control files.
@Suite(.fewAtATime) struct NamesTests {
    /// What stands before the extension of a name, in pieces that are not to be cut: scalars, or bytes that are no
    /// text.
    struct Stem: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let pieces: [[UInt8]]

        init(_ name: String, _ text: String) {
            testDescription = name
            pieces = text.unicodeScalars.map { Array(String($0).utf8) }
        }

        init(_ name: String, bytes: [UInt8]) {
            testDescription = name
            pieces = bytes.map { [$0] }
        }

        var bytes: [UInt8] { Array(pieces.joined()) }

        /// Repeated to so many bytes.
        func filled(to count: Int) -> [UInt8] {
            var filled: [UInt8] = []
            var index = 0
            while filled.count + pieces[index % pieces.count].count <= count {
                filled += pieces[index % pieces.count]
                index += 1
            }
            return filled + [UInt8](repeating: UInt8(ascii: "x"), count: count - filled.count)
        }
    }

    private static let hangul = "여름휴가사진 "

    static let scripts = [
        Stem("Latin", "Übergrößen, façade · "),
        Stem("Cyrillic", "Фотографії зі Львова "),
        Stem("Greek", "Φωτογραφίες της Αθήνας "),
        Stem("Arabic", "صور العطلة "),
        Stem("Hebrew", "תמונות מהחופשה "),
        Stem("Han", "春节照片写真集𠮷"),
        Stem("Hangul, composed", hangul.precomposedStringWithCanonicalMapping),
        Stem("Hangul, decomposed", hangul.decomposedStringWithCanonicalMapping),
        Stem("Devanagari", "छुट्टियों की तस्वीरें "),
        Stem("Thai", "รูปถ่ายวันหยุด"),
        Stem("emoji with joiners", "👩‍👩‍👧‍👦🏳️‍🌈👍🏽🇺🇦"),
        Stem("combining marks", "\u{301}z\u{335}\u{321}\u{327}a\u{334}\u{32b}"),
        // Signs that join what follows, a dot say.
        Stem("signs before numbers", "\u{600}\u{6DD}\u{110BD}"),
        Stem("controls", "a\u{1b}[31m\n\t\u{7f}\u{85}\u{2028}"),
        Stem("turns of direction", "a" + turns.map(String.init).joined()),
        Stem("no UTF-8", bytes: [0xff, 0x66, 0xfc, 0x72, 0xc0, 0xaf, 0xed, 0xa0, 0x80]),
    ]

    /// Short names, each of which is a manifest's before `.json`. Those that look or are the same to Unicode are
    /// different files.
    static let stems =
        [
            "é", "e\u{301}", "Å", "A\u{30a}", "\u{212b}", "A", "a", " a", "a ", " ", "\u{a0}",
            "\u{3000}", "\u{feff}bom", "\u{202e}nosj", "\u{301}", "\u{600}", "x\u{600}",
            "\u{6DD}.\u{6DD}", "-rf", "~a", "a~", "a.", "a.json", "a.tmp", "a.cancel",
            "status.json", "manifest", "quote\"back\\slash", "$(id) `id` %s", "* ?", "con", "a-2",
            "İI", "\r\n",
        ].map { Stem($0, $0) } + [
            Stem("Latin-1", bytes: [0x66, 0xfc, 0x72]), Stem("Latin-2", bytes: [0x66, 0xfd, 0x72]),
            Stem("a cut emoji", bytes: [0xf0, 0x9f, 0x91]),
        ]

    /// An ID: the text before the extension, what is no text or breaks a line shown as U+FFFD, of at most 200 bytes.
    private static func id(of stem: [UInt8]) -> String {
        var id = String.UnicodeScalarView()
        var count = 0
        for scalar in shown(stem).unicodeScalars {
            count += String(scalar).utf8.count
            if count > 200 { break }
            id.append(scalar)
        }
        return String(id)
    }

    /// The marks that turn the direction of text.
    private static let turns: [Unicode.Scalar] = [
        "\u{61c}", "\u{200e}", "\u{200f}", "\u{202a}", "\u{202b}", "\u{202c}", "\u{202d}",
        "\u{202e}", "\u{2066}", "\u{2067}", "\u{2068}", "\u{2069}",
    ]

    private static func shown(_ name: [UInt8]) -> String {
        let scalars = String(decoding: name, as: UTF8.self).unicodeScalars.map { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: "\u{fffd}" as Unicode.Scalar
            default: turns.contains(scalar) ? "\u{fffd}" : scalar
            }
        }
        return String(String.UnicodeScalarView(scalars))
    }

    // MARK: The spool

    /// A spool and a picture for all.
    private struct Place {
        let spool: SpoolFixture
        let pictures: ScratchDirectory

        init() throws {
            spool = try SpoolFixture()
            try spool.makeFolders()
            pictures = try ScratchDirectory()
            try pictures.write(DaemonFixture.picture, to: "picture.png")
        }

        func run() async throws -> DaemonProcess {
            try await DaemonProcess.run(
                spool: spool.path,
                settings: ["sources.roots": pictures.path, "durability": "process"])
        }

        func drop(_ stem: [UInt8], image: String) throws {
            let manifest = try DaemonFixture.json([
                "images": [["name": image, "source": "picture.png"]]
            ])
            try spool.drop(stem + Array(".json".utf8), Array(manifest.utf8))
        }

        func give(_ command: ControlCommand, to stem: [UInt8]) throws {
            try spool.drop(stem + Array(".\(command.rawValue)".utf8), [])
        }

        func names(_ folder: FileName) throws -> [FileName] {
            try Directory(folder, in: Directory(path: spool.path)).names()
        }

        /// The status in the outbox's folder of exactly this name; nil where there is none.
        func status(_ id: FileName) throws -> Status? {
            let outbox = try Directory("outbox", in: Directory(path: spool.path))
            guard try outbox.exists(id) else { return nil }
            return Status(decoding: try Directory(id, in: outbox).read("status.json"))
        }

        /// The statuses of all entries of the outbox when nothing waits and nothing is in work.
        func answers(_ daemon: DaemonProcess, _ count: Int) async throws -> [FileName: Status] {
            try await daemon.waitUntil("\(count) answers") { _ in
                guard try names("outbox").count >= count, try names("active").isEmpty else {
                    return false
                }
                return try names("inbox").isEmpty
            }
            var answers: [FileName: Status] = [:]
            for name in try names("outbox") { answers[name] = try status(name) }
            return answers
        }

        func outputs(_ id: FileName) throws -> Set<FileName> {
            let outbox = try Directory("outbox", in: Directory(path: spool.path))
            return Set(try Directory(id, in: outbox).names())
                .subtracting(["status.json", "progress.json", "manifest.json"])
        }
    }

    // MARK: Manifests

    @Test func everyManifestGetsOneAnswerUnderItsName() async throws {
        let stems =
            Self.stems.map(\.bytes)
            + Self.scripts.flatMap { [$0.filled(to: 195), $0.filled(to: 250)] }
        let place = try Place()
        for (index, stem) in stems.enumerated() { try place.drop(stem, image: "image-\(index)") }
        let daemon = try await place.run()
        let answers = try await place.answers(daemon, stems.count)

        // Only names that are shown alike share an ID, and then with numbers.
        let shared = Dictionary(grouping: stems) { FileName(Self.id(of: $0)) }
        let ids = shared.mapValues(\.count).flatMap { id, count in
            (1...count).map { $0 == 1 ? id : FileName("\(id.text)-\($0)") }
        }
        #expect(Set(answers.keys) == Set(ids))
        #expect(ids.count == stems.count && ids.contains("f\u{fffd}r-2"))
        for (index, stem) in stems.enumerated() {
            let found = answers.filter { $0.value.images.first?.name == "image-\(index)" }
            #expect(found.count == 1, "\(Self.shown(stem))")
            guard let (folder, status) = found.first else { continue }
            #expect(status.state == .completed)
            #expect(Array(status.id.utf8) == folder.bytes)
            #expect(Array(status.manifest.name.utf8) == Array((Self.shown(stem) + ".json").utf8))
            #expect(try place.outputs(folder) == ["image-\(index).png"])
            #expect(folder.bytes.starts(with: Array(Self.id(of: stem).utf8)))
        }
        // A line of the log stays a line, and shows no control character.
        #expect(
            !daemon.outputText.unicodeScalars.contains {
                $0 != "\n" && $0.properties.generalCategory == .control || Self.turns.contains($0)
            })
        #expect(try await daemon.stop() == .exited(0))
    }

    /// One after the other under each spelling, thrice.
    @Test func numbersEachSpellingByItself() async throws {
        let place = try Place()
        let daemon = try await place.run()
        var expected: Set<FileName> = []
        for turn in 1...3 {
            for spelling in ["é", "e\u{301}"] {
                try place.drop(Array(spelling.utf8), image: "a")
                expected.insert(FileName(turn == 1 ? spelling : "\(spelling)-\(turn)"))
                let count = expected.count
                #expect(Set(try await place.answers(daemon, count).keys) == expected)
            }
        }
    }

    /// A name that says "not yet" says so in any script.
    @Test func leavesAloneWhatIsNotMeantForIt() async throws {
        let place = try Place()
        let names = Self.scripts.flatMap { stem in
            [".tmp", ".part", "~"].map { stem.bytes + Array($0.utf8) }
        }
        for name in names { try place.spool.drop(name, Array("{}".utf8)) }
        let daemon = try await place.run()
        try place.drop(Array("last".utf8), image: "a")
        try await daemon.waitUntil("the last one") { _ in
            try place.status("last")?.state == .completed
        }
        #expect(Set(try place.names("inbox")) == Set(names.map { FileName(bytes: $0) }))
        #expect(!daemon.outputText.contains("is not taken"))
    }

    // MARK: Images

    @Test func imagesHaveAnyNameOf200Bytes() async throws {
        let refused = ["controls", "turns of direction", "no UTF-8"]
        let texts = Self.scripts.filter { !refused.contains($0.testDescription) }
        let names = texts.flatMap {
            [$0.filled(to: 200), $0.bytes].map { String(decoding: $0, as: UTF8.self) }
        }
        let place = try Place()
        let images = names.map { ["name": $0, "source": "picture.png"] }
        try place.spool.drop("images.json", try DaemonFixture.json(["images": images]))
        let daemon = try await place.run()
        let status = try #require(try await place.answers(daemon, 1)["images"])
        #expect(status.state == .completed)
        #expect(status.images.map { Array($0.name.utf8) } == names.map { Array($0.utf8) })
        #expect(try place.outputs("images") == Set(names.map { FileName($0 + ".png") }))
    }

    // MARK: Control files

    /// A manifest whose name leaves room for nothing behind that of a control file of this kind.
    @Test(arguments: [ControlCommand.cancel, .release, .retry])
    func controlFilesActOnTheLongestNames(command: ControlCommand) async throws {
        let place = try Place()
        let stems = Self.scripts.map { $0.filled(to: 255 - ".\(command.rawValue)".utf8.count) }
        for (index, stem) in stems.enumerated() {
            try place.drop(stem, image: "image-\(index)")
            try place.give(.hold, to: stem)
        }
        let daemon = try await place.run()
        let ids = stems.map { FileName(Self.id(of: $0)) }
        try await daemon.waitUntil("all to be held") { _ in
            try ids.allSatisfy { try place.status($0)?.state == .held }
                && place.names("inbox").isEmpty
        }
        if command == .retry {
            // By the IDs, for `.cancel` has no room.
            for id in ids { try place.give(.cancel, to: id.bytes) }
            _ = try await place.answers(daemon, ids.count)
        }
        for stem in stems { try place.give(command, to: stem) }
        let expected: [ControlCommand] =
            command == .retry ? [.hold, .cancel, .retry] : [.hold, command]
        try await daemon.waitUntil("all to be obeyed") { _ in
            try ids.allSatisfy {
                let status = try place.status($0)
                return status?.state.isFinal == true && status?.commands?.map(\.command) == expected
            }
        }
        let answers = try await place.answers(daemon, ids.count)
        #expect(Set(answers.keys) == Set(ids))
        for (index, id) in ids.enumerated() {
            #expect(answers[id]?.state == (command == .cancel ? .cancelled : .completed))
            #expect(answers[id]?.images.map(\.name) == ["image-\(index)"])
        }
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func controlsTellSpellingsApart() async throws {
        let place = try Place()
        for spelling in ["é", "e\u{301}"] { try place.drop(Array(spelling.utf8), image: "a") }
        try place.give(.hold, to: Array("e\u{301}".utf8))
        let daemon = try await place.run()
        try await daemon.waitUntil("one of two to be done") { _ in
            try place.status("é")?.state == .completed
                && place.status("e\u{301}")?.state == .held
        }
        try place.give(.cancel, to: Array("e\u{301}".utf8))
        let answers = try await place.answers(daemon, 2)
        #expect(answers["e\u{301}"]?.state == .cancelled)
        #expect(answers["é"]?.commands == nil)
    }
}
