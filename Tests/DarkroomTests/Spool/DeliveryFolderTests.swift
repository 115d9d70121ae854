import DarkroomAnswer
import Foundation
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomSpool

/// Each cell of the tables of `DeliveryFolder`: what a daemon finds, and what it makes of it.
final class DeliveryFolderTests: SpoolSuite {
    private let bytes = Array("a picture".utf8)
    private let place: ScratchDirectory

    override init() throws {
        place = try ScratchDirectory()
        try super.init()
        try makeFolders()
        try folders.active().write(bytes, to: BatchFile.output(0), durably: false)
    }

    private func open() throws -> DeliveryFolder {
        try DeliveryFolder(Delivery(to: place.path), of: nil, rules(place.path))
    }

    private func output(
        _ existing: Delivery.Existing = .number, copy: String? = nil
    ) -> DeliveryFolder.Output {
        DeliveryFolder.Output(
            folders, index: 0, .png("a.png", of: bytes), existing, copy: copy.map { FileName($0) })
    }

    /// - Parameter isPromised: whether the journal has a promise, and somebody may have begun to keep it.
    private func prepare(
        _ output: DeliveryFolder.Output, _ promise: UndeliveredImage.Promise? = nil,
        isPromised: Bool = false, in folder: DeliveryFolder? = nil,
        besides names: Set<ByteString> = []
    ) throws -> DeliveryFolder.Preparation {
        try (folder ?? open()).prepare(
            output, promise, isPromised: isPromised, mayBePlaced: isPromised, besides: names)
    }

    /// A copy that gets its name next.
    private func promise(_ preparation: DeliveryFolder.Preparation) throws
        -> UndeliveredImage.Promise
    {
        guard case .copied(let promise) = preparation else { throw Unexpected() }
        return promise
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOfFile: "\(place.path)/\(name)", encoding: .utf8)
    }

    private func rules(_ roots: String...) -> DeliveryRules {
        var rules = DeliveryRules()
        rules.roots = roots
        return rules
    }

    private func put(_ name: String, _ text: String) throws {
        try text.write(toFile: "\(place.path)/\(name)", atomically: false, encoding: .utf8)
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: place.path).sorted() }
    }

    enum Copy: CaseIterable { case whole, damaged, missing }

    enum Found: Equatable { case copied(String), promised, placed, perhapsPlaced, taken }

    private func found(_ preparation: DeliveryFolder.Preparation) -> Found {
        switch preparation {
        case .copied(let promise): .copied(promise.name)
        case .promised: .promised
        case .placed(let isCertain): isCertain ? .placed : .perhapsPlaced
        case .taken: .taken
        }
    }

    struct Cell: Sendable {
        var copy = Copy.missing
        /// Whether the journal has a promise, and whether the folder is the one of the promise.
        var isPromised = false
        var isSameFolder = true
        /// Whether somebody may have begun to keep the promise.
        var mayBePlaced = true
        /// What has the name `a.png`.
        var taken: String?
        var existing = Delivery.Existing.number
        let found: Found
    }

    static let cells: [Cell] = [
        // Nothing is promised: whatever copy there is, it is made anew.
        Cell(found: .copied("a.png")),
        Cell(copy: .whole, found: .copied("a.png")),
        Cell(copy: .damaged, existing: .fail, found: .copied("a.png")),
        Cell(taken: "x", found: .copied("a-2.png")),
        Cell(taken: "x", existing: .replace, found: .copied("a.png")),
        Cell(taken: "x", existing: .fail, found: .taken),
        Cell(copy: .whole, taken: "x", existing: .fail, found: .taken),
        // A promised copy gets its name, whatever has it.
        Cell(copy: .whole, isPromised: true, found: .promised),
        Cell(copy: .whole, isPromised: true, taken: "x", existing: .fail, found: .promised),
        Cell(copy: .damaged, isPromised: true, found: .copied("a.png")),
        // The promise was kept: the own file, a changed one, or none any more.
        Cell(isPromised: true, taken: "a picture", existing: .fail, found: .placed),
        // Nobody can tell: somebody took or changed the file, or cleared the copy.
        Cell(isPromised: true, taken: "x", found: .perhapsPlaced),
        Cell(isPromised: true, found: .perhapsPlaced),
        Cell(isPromised: true, existing: .replace, found: .perhapsPlaced),
        // The copy was cleared before this daemon began to rename it.
        Cell(isPromised: true, mayBePlaced: false, existing: .fail, found: .copied("a.png")),
        Cell(isPromised: true, mayBePlaced: false, taken: "x", found: .copied("a-2.png")),
        Cell(isPromised: true, mayBePlaced: false, taken: "a picture", found: .placed),
        // Another folder has the path, for example the mount point of a share.
        Cell(isPromised: true, isSameFolder: false, found: .copied("a.png")),
        Cell(isPromised: true, isSameFolder: false, taken: "a picture", found: .placed),
        Cell(isPromised: true, isSameFolder: false, taken: "x", found: .copied("a-2.png")),
    ]

    @Test(arguments: cells.indices) func prepares(number: Int) throws {
        let cell = Self.cells[number]
        let output = output(cell.existing)
        switch cell.copy {
        case .whole: try put(output.copyName.text, "a picture")
        case .damaged: try put(output.copyName.text, "a pic")
        case .missing: break
        }
        if let taken = cell.taken { try put("a.png", taken) }
        let mark = try Directory(path: place.path).mark()
        let promise = UndeliveredImage.Promise(
            name: "a.png", copy: output.copyName.text,
            folder: cell.isSameFolder ? mark : "another")
        let preparation = try open().prepare(
            output, cell.isPromised ? promise : nil, isPromised: cell.isPromised,
            mayBePlaced: cell.mayBePlaced, besides: [])
        #expect(found(preparation) == cell.found)
        let hasCopy = ![.placed, .perhapsPlaced, .taken].contains(cell.found)
        #expect(try names.contains(output.copyName.text) == hasCopy)
        guard case .copied(let promise) = preparation else { return }
        #expect(promise.folder == mark && promise.copy == output.copyName.text)
        try open().sync(copyOf: output)
        #expect(try open().place(output, promise))
        #expect(try text(promise.name) == "a picture")
        #expect(try !names.contains(output.copyName.text))
    }

    /// The name is taken between the promise and the rename: the copy stays, and gets another promise.
    @Test(arguments: Delivery.Existing.allCases)
    func theNameIsTakenSince(existing: Delivery.Existing) throws {
        let output = output(existing)
        let folder = try open()
        let promise = try promise(prepare(output, in: folder))
        try put("a.png", "x")
        #expect(try folder.place(output, promise) == (existing == .replace))
        if existing == .replace { return }
        // Its copy is not made again: without it, a restart would take the promise for kept.
        try folders.active().remove(BatchFile.output(0))
        let next = try prepare(output, isPromised: true, in: folder)
        #expect(found(next) == (existing == .number ? .copied("a-2.png") : .taken))
        #expect(try names.contains(output.copyName.text))
    }

    @Test func numbersGoAroundPromisedNames() throws {
        let preparation = try prepare(output(), besides: ["a.png", "a-2.png"])
        #expect(found(preparation) == .copied("a-3.png"))
    }

    /// A link with the name of the copy is removed, and not written through.
    @Test func aLinkIsNotWrittenThrough() throws {
        let victim = "\(scratch.path)/victim"
        try "precious".write(toFile: victim, atomically: false, encoding: .utf8)
        #expect(link(victim, "\(place.path)/\(output().copyName.text)") == 0)
        _ = try prepare(output())
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "precious")
    }

    /// Errors of the output and of the folder are told apart.
    @Test func saysWhatIsRefused() throws {
        try folders.active().remove(BatchFile.output(0))
        let error = #expect(throws: DeliveryFolder.Refusal.self) { try prepare(output()) }
        guard case .source(let error) = error else { throw Unexpected() }
        #expect(error.errno == .noSuchFileOrDirectory)
        #expect(try names == [])
    }

    static let places: [(String, Bool, String?)] = [
        ("", false, nil), ("", true, nil), ("/deep", false, "No such file or directory"),
        ("/../x", false, "deliver.roots"), ("-other", false, "deliver.roots"),
    ]

    @Test(arguments: places.indices) func opensWhatIsAllowed(number: Int) throws {
        let (end, isOfRecipe, words) = Self.places[number]
        let rules = isOfRecipe ? DeliveryRules() : rules(place.path)
        let delivery = Delivery(to: place.path + end, isOfRecipe: isOfRecipe)
        guard let words else {
            _ = try DeliveryFolder(delivery, of: nil, rules)
            return
        }
        let error = #expect(throws: DeliveryFolder.Refusal.self) {
            try DeliveryFolder(delivery, of: nil, rules)
        }
        // What is not allowed to one may be allowed to another.
        switch error {
        case .output(let error):
            #expect(error.message.contains(words) && words == "deliver.roots")
        case .folder(let error): #expect(error.message.contains(words))
        default: throw Unexpected()
        }
    }

    /// An output whose name has folders is placed beneath the folder, and not in a hot folder there, nor through a link.
    @Test(arguments: Delivery.Existing.allCases)
    func makesTheFoldersOfAName(existing: Delivery.Existing) throws {
        var output = output(existing)
        output.facts.file = "2026/v1.0/a.png"
        try FileManager.default.makeFolder(atPath: "\(place.path)/2026/v1.0")
        try put("2026/v1.0/a.png", "x")
        let folder = try open()
        let preparation = try prepare(output, in: folder)
        if existing == .fail { return #expect(found(preparation) == .taken) }
        let promise = try promise(preparation)
        #expect(promise.name == (existing == .number ? "2026/v1.0/a-2.png" : "2026/v1.0/a.png"))
        try folder.sync(copyOf: output)
        #expect(found(try prepare(output, promise, isPromised: true)) == .promised)
        #expect(try folder.place(output, promise))
        try folder.sync(foldersOf: output)
        try folder.sync()
        #expect(try text(promise.name) == "a picture")
        #expect(found(try prepare(output, promise, isPromised: true)) == .placed)
        output.facts.file = "link/a.png"
        #expect(symlink(scratch.path, "\(place.path)/link") == 0)
        #expect(throws: DeliveryFolder.Refusal.self) { try prepare(output) }
        var rules = rules(place.path)
        rules.taken = [("\(place.path)/2026", "the hot folder")]
        output.facts.file = "2026/b.png"
        let around = try DeliveryFolder(Delivery(to: place.path), of: nil, rules)
        #expect(throws: DeliveryFolder.Refusal.self) { try prepare(output, in: around) }
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: "\(place.path)/2026") == ["v1.0"])
    }

    /// The folders from which pictures are taken, by whatever path.
    @Test func refusesLoops() throws {
        let inner = place.url.appending(path: "inner")
        try FileManager.default.makeFolder(at: inner)
        let way = "\(scratch.path)/way"
        #expect(symlink(place.path, way) == 0)
        var rules = DeliveryRules()
        rules.taken = [(place.path, "the hot folder")]
        for path in [inner.path, "\(way)/inner", place.path, way] {
            let refusal = #expect(throws: DeliveryFolder.Refusal.self) {
                try DeliveryFolder(Delivery(to: path, isOfRecipe: true), of: nil, rules)
            }
            #expect(message(refusal).contains("is in the hot folder"))
        }
    }

    private func message(_ refusal: DeliveryFolder.Refusal?) -> String {
        switch refusal {
        case .source(let error), .output(let error), .folder(let error): error.message
        case nil: ""
        }
    }

    /// Somebody has the name of the copy, and it cannot be removed, like a file of another user in a sticky folder.
    @Test func aTakenNameOfTheCopyIsNoObstacle() throws {
        let output = output()
        #expect(!output.copyName.text.hasSuffix("~"))
        try FileManager.default.makeFolder(atPath: "\(place.path)/\(output.copyName.text)")
        let (a, b) = try (promise(prepare(output)), promise(prepare(output)))
        #expect(Set([a.copy, b.copy, output.copyName.text]).count == 3)
        // The promise has the name, so a restart finds the copy.
        let found = self.output(copy: b.copy)
        #expect(try self.found(prepare(found, b, isPromised: true)) == .promised)
        #expect(try open().place(found, b))
        #expect(try names.contains("a.png"))
    }

    struct Mode: Sendable {
        let folder: mode_t
        let copy: mode_t
    }

    /// Whoever may list the folder may read what is delivered, whatever the file mode mask is.
    @Test(arguments: [
        Mode(folder: 0o755, copy: 0o644), Mode(folder: 0o750, copy: 0o640),
        Mode(folder: 0o2770, copy: 0o640), Mode(folder: 0o700, copy: 0o600),
        Mode(folder: 0o711, copy: 0o600), Mode(folder: 0o1777, copy: 0o644),
    ]) func theModeFollowsTheFolder(mode: Mode) throws {
        #expect(chmod(place.path, mode.folder) == 0)
        var output = output()
        output.facts.file = "2026/v1/a.png"
        // One that a killed daemon has left, and one that somebody has made so.
        #expect(mkdir("\(place.path)/2026", 0o700) == 0)
        #expect(mkdir("\(place.path)/own", 0o700) == 0)
        try put("own/b.png", "x")
        for file in ["2026/v1/a.png", "own/a.png"] {
            output.facts.file = file
            #expect(try open().place(output, promise(prepare(output))))
        }
        func found(_ path: String) -> mode_t {
            var information = stat()
            #expect(stat("\(place.path)/\(path)", &information) == 0)
            return information.st_mode & 0o7777
        }
        #expect(found("2026") == mode.folder && found("2026/v1") == mode.folder)
        #expect(found("2026/v1/a.png") == mode.copy)
        #expect(found("own") == mode.folder & 0o2000 | 0o700 && found("own/a.png") == 0o600)
        #expect(chmod(place.path, 0o700) == 0)
    }

    /// A root whose parent belongs to somebody else can be exchanged by a link.
    @Test(.enabled(if: geteuid() == 0, "only root can give a folder away"))
    func refusesARootThatOthersCanExchange() throws {
        let parent = place.url.appending(path: "home")
        try FileManager.default.makeFolder(at: parent.appending(path: "out"))
        #expect(chown(parent.path, 64001, 64001) == 0)
        let rules = rules("\(parent.path)/out")
        let refusal = #expect(throws: DeliveryFolder.Refusal.self) {
            try DeliveryFolder(Delivery(to: "\(parent.path)/out"), of: nil, rules)
        }
        guard case .folder = refusal else { throw Unexpected() }
        #expect(message(refusal).contains("who could put another folder in its place"))
        // He may open his own folder to others.
        #expect(chown("\(parent.path)/out", 64001, 64001) == 0)
        _ = try DeliveryFolder(Delivery(to: "\(parent.path)/out"), of: nil, rules)
    }

    static let errors: [(Errno, String, Bool)] = [
        (.readOnlyFileSystem, "a.png", true), (.staleNFSFileHandle, "a.png", true),
        (.ioError, "a.png", true), (.operationNotSupportedByDevice, "a.png", true),
        (.ioError, "2026/a.png", false), (.notPermitted, "a.png", false),
        (.permissionDenied, "a.png", false), (.fileExists, "a.png", false),
        (.noSpace, "a.png", false), (.diskQuotaExceeded, "a.png", false),
    ]

    /// What concerns all outputs names none; what may concern one only does not keep the others waiting.
    @Test(arguments: errors.indices) func tellsWhomAnErrorConcerns(number: Int) throws {
        let (errno, file, isOfFolder) = Self.errors[number]
        var output = output()
        output.facts.file = file
        let error = FileError(.rename, "\(place.path)/secret", errno, detail: "to secret")
        switch try open().refusal(error, of: output) {
        case .folder(let error):
            #expect(isOfFolder)
            #expect(error.path == place.path && !error.message.contains("secret"))
        case .output: #expect(!isOfFolder)
        case .source: throw Unexpected()
        }
    }
}
