import Foundation
import Glibc
import TestPictures
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomClient
@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomManifest
@testable import DarkroomSpool

/// Folders with pictures and without a manifest: which recipe they get, which images they become, and that `check` says
/// what the daemon says.
final class PictureFolderTests: SpoolSuite {
    let recipes: [Recipe]

    override init() throws {
        recipes = try [("web", "filters: mono\n"), ("small", "filters: {resize: 20}\n")].map {
            try Recipe(named: $0, text: $1)
        }
        try super.init()
    }

    private func make(_ paths: [String], in folder: String = "job") throws {
        let top = "\(inbox.path)/\(folder)"
        let files = FileManager.default
        try files.makeFolder(atPath: top)
        for path in paths {
            let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            let place = ([top] + parts.dropLast().map(String.init)).joined(separator: "/")
            try files.makeFolder(atPath: place)
            if !path.hasSuffix("/") { try Data().write(to: URL(filePath: "\(top)/\(path)")) }
        }
    }

    private func rules(_ recipe: String?, images: Int = 100) -> ManifestRules {
        var rules = ManifestRules(
            limits: ManifestLimits(images: images), defaultFilters: [],
            recipes: RecipeBook(recipes))
        rules.recipes.ofFolders = recipe
        return rules
    }

    private static let sources = LocalSources(roots: [], view: nil)

    private func examination(_ recipe: String?, images: Int = 100) -> Examination {
        let rules = rules(recipe, images: images)
        return Examination(
            limits: rules.limits, defaultFilters: [], settle: 3600, recipes: rules.recipes,
            sources: Self.sources.finderMaker())
    }

    /// What is said of a folder: its images with their sources, its errors, or why it is left alone.
    private static func words(_ outcome: Result<Manifest, ManifestRejection>) -> [String] {
        switch outcome {
        case .success(let manifest):
            manifest.recipes.map(\.name)
                + manifest.images.map { image in
                    guard case .source(let source) = image.origin else { return "\(image.name)" }
                    return "\(source.text) → \(image.outputFile)"
                }
        case .failure(let rejection):
            rejection.problems.map { problem in
                "\(problem.code): \(problem.message)\(problem.suggestion.map { "; \($0)?" } ?? "")"
            }
        }
    }

    private func daemon(_ examination: Examination) throws -> [String] {
        switch examination.examine("job", in: inbox, isWhole: true) {
        case .ready(let candidate):
            #expect(candidate.isFolder && candidate.format == .json)
            return Self.words(candidate.reading.outcome)
        case .ignored(.folder(let problem)): return [problem.words]
        default: throw Unexpected()
        }
    }

    private func check(_ rules: ManifestRules) throws -> [String] {
        do throws(ClientError) {
            let forecast = try FolderForecast(
                path: inbox.path + "/job", rules, finders: Self.sources.finderMaker(guesses: true))
            #expect(forecast.shown == inbox.path + "/job")
            return Self.words(forecast.outcome)
        } catch {
            #expect(error.code == "folder" && error.exit == .rejected)
            return [error.message.replacing(inbox.path + "/job: ", with: "")]
        }
    }

    static let noRecipe =
        "it is a folder without a manifest, manifest.json, manifest.yaml, manifest.yml or manifest.plist, and without a "
        + "recipe; add a manifest, or an empty file with the name of a recipe, NAME.recipe, or set inbox.recipe in the "
        + "configuration"
    static let several =
        "it is a folder without a manifest and with several files NAME.recipe; leave one of them"
    static let empty = "it is a folder without a manifest, and there is no picture in it"

    /// The files of a folder, `inbox.recipe`, and what is said of it.
    static let contents: [(files: [String], recipe: String?, said: [String])] = [
        (["a.png"], nil, [noRecipe]), ([".web.recipe", "a.png", "recipe"], nil, [noRecipe]),
        (["web.recipe/", "a.png", "sub/web.recipe"], nil, [noRecipe]),
        (["web.recipe", "a.png"], nil, ["web", "./a.png → a.png"]),
        (["web.RECIPE", "a.png"], nil, ["web", "./a.png → a.png"]),
        (["web.recipe", "a.png"], "small", ["web", "./a.png → a.png"]),
        (["a.png"], "small", ["small", "./a.png → a.png"]),
        (["web.recipe", "small.recipe", "a.png"], "web", [several]),
        (["wbe.recipe", "a.png"], nil, ["unknown-recipe: there is no recipe ‘wbe’; web?"]),
        (["a.png"], "smal", ["unknown-recipe: there is no recipe ‘smal’; small?"]),
        (["web.recipe"], nil, [empty]), ([], "web", [empty]),
        (["web.recipe", ".a.png", "a.txt", "sub/", ".sub/a.png"], nil, [empty]),
        (
            [
                "web.recipe", "b/a.png", "a.jpg", "b.png", "b-/x.png", "b/c/a*.PNG", "é.png",
                "x:y.png",
            ],
            nil,
            [
                "web", "./a.jpg → a.png", "./b-/x.png → x.png", "./b.png → b.png",
                "./b/a.png → a-2.png",
                "./b/c/a*.PNG → a*.png", "./x:y.png → x:y.png", "./é.png → é.png",
            ]
        ),
    ]

    @Test(arguments: contents)
    func getsTheRecipeThatItNames(files: [String], recipe: String?, said: [String]) throws {
        try make(files)
        #expect(try daemon(examination(recipe)) == said)
        #expect(try check(rules(recipe)) == said)
    }

    @Test func hasNoMoreImagesThanAManifest() throws {
        try make(["web.recipe", "a.png", "b.png", "sub/c.png"])
        let said = ["too-many-images: ‘./’ means too many files; the limit is 2 images"]
        #expect(try daemon(examination(nil, images: 2)) == said)
        #expect(try check(rules(nil, images: 2)) == said)
    }

    /// A name that no source can have is not left out silently.
    @Test func namesThatCannotBeSourcesAreNamed() throws {
        try make(["web.recipe", "sub/a\nb.png"])
        let said = [
            "it is a folder without a manifest, and the name of sub/a\u{FFFD}b.png contains a control character; rename it"
        ]
        #expect(try daemon(examination(nil)) == said)
        #expect(try check(rules(nil)) == said)
    }

    /// A link to a picture becomes an image, which fails; a link to a folder is not followed.
    @Test func linksAreNotFollowed() throws {
        try make(["web.recipe", "a.png"])
        try make(["secret.png"], in: "other")
        for (link, target) in [("b.png", "../other/secret.png"), ("other", "../other")] {
            #expect(symlink(target, "\(inbox.path)/job/\(link)") == 0)
        }
        #expect(try daemon(examination(nil)) == ["web", "./a.png → a.png", "./b.png → b.png"])
        // Only a file names a recipe.
        #expect(remove("\(inbox.path)/job/web.recipe") == 0)
        #expect(symlink("a.png", "\(inbox.path)/job/web.recipe") == 0)
        #expect(try daemon(examination(nil)) == [Self.noRecipe])
    }

    @Test(.enabled(if: geteuid() == 0, "only root can be another user"))
    func theRecipeBelongsToTheOwner() throws {
        try make(["web.recipe", "a.png"])
        #expect(chown("\(inbox.path)/job/web.recipe", 64002, 64002) == 0)
        #expect(
            try daemon(examination(nil))
                == ["it is a folder whose file NAME.recipe belongs to another user"])
    }

    /// A manifest decides alone.
    @Test func aManifestNeedsNoRecipe() throws {
        try make(["web.recipe", "small.recipe", "a.png"])
        let text = #"{"images": {"x": "a.png"}}"#
        try Data(text.utf8).write(to: URL(filePath: inbox.path + "/job/manifest.json"))
        #expect(try daemon(examination("web")) == ["a.png → x.png"])
    }

    // MARK: Claimed

    /// The first look at a large folder leaves it to those that take long.
    @Test func takesItsTurnWithLargeManifests() throws {
        try make(["web.recipe", "a.png"])
        guard
            case .large = examination(nil).examine(
                "job", in: inbox, isWhole: true, effort: .quick(1 << 18))
        else { throw Unexpected() }
        guard case .settling = examination(nil).examine("job", in: inbox, isWhole: false) else {
            throw Unexpected()
        }
    }

    /// Before the receipt the folder counts, and after it what was found then.
    @Test func itsImagesStayAfterAnyCrash() throws {
        try make(["web.recipe", "a.png", "sub/b.png"])
        let claimed = try take("job", by: examination(nil))
        let place = claimed.folders.spool.active.path + "/job/submitted/job"
        var examination = examination(nil)
        for names in [["a", "b", "c"], ["a", "b", "c"]] {
            try Data().write(to: URL(filePath: "\(place)/sub/c.png"))
            let prepared = try resume("job", by: examination)
            #expect(prepared.manifest.images.map(\.name) == names.map { ByteString($0) })
            #expect(prepared.status.manifest.file == "manifest.json")
            #expect(prepared.status.manifest.isFolder == true)
            // Neither another file nor another configuration matters from now on.
            try Data().write(to: URL(filePath: "\(place)/d.png"))
            #expect(remove("\(place)/web.recipe") == 0 || errno == ENOENT)
            examination = self.examination("small")
        }
        let answer = try claimed.folders.outbox()
        #expect(
            String(decoding: try answer.read("manifest.json"), as: UTF8.self) == """
                {
                  "images" : [
                    "./"
                  ],
                  "recipe" : "web"
                }

                """)
        #expect(
            try SourceRecord.read(in: answer)
                == SourceRecord([
                    FoundSources(pattern: "./", files: ["./a.png", "./sub/b.png", "./sub/c.png"])
                ]))
    }

    /// The same for the pages of its pictures, which the recipe wants all of.
    @Test func itsPagesStayAfterAnyCrash() throws {
        try make(["scans.recipe", "a.png"])
        try Data(TIFFMaker(pages: 3).bytes).write(to: URL(filePath: inbox.path + "/job/b.tif"))
        let book = RecipeBook(recipes + [try Recipe(named: "scans", text: "pages: all\n")])
        let examination = Examination(
            limits: ManifestLimits(images: 100), defaultFilters: [], settle: 3600,
            recipes: book, sources: Self.sources.finderMaker())
        let claimed = try take("job", by: examination)
        let place = claimed.folders.spool.active.path + "/job/submitted/job"
        for pages in [3, 5] {
            let prepared = try resume("job", by: examination)
            #expect(prepared.manifest.images.map(\.name) == ["a", "b-1", "b-2", "b-3"])
            #expect(prepared.manifest.images.map(\.page) == [nil, 1, 2, 3])
            try Data(TIFFMaker(pages: pages + 2).bytes).write(to: URL(filePath: "\(place)/b.tif"))
        }
        #expect(
            try SourceRecord.read(in: claimed.folders.outbox())
                == SourceRecord(
                    [FoundSources(pattern: "./", files: ["./a.png", "./b.tif"])],
                    pages: [FoundPages(source: "./b.tif", pages: 3)]))
        // The limit of images counts them.
        let small = Examination(
            limits: ManifestLimits(images: 3), defaultFilters: [], settle: 3600,
            recipes: book, sources: Self.sources.finderMaker())
        guard case .manifest(let read) = try small.look(at: Directory(path: place)),
            case .failure(let rejection) = read.reading.outcome
        else { throw Unexpected() }
        #expect(rejection.problems.map(\.code) == ["too-many-images"])
    }

    /// A file that names impossible numbers counts as lost.
    @Test(arguments: [
        #"[{"source": "a", "pages": 1}]"#, #"[{"source": "a", "pages": 65537}]"#, "3",
    ])
    func impossiblePagesAreNotBelieved(pages: String) throws {
        try Data(#"{"schemaVersion": 1, "sources": [], "pages": \#(pages)}"#.utf8)
            .write(to: URL(filePath: "\(scratch.path)/sources.json"))
        #expect(try SourceRecord.read(in: Directory(path: scratch.path)) == nil)
    }

    /// The daemon wrote the manifest that it rejects, so nothing of the submitter's may go with it.
    @Test func goesBackToTmpIfItIsRejected() throws {
        try make(["wbe.recipe", "sub/a.png"])
        let claimed = try take("job", by: examination(nil))
        let (answered, status) = try Receipt.issue(for: claimed, durably: true)
        #expect(status.state == .rejected && status.manifest.file == nil)
        #expect(status.errors?.map(\.suggestion) == ["web"])
        let name = try Receipt.finish(answered.folders, format: .json, durably: true)
        #expect(name == "job")
        #expect(try spool.active.names().filter { $0.bytes.first != UInt8(ascii: ".") }.isEmpty)
        #expect(
            Set(try FileManager.default.subpathsOfDirectory(atPath: spool.tmp.path + "/job"))
                == ["wbe.recipe", "sub", "sub/a.png"])
    }

    /// So does one whose recipe has vanished between a crash of the claim and the next start.
    @Test func goesBackToTmpAfterACrash() throws {
        try make(["web.recipe", "a.png"])
        _ = try take("job", by: examination(nil))
        let examination = Examination(
            limits: ManifestLimits(), defaultFilters: [], settle: 0,
            sources: Self.sources.finderMaker())
        guard
            case .rejected(let status, let name) = try recovery(by: examination).recover("job")
        else { throw Unexpected() }
        #expect(name == "job" && status.errors?.map(\.code) == ["unknown-recipe"])
        #expect(Set(try Directory("job", in: spool.tmp).names()) == ["web.recipe", "a.png"])
        #expect(
            try entries(of: Directory("job", in: spool.outbox)) == ["status.json", "progress.json"])
    }

    @Test func isPutBackIfItsPicturesAreGone() throws {
        try make(["web.recipe", "a.png"])
        let candidate = try candidate("job", by: examination(nil))
        #expect(remove(inbox.path + "/job/a.png") == 0)
        let outcome = claim(by: examination(nil)).take([candidate])
        #expect(outcome.claimed.isEmpty && outcome.refused.map(\.name) == ["job"])
        #expect(try Directory("job", in: inbox).names() == ["web.recipe"])
    }
}
