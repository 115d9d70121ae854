import Foundation
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomConfiguration
@testable import DarkroomCore
@testable import DarkroomDaemon
@testable import DarkroomFetch
@testable import DarkroomFixtures
@testable import DarkroomManifest
@testable import DarkroomPicture

/// Holds the README and the documents of `etc/doc` against the repository and the program. Their examples are run by
/// `DocumentExamplesTests`.
struct DocumentTests {
    static let names = (try? MarkdownDocument.names()) ?? []

    private static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: Repository.root.appending(path: path).path)
    }

    @Test func theREADMEIsShort() throws {
        #expect(Self.names.count >= 6)
        // The last line ends with a newline, behind which the reader sees an empty one.
        #expect(try MarkdownDocument("README.md").lines.count <= 151)
    }

    @Test func theREADMELeadsToEverything() throws {
        let targets = Set(try MarkdownDocument("README.md").links.map(\.target))
        let wanted = Self.names.dropFirst() + ManualPage.names.map { "etc/man/\($0)" }
        #expect(Set(wanted).subtracting(targets) == [])
    }

    @Test func theREADMENamesEveryFilter() throws {
        let text = try MarkdownDocument("README.md").lines.joined(separator: " ")
        let sentence = try #require(text.firstMatch(of: /all keys and the filters: ([^.]+)\./))
        #expect(
            sentence.1.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
                == FilterCatalog.all.map(\.name))
    }

    // MARK: Places

    @Test(arguments: names) func linksLeadSomewhere(name: String) throws {
        let document = try MarkdownDocument(name)
        let folder = (name as NSString).deletingLastPathComponent
        for link in document.links where !link.target.contains("://") {
            let parts = link.target.split(
                separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            let path = (folder as NSString).appendingPathComponent(String(parts[0]))
            let target = parts[0].isEmpty ? name : (path as NSString).standardizingPath
            #expect(Self.exists(target), "\(name):\(link.line): \(link.target)")
            guard parts.count == 2 else { continue }
            #expect(
                try MarkdownDocument(target).anchors.contains(String(parts[1])),
                "\(name):\(link.line): \(link.target)")
        }
    }

    @Test(arguments: names) func pathsAreThere(name: String) throws {
        let document = try MarkdownDocument(name)
        for path in document.paths {
            let text = path.text.trimmingCharacters(in: [":", ",", ";"])
            #expect(Self.exists(text), "\(name):\(path.line): \(text)")
        }
    }

    /// What the sources declare as a type, wherever.
    private static let types = Result {
        let keywords: Set<Substring> = ["struct", "class", "enum", "protocol", "typealias"]
        var types: Set<String> = []
        for line in try Sources.all().flatMap({ $0.text.split(separator: "\n") }) {
            let words = line.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
            for (word, next) in zip(words, words.dropFirst()) where keywords.contains(word) {
                types.insert(String(next))
            }
        }
        return types
    }

    /// Types, targets and files that are named without their folder.
    @Test(arguments: names) func namesInCodeAreThere(name: String) throws {
        let document = try MarkdownDocument(name)
        let types = try Self.types.get()
        let files = Set(try Sources.all().map { ($0.file as NSString).lastPathComponent })
        let foreign: Set = ["Operation", "BlockOperation", "OperationQueue", "Mutex"]
        for span in document.spans {
            if span.text.wholeMatch(of: /[A-Z][a-z]+[A-Za-z]*/) != nil {
                #expect(
                    types.contains(span.text) || foreign.contains(span.text),
                    "\(name):\(span.line): \(span.text)")
            } else if span.text.wholeMatch(of: /C[A-Z][a-z]+/) != nil {
                #expect(Self.exists("Sources/\(span.text)"), "\(name):\(span.line): \(span.text)")
            } else if span.text.wholeMatch(of: /[A-Za-z+]+\.swift/) != nil {
                #expect(
                    files.contains(span.text) || Self.exists(span.text),
                    "\(name):\(span.line): \(span.text)")
            }
        }
    }

    /// The folders at the root that a document may speak of: those of each Debian machine.
    private static let places: Set = [
        "/bin", "/dev", "/etc", "/lib", "/media", "/mnt", "/opt", "/proc", "/run", "/sbin", "/srv",
        "/sys",
        "/tmp", "/usr", "/var",
    ]

    @Test(arguments: names) func nameNoPlaceOfOneMachine(name: String) throws {
        for line in try MarkdownDocument(name).lines {
            // Absolute paths, wherever in a line one begins; the end of an element is none.
            for word in line.replacing("</", with: "").split(whereSeparator: {
                " \t`\"'()[]{}<>|=,:;".contains($0)
            })
            where word.prefixMatch(of: /\/[a-zA-Z]/) != nil {
                let root = "/" + word.dropFirst().prefix { $0 != "/" && $0 != "." }
                #expect(Self.places.contains(root), "\(name): \(line)")
            }
        }
    }

    // MARK: The map

    private static let changes = [
        "a filter", "a parameter of a filter", "a picture format to read",
        "a picture format to write", "an option of results", "a colour space of results",
        "a kind of source", "a manifest format", "a manifest key", "a setting",
        "a control command", "which batch, owner or host is next", "when a download is retried",
        "how long a disk that refuses is left alone", "an error code", "a journal record",
        "a metric", "an option of `darkroomd`", "a command or an option of `darkroom`",
    ]

    /// Each change names the file that decides, and one that people read. That all are there is seen by
    /// `pathsAreThere`.
    @Test func theMapHasEachChange() throws {
        let document = try MarkdownDocument("etc/doc/architecture.md")
        let rows = document.rows.filter { $0.heading == "Where to make a change" }.dropFirst(2)
        #expect(rows.map { $0.cells[0] } == Self.changes)
        for row in rows {
            let paths = row.cells[1].matches(of: /`([^`]+)`/).map { String($0.1) }
                .filter { $0.contains("/") }
            let first = try #require(paths.first)
            #expect(first.hasPrefix("Sources/") && first.hasSuffix(".swift"), "\(row.cells[0])")
            #expect(
                paths.contains { $0.hasPrefix("etc/man/") || $0.hasPrefix("systemd/") },
                "\(row.cells[0])")
        }
    }

    /// The Swift targets of the library, in their order. Folders of C begin with two capitals, or are
    /// those of the codec programs.
    @Test func theTargetsAreThoseOfThePackage() throws {
        let package = try Repository.text("Package.swift")
        let targets = package.matches(of: /path: "Sources\/((?!Codec)[A-Z][a-z]\w*)"/).map {
            String($0.1)
        }
        let drawn = try #require(
            try MarkdownDocument("etc/doc/architecture.md").blocks.first {
                $0.text.hasPrefix("Core → ")
            })
        let stations = drawn.text.trimmingCharacters(in: .newlines)
            .components(separatedBy: " → ").filter { $0 != "darkroomd" }
        #expect(stations == targets)
    }

    /// The engine does not stand on the library of the command.
    @Test func onlyTheCommandUsesTheClient() throws {
        let users = try Sources.all().filter { $0.text.contains("import DarkroomClient\n") }
        #expect(Set(users.map { $0.file.prefix { $0 != "/" } }) == ["darkroom"])
    }

    // MARK: Names of the program

    @Test(arguments: names) func mentionsWhatThereIs(name: String) throws {
        let document = try MarkdownDocument(name)
        let sections = Set(Setting.all.compactMap { $0.key.split(separator: ".").first })
        let scripts = try ManualPage("darkroomd.8").examples("script").map { $0.words[0] }
        for span in document.spans {
            if let match = span.text.wholeMatch(of: /([a-z]+)\.([A-Za-z]+)/),
                sections.contains(match.1), !["json", "yaml", "md"].contains(match.2)
            {
                #expect(Setting.named(span.text) != nil, "\(name):\(span.line): \(span.text)")
            }
            if span.text.wholeMatch(of: /[a-z]+(-[a-z]+)+/) != nil, !scripts.contains(span.text) {
                #expect(Self.codes.contains(span.text), "\(name):\(span.line): \(span.text)")
            }
        }
        let families = try Exposition(MetricsText.write(Metrics(), MetricsMoment())).families
        for match in document.lines.joined(separator: "\n").matches(of: /\bdarkroom_[a-z_]+/) {
            #expect(families[String(match.0)] != nil, "\(name): \(match.0)")
        }
    }

    private static let codes = ManualStatusTests.codes
        .union(PictureError.Code.allCases.map(\.rawValue))
        .union(ProblemCode.allCases.map(\.rawValue))
        .union(InboxReason.allCases.map(\.rawValue))
        .union(Status.Waiting.Code.allCases.map(\.rawValue))

    /// What is said of the unit's limits stands in the unit.
    @Test func theLimitsAreThoseOfTheUnit() throws {
        let unit = try Repository.text("systemd/darkroomd.service").split(separator: "\n").map(
            String.init)
        let rows = try MarkdownDocument("etc/doc/security.md").rows
            .filter { $0.heading == "Limits of the service" }.dropFirst(2)
        let limits = rows.flatMap { $0.cells[0].matches(of: /`([^`]+)`/).map { String($0.1) } }
        #expect(limits.count >= 6)
        #expect(limits.filter { !unit.contains($0) } == [])
    }

    // MARK: Examples

    /// Whatever a reader may copy is marked as what it is, so that the tests know it.
    @Test(arguments: ["README.md", "etc/doc/cookbook.md"])
    func marksWhatMayBeCopied(name: String) throws {
        for block in try MarkdownDocument(name).blocks
        where ["sh", "yaml", "json"].contains(block.language) {
            #expect(block.example != nil, "\(name):\(block.line)")
        }
    }

    @Test(arguments: ["README.md", "etc/doc/cookbook.md"])
    func itsManifestsAreGood(name: String) throws {
        let examples = try MarkdownDocument(name).examples("manifest")
        #expect(!examples.isEmpty)
        for example in examples {
            let format = try #require(ManifestFormat(fileName: example.words[0]))
            _ = try ManifestReader.read(
                Array(example.text.utf8), format: format, defaultFilters: [])
        }
    }

    @Test func itsConfigurationsAreGood() throws {
        var texts = try MarkdownDocument("etc/doc/cookbook.md").examples("configuration").map(
            \.text)
        texts.append(try Self.firstSetting() + "\n")
        let own = try ManualPage("darkroomd.yaml.5").examples("configuration").map(\.text)
        texts += try own + ManualPage("darkroom-metrics.7").examples("configuration").map(\.text)
        #expect(own.count >= 2 && texts.count >= 4 + own.count)
        let scratch = try ScratchDirectory()
        let path = scratch.path + "/darkroomd.yaml"
        for text in texts {
            try text.write(toFile: path, atomically: false, encoding: .utf8)
            let loaded = try ConfigurationLoader(path: path, environment: [:]).load()
            #expect(loaded != Configuration(), "\(text)")
        }
    }

    /// Examples in Swift are parts of a package that `Tests/run.sh outside` builds.
    @Test func itsSwiftIsCompiled() throws {
        var count = 0
        for name in Self.names {
            for block in try MarkdownDocument(name).blocks where block.language == "swift" {
                let example = try #require(block.example, "\(name):\(block.line)")
                #expect(example.kind == "source", "\(name):\(block.line)")
                try Self.expect(example.text, in: example.words[0], "\(name):\(block.line)")
                count += 1
            }
        }
        #expect(count >= 6)
    }

    /// So are those in comments.
    @Test func theSwiftOfCommentsIsCompiled() throws {
        var count = 0
        for (file, text) in try Sources.all() {
            let blocks = text.matches(of: #/(?s)/// ```swift\n(.+?)/// ```/#)
            for block in blocks {
                let code = String(block.1.replacing("///", with: ""))
                try Self.expect(code, in: "Tests/outside/Sources/everything/main.swift", file)
                count += 1
            }
        }
        #expect(count == 2)
    }

    /// Whether a file has these lines one after the other, however they are indented.
    private static func expect(_ code: String, in file: String, _ place: String) throws {
        let whole = try Repository.text(file)
        let (wanted, lines) = (Self.lines(of: code), Self.lines(of: whole))
        #expect(!wanted.isEmpty)
        let starts = lines.indices.filter { lines[$0...].starts(with: wanted) }
        #expect(!starts.isEmpty, "\(place): not in \(file)")
    }

    private static func lines(of code: String) -> [String] {
        code.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
    }

    /// The line that the README adds to the configuration.
    private static func firstSetting() throws -> String {
        let setup = try #require(try MarkdownDocument("README.md").examples("setup").first)
        return String(try #require(setup.text.firstMatch(of: /echo '(.+)' \|/)).1)
    }

    /// The sources of the README's manifest lie where the package puts them.
    @Test func theFirstManifestNamesPicturesOfThePackage() throws {
        let setting = try Self.firstSetting()
        let root = try #require(setting.wholeMatch(of: /sources\.roots: \[\/(.+)\]/)).1
        let packaged = try Repository.text("Tests/package/contents")
        let example = try #require(try MarkdownDocument("README.md").examples("manifest").first)
        let manifest = try ManifestReader.read(
            Array(example.text.utf8), format: .yaml, defaultFilters: [])
        for image in manifest.images {
            guard let source = image.source else { continue }
            #expect(packaged.contains("644 \(root)/\(source.text)\n"))
        }
    }

    // MARK: The plots

    @Test(arguments: [("plot.sh", "speed.svg"), ("frontier.sh", "frontier.svg")])
    func aPlotIsThatOfTheTables(_ script: String, plot: String) throws {
        let (status, drawn) = try SystemProgram.run(
            "/bin/bash", [Repository.root.appending(path: "etc/\(script)").path])
        #expect(status == 0)
        #expect(
            try drawn == Data(contentsOf: Repository.root.appending(path: "etc/doc/\(plot)")))
    }
}
