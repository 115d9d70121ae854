import DarkroomAnswer
import Foundation
import Glibc
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomSpool

/// Each cell of the tables of `DeliveryFolder`: what a daemon finds, and what it makes of it.
@Suite final class DeliveryFolderTests: SpoolSuite {
    private let bytes = Array("a picture".utf8)
    private let place: ScratchDirectory

    override init() throws {
        place = try ScratchDirectory()
        try super.init()
        try makeFolders()
        try folders.active().write(bytes, to: BatchFile.output(0), durably: false)
    }

    private func open() throws -> DeliveryFolder {
        var rules = DeliveryRules()
        rules.roots = [place.path]
        return try DeliveryFolder(Delivery(to: place.path), of: nil, rules)
    }

    private func output(_ existing: Delivery.Existing = .number) -> DeliveryFolder.Output {
        DeliveryFolder.Output(
            folders, index: 0,
            ImageStatus.Output(
                file: "a.png", format: .png, sha256: SHA256Digest.hex(of: bytes),
                bytes: bytes.count,
                width: 1, height: 1, depth: 8, channels: 3), existing)
    }

    private func put(_ name: String, _ text: String) throws {
        try text.write(toFile: "\(place.path)/\(name)", atomically: false, encoding: .utf8)
    }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: place.path).sorted() }
    }

    enum Copy: CaseIterable { case whole, damaged, missing }

    enum Found: Equatable { case copied(String), promised, placed, taken }

    private func found(_ preparation: DeliveryFolder.Preparation) -> Found {
        switch preparation {
        case .copied(let promise): .copied(promise.name)
        case .promised: .promised
        case .placed: .placed
        case .taken: .taken
        }
    }

    struct Cell: Sendable {
        let copy: Copy
        /// Whether the journal has a promise, and whether the folder is the one of the promise.
        let promise: String?
        var isSameFolder = true
        /// What has the name `a.png`.
        var taken: String?
        let existing: Delivery.Existing
        let found: Found
    }

    static let cells: [Cell] = [
        // Nothing is promised: whatever copy there is, it is made anew.
        Cell(copy: .missing, promise: nil, existing: .number, found: .copied("a.png")),
        Cell(copy: .whole, promise: nil, existing: .number, found: .copied("a.png")),
        Cell(copy: .damaged, promise: nil, existing: .fail, found: .copied("a.png")),
        Cell(
            copy: .missing, promise: nil, taken: "x", existing: .number, found: .copied("a-2.png")),
        Cell(copy: .missing, promise: nil, taken: "x", existing: .replace, found: .copied("a.png")),
        Cell(copy: .missing, promise: nil, taken: "x", existing: .fail, found: .taken),
        Cell(copy: .whole, promise: nil, taken: "x", existing: .fail, found: .taken),
        // A promised copy gets its name, whatever has it.
        Cell(copy: .whole, promise: "a.png", existing: .number, found: .promised),
        Cell(copy: .whole, promise: "a.png", taken: "x", existing: .fail, found: .promised),
        Cell(copy: .damaged, promise: "a.png", existing: .number, found: .copied("a.png")),
        // The promise was kept: the own file, a changed one, or none any more.
        Cell(copy: .missing, promise: "a.png", taken: "a picture", existing: .fail, found: .placed),
        Cell(copy: .missing, promise: "a.png", taken: "x", existing: .number, found: .placed),
        Cell(copy: .missing, promise: "a.png", existing: .number, found: .placed),
        // Another folder has the path, for example the mount point of a share.
        Cell(
            copy: .missing, promise: "a.png", isSameFolder: false, existing: .number,
            found: .copied("a.png")),
        Cell(
            copy: .missing, promise: "a.png", isSameFolder: false, taken: "a picture",
            existing: .number, found: .placed),
        Cell(
            copy: .missing, promise: "a.png", isSameFolder: false, taken: "x", existing: .number,
            found: .copied("a-2.png")),
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
        let inode = UInt64(try Directory(path: place.path).information().st_ino)
        let promise = cell.promise.map {
            UndeliveredImage.Promise(name: $0, folder: cell.isSameFolder ? inode : inode + 1)
        }
        let preparation = try open().prepare(
            output, promise, isPromised: promise != nil, besides: [])
        #expect(found(preparation) == cell.found)
        let hasCopy = cell.found != .placed && cell.found != .taken
        #expect(try names.contains(output.copyName.text) == hasCopy)
        guard case .copied(let promise) = preparation else { return }
        #expect(promise.folder == inode)
        try open().sync(copiesOf: [output])
        #expect(try open().place(output, promise))
        let text = try String(contentsOfFile: "\(place.path)/\(promise.name)", encoding: .utf8)
        #expect(text == "a picture")
        #expect(try !names.contains(output.copyName.text))
    }

    /// The name is taken between the promise and the rename: the copy stays, and gets another promise.
    @Test(arguments: Delivery.Existing.allCases)
    func theNameIsTakenSince(existing: Delivery.Existing) throws {
        let output = output(existing)
        let folder = try open()
        guard
            case .copied(let promise) = try folder.prepare(
                output, nil, isPromised: false, besides: [])
        else { throw Unexpected() }
        try put("a.png", "x")
        #expect(try folder.place(output, promise) == (existing == .replace))
        if existing == .replace { return }
        // Its copy is not made again: without it, a restart would take the promise for kept.
        try folders.active().remove(BatchFile.output(0))
        let next = try folder.prepare(output, nil, isPromised: true, besides: [])
        #expect(found(next) == (existing == .number ? .copied("a-2.png") : .taken))
        #expect(try names.contains(output.copyName.text))
    }

    @Test func numbersGoAroundPromisedNames() throws {
        let preparation = try open().prepare(
            output(), nil, isPromised: false, besides: ["a.png", "a-2.png"])
        #expect(found(preparation) == .copied("a-3.png"))
    }

    /// A link with the name of the copy is removed, and not written through.
    @Test func aLinkIsNotWrittenThrough() throws {
        let victim = "\(scratch.path)/victim"
        try "precious".write(toFile: victim, atomically: false, encoding: .utf8)
        #expect(link(victim, "\(place.path)/\(output().copyName.text)") == 0)
        _ = try open().prepare(output(), nil, isPromised: false, besides: [])
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "precious")
    }

    /// Errors of the output and of the folder are told apart.
    @Test func saysWhatIsRefused() throws {
        try folders.active().remove(BatchFile.output(0))
        let error = #expect(throws: DeliveryFolder.Refusal.self) {
            try open().prepare(output(), nil, isPromised: false, besides: [])
        }
        guard case .output(let error) = error else { throw Unexpected() }
        #expect(error.errno == .noSuchFileOrDirectory)
        #expect(try names == [])
    }

    static let places: [(String, Bool, String?)] = [
        ("", false, nil), ("", true, nil), ("/deep", false, "No such file or directory"),
        ("/../x", false, "deliver.roots"), ("-other", false, "deliver.roots"),
    ]

    @Test(arguments: places.indices) func opensWhatIsAllowed(number: Int) throws {
        let (end, isOfRecipe, words) = Self.places[number]
        var rules = DeliveryRules()
        rules.roots = isOfRecipe ? [] : [place.path]
        let delivery = Delivery(to: place.path + end, isOfRecipe: isOfRecipe)
        guard let words else {
            _ = try DeliveryFolder(delivery, of: nil, rules)
            return
        }
        let error = #expect(throws: FileError.self) {
            try DeliveryFolder(delivery, of: nil, rules)
        }
        #expect(error?.message.contains(words) == true)
    }

    /// An output whose name has folders is placed beneath the folder, and not in a hot folder there, nor through a link.
    @Test(arguments: Delivery.Existing.allCases)
    func makesTheFoldersOfAName(existing: Delivery.Existing) throws {
        var output = output(existing)
        output.facts.file = "2026/v1.0/a.png"
        try FileManager.default.makeFolder(atPath: "\(place.path)/2026/v1.0")
        try put("2026/v1.0/a.png", "x")
        let folder = try open()
        let preparation = try folder.prepare(output, nil, isPromised: false, besides: [])
        if existing == .fail {
            #expect(found(preparation) == .taken)
            return
        }
        guard case .copied(let promise) = preparation else { throw Unexpected() }
        #expect(promise.name == (existing == .number ? "2026/v1.0/a-2.png" : "2026/v1.0/a.png"))
        try folder.sync(copiesOf: [output])
        #expect(
            found(try open().prepare(output, promise, isPromised: true, besides: [])) == .promised)
        #expect(try folder.place(output, promise))
        try folder.sync(namesOf: [output])
        let text = try String(contentsOfFile: "\(place.path)/\(promise.name)", encoding: .utf8)
        #expect(text == "a picture")
        #expect(
            found(try open().prepare(output, promise, isPromised: true, besides: [])) == .placed)
        output.facts.file = "link/a.png"
        #expect(symlink(scratch.path, "\(place.path)/link") == 0)
        #expect(throws: DeliveryFolder.Refusal.self) {
            try open().prepare(output, nil, isPromised: false, besides: [])
        }
        var rules = DeliveryRules()
        rules.roots = [place.path]
        rules.taken = [("\(place.path)/2026", "the hot folder")]
        output.facts.file = "2026/b.png"
        let around = try DeliveryFolder(Delivery(to: place.path), of: nil, rules)
        #expect(throws: DeliveryFolder.Refusal.self) {
            try around.prepare(output, nil, isPromised: false, besides: [])
        }
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
            let error = #expect(throws: FileError.self) {
                try DeliveryFolder(Delivery(to: path, isOfRecipe: true), of: nil, rules)
            }
            #expect(error?.message.contains("is in the hot folder") == true)
        }
    }
}
