import DarkroomAnswer
import Foundation
import Glibc
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomSpool

/// Each cell of the tables of `OriginalsFolder`: what a daemon finds, and what it makes of it.
final class OriginalsFolderTests: SpoolSuite {
    private let bytes = Array("a picture".utf8)
    private let place: ScratchDirectory
    private let key = HidingKey()
    private var hot: String { "\(place.path)/hot" }
    private var done: String { "\(place.path)/done" }

    override init() throws {
        place = try ScratchDirectory()
        try super.init()
        try makeFolders()
        for name in ["hot", "hot/sub", "done"] {
            try FileManager.default.makeFolder(at: place.url.appending(path: name))
        }
        try put("\(hot)/sub/a.png", "a picture")
    }

    private func open(
        _ existing: Delivery.Existing = .number, copies: Bool = false,
        taken: [(path: String, what: String)] = []
    ) throws -> OriginalsFolder {
        try OriginalsFolder(
            from: hot, to: Delivery(to: done, existing), of: folders, key,
            taken: TakenFolders(taken), durably: true, copies: copies, stop: CancellationFlag())
    }

    private func picture(_ path: String = "sub/a.png") throws -> TakenPicture {
        let relative = try #require(RelativePath(word: path))
        let root = try Directory(path: hot)
        let folder = try root.folder(beneath: relative.folder)
        let stamp = PictureStamp(
            try #require(try folder.information(of: relative.name)),
            identity: try #require(try folder.droppedIdentity(of: relative.name)),
            in: FolderIdentity(try root.information()))
        return TakenPicture(
            path: relative, stamp: stamp, sha256: SHA256Digest.hex(of: bytes), batch: "b",
            source: "./sub-a.png")
    }

    private func put(_ path: String, _ text: String) throws {
        try text.write(toFile: path, atomically: false, encoding: .utf8)
    }

    private func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    private func names(_ folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
    }

    private func promise(_ preparation: OriginalsFolder.Preparation) throws -> OriginalPromise {
        guard case .promise(let promise) = preparation else { throw Unexpected() }
        return promise
    }

    /// The picture, and what the folder promises first.
    private func begin(
        _ existing: Delivery.Existing = .number, copies: Bool = true
    ) throws -> (picture: TakenPicture, folder: OriginalsFolder, promise: OriginalPromise) {
        let picture = try picture()
        let folder = try open(existing, copies: copies)
        return (picture, folder, try promise(folder.prepare(picture, nil, besides: [])))
    }

    private func information(_ path: String) -> stat {
        var information = stat()
        #expect(stat(path, &information) == 0)
        return information
    }

    private func outcome(_ placement: OriginalsFolder.Placement) -> OriginalOutcome? {
        if case .ended(let outcome) = placement { outcome } else { nil }
    }

    /// Keeps a promise, with the record in between. Until then, the original is there, or it is the one that moved.
    private func move(
        _ picture: TakenPicture, _ promise: OriginalPromise, _ folder: OriginalsFolder
    ) throws -> OriginalOutcome? {
        let placement = try folder.place(picture, promise)
        guard promise.isCopy else { return outcome(placement) }
        guard case .placed = placement else { return outcome(placement) }
        #expect(names("\(hot)/sub").contains("a.png"))
        var promise = promise
        promise.isPlaced = true
        guard case .promised = try folder.prepare(picture, promise, besides: []) else {
            throw Unexpected()
        }
        return outcome(try folder.place(picture, promise))
    }

    struct Name: Sendable {
        /// What has the name `a.png`.
        var taken: String?
        let existing: Delivery.Existing
        /// The name that the original gets; nil if it stays.
        let name: String?
    }

    static let naming: [Name] = [
        Name(existing: .number, name: "a.png"), Name(existing: .replace, name: "a.png"),
        Name(existing: .fail, name: "a.png"), Name(taken: "x", existing: .number, name: "a-2.png"),
        Name(taken: "x", existing: .replace, name: "a.png"),
        Name(taken: "x", existing: .fail, name: nil),
    ]

    /// From the beginning to the end, with each way.
    @Test(arguments: naming.indices, [false, true]) func moves(number: Int, copies: Bool) throws {
        let cell = Self.naming[number]
        if let taken = cell.taken {
            try FileManager.default.makeFolder(atPath: "\(done)/sub")
            try put("\(done)/sub/a.png", taken)
        }
        let picture = try picture()
        let folder = try open(cell.existing, copies: copies)
        let preparation = try folder.prepare(picture, nil, besides: [])
        guard let name = cell.name else {
            guard case .ended(.stays(let reason)) = preparation else { throw Unexpected() }
            #expect(reason.contains("a file has this name already (ifExists: fail)"))
            #expect(names("\(hot)/sub") == ["a.png"])
            return
        }
        let promise = try promise(preparation)
        #expect(promise.path == "\(done)/sub/\(name)" && promise.isCopy == copies)
        #expect(text("\(done)/sub/a.png") == cell.taken)
        #expect(try move(picture, promise, folder) == .moved(to: promise.path))
        #expect(text(promise.path) == "a picture")
        #expect(names("\(hot)/sub") == [])
        #expect(names("\(done)/sub") == Set([name] + (cell.taken == nil ? [] : ["a.png"])).sorted())
    }

    /// Every state that a kill may leave.
    enum State: CaseIterable { case promised, shown, placed, taken }

    @Test(arguments: State.allCases, [false, true])
    func aRestartKeepsThePromise(state: State, copies: Bool) throws {
        let (picture, folder, promise) = try begin(copies: copies)
        let isHidden = !copies
        #expect(names("\(hot)/sub").contains("a.png") == !isHidden)
        switch state {
        case .promised: break
        case .shown: folder.show(picture)
        case .placed, .taken:
            if copies {
                let copy = try #require(names("\(done)/sub").first)
                #expect(rename("\(done)/sub/\(copy)", promise.path) == 0)
            } else {
                _ = try folder.place(picture, promise)
            }
            if state == .taken { #expect(unlink(promise.path) == 0) }
        }
        let again = try open(.fail, copies: copies)
        switch try again.prepare(picture, promise, besides: []) {
        case .promised:
            #expect(try move(picture, promise, again) == .moved(to: promise.path))
        case .ended(let outcome):
            // Nothing tells whether somebody has taken the file, or has cleared the hidden one away.
            #expect(
                outcome
                    == (state == .taken ? .isLost(to: promise.path) : .moved(to: promise.path)))
            #expect(!copies)
        case .promise(let promise):
            // Nothing shows that the copy was whole, so the original is not removed without another one.
            #expect(state == .taken && copies)
            #expect(try move(picture, promise, again) == .moved(to: promise.path))
        }
        #expect(names("\(hot)/sub") == [])
        #expect(names("\(done)/sub") == (state == .taken && !copies ? [] : ["a.png"]))
    }

    /// Somebody clears the hidden copy away: the original stays until there is another one.
    @Test func aMissingCopyProvesNothing() throws {
        let (picture, folder, promise) = try begin()
        for name in names("\(done)/sub") { #expect(unlink("\(done)/sub/\(name)") == 0) }
        guard case .again = try folder.place(picture, promise) else { throw Unexpected() }
        guard case .promise = try folder.prepare(picture, promise, besides: []) else {
            throw Unexpected()
        }
        #expect(names("\(hot)/sub") == ["a.png"])
    }

    /// In another folder at the same path, as where a share is to be mounted, a missing file proves nothing.
    @Test func anotherFolderProvesNothing() throws {
        var (picture, _, promise) = try begin()
        let copy = try #require(names("\(done)/sub").first)
        #expect(unlink("\(done)/sub/\(copy)") == 0)
        let folder = promise.folder
        promise.folder = "another"
        guard case .promise(let new) = try open(copies: true).prepare(picture, promise, besides: [])
        else { throw Unexpected() }
        #expect(new.folder == folder && new.path == promise.path)
        for name in names("\(done)/sub") { #expect(unlink("\(done)/sub/\(name)") == 0) }
        #expect(names("\(hot)/sub") == ["a.png"])
        // The same of the hot folder.
        #expect(rename(hot, "\(hot)-away") == 0)
        try FileManager.default.makeFolder(atPath: hot)
        for promise in [nil, OriginalPromise(name: "a.png", path: "/", folder: "", copy: nil)] {
            let error = #expect(throws: FileError.self) {
                try open().prepare(picture, promise, besides: [])
            }
            #expect(error?.message.contains("not the folder from which") == true)
        }
    }

    /// Somebody has the name of the copy, and it cannot be removed: the copy gets another one.
    @Test func aTakenNameOfTheCopyIsNoObstacle() throws {
        let (picture, _, first) = try begin()
        let copy = try #require(first.copy)
        #expect(unlink("\(done)/sub/\(copy)") == 0)
        try FileManager.default.makeFolder(atPath: "\(done)/sub/\(copy)")
        let folder = try open(copies: true)
        let promise = try promise(folder.prepare(picture, nil, besides: []))
        #expect(promise.copy != copy)
        #expect(try move(picture, promise, folder) == .moved(to: promise.path))
        #expect(names("\(done)/sub") == [copy, "a.png"])
    }

    enum Change: CaseIterable { case gone, other, size, content }

    /// Whatever has become of the file since it was read: only that file moves.
    @Test(arguments: Change.allCases, [false, true])
    func anotherFileDoesNotMove(change: Change, copies: Bool) throws {
        let picture = try picture()
        let path = "\(hot)/sub/a.png"
        switch change {
        case .gone: #expect(unlink(path) == 0)
        case .other:
            try put("\(path)-new", "b picture")
            #expect(rename("\(path)-new", path) == 0)
        case .size: try put(path, "a picture with more")
        case .content:
            try FileManager.default.exchange(contentOf: path, with: Data("b picture".utf8))
        }
        let left = text(path)
        let preparation = try open(copies: copies).prepare(picture, nil, besides: [])
        guard case .ended(.isAnother) = preparation else { throw Unexpected() }
        #expect(text(path) == left)
        #expect(names("\(hot)/sub") == (change == .gone ? [] : ["a.png"]))
        #expect(names("\(done)/sub") == [])
    }

    enum Missing: CaseIterable { case there, hidden, renamed, other, folder, hot, unmounted }

    /// What is known of an original when it does not move any more.
    @Test(arguments: Missing.allCases) func knowsWhatIsLacking(missing: Missing) throws {
        let picture = try picture()
        let path = "\(hot)/sub/a.png"
        switch missing {
        case .there: break
        case .hidden: _ = try promise(open().prepare(picture, nil, besides: []))
        case .renamed: #expect(rename(path, "\(hot)/sub/b.png") == 0)
        case .other: try put(path, "another picture")
        case .folder: #expect(rename("\(hot)/sub", "\(hot)/other") == 0)
        case .hot, .unmounted: #expect(rename(hot, "\(hot)-away") == 0)
        }
        if missing == .unmounted { try FileManager.default.makeFolder(atPath: hot) }
        let found = OriginalsFolder.Hot(hot, key, stop: CancellationFlag())
        let isLacking = [.renamed, .other, .folder].contains(missing)
        #expect(found?.lacks(picture) == (missing == .hot ? nil : isLacking))
    }

    /// A name that a former daemon would have used, and one that can be seen while the original has it.
    @Test(arguments: [false, true]) func hidesUnderANameOfItsOwn(isLink: Bool) throws {
        let picture = try picture()
        let folder = try Directory(path: "\(hot)/sub")
        let original = HotOriginal(picture, in: folder, key, stop: CancellationFlag())
        let former = HotOriginal(picture, in: folder, nil, stop: CancellationFlag())
        let other = HotOriginal(picture, in: folder, HidingKey(), stop: CancellationFlag())
        #expect(former.hiddenName.text == ".darkroom-\(picture.stamp.identity)")
        #expect(Set([original, former, other].map(\.hiddenName)).count == 3)
        try put("\(hot)/sub/\(former.hiddenName.text)", "x")
        let hidden = "\(hot)/sub/\(original.hiddenName.text)"
        if isLink {
            // As a crash leaves it on a file system that cannot refuse to replace.
            #expect(link("\(hot)/sub/a.png", hidden) == 0)
        } else {
            try put(hidden, "x")
        }
        let removal = try original.remove()
        guard isLink else {
            guard case .nameIsTaken = removal else { throw Unexpected() }
            #expect(text("\(hot)/sub/a.png") == "a picture" && text(hidden) == "x")
            let outcome = try open().prepare(picture, nil, besides: [])
            guard case .ended(.stays(let reason)) = outcome else { throw Unexpected() }
            #expect(
                reason
                    == "its folder contains \(original.hiddenName.text), which is another file")
            return
        }
        guard case .done(let information) = removal else { throw Unexpected() }
        #expect(information.st_nlink == 1)
        #expect(names("\(hot)/sub") == [former.hiddenName.text])
    }

    /// A folder that a killed daemon has left gets its mode.
    @Test(arguments: [false, true]) func completesAFolder(copies: Bool) throws {
        #expect(chmod("\(hot)/sub", 0o2750) == 0)
        #expect(mkdir("\(done)/sub", 0o700) == 0)
        _ = try open(copies: copies).prepare(picture(), nil, besides: [])
        #expect(information("\(done)/sub").st_mode & 0o7777 == 0o750)
    }

    /// It changes between the promise and the move: the copy of what was read moves, and the new one stays.
    @Test func aChangeAfterTheCopyStays() throws {
        let (picture, folder, promise) = try begin()
        try put("\(hot)/sub/a.png", "another picture")
        #expect(try move(picture, promise, folder) == .moved(to: promise.path))
        #expect(text(promise.path) == "a picture")
        #expect(text("\(hot)/sub/a.png") == "another picture")
        #expect(names("\(hot)/sub") == ["a.png"])
    }

    /// The name is taken between the promise and the move.
    @Test(arguments: Delivery.Existing.allCases, [false, true])
    func theNameIsTakenSince(existing: Delivery.Existing, copies: Bool) throws {
        let (picture, folder, promise) = try begin(existing, copies: copies)
        try put(promise.path, "x")
        if existing == .replace {
            #expect(try move(picture, promise, folder) == .moved(to: promise.path))
            return
        }
        guard case .again = try folder.place(picture, promise) else { throw Unexpected() }
        #expect(text(promise.path) == "x")
        let next = try folder.prepare(picture, nil, besides: [])
        if existing == .fail {
            guard case .ended(.stays) = next else { throw Unexpected() }
            #expect(names("\(hot)/sub") == ["a.png"])
            #expect(names("\(done)/sub") == ["a.png"])
            return
        }
        let second = try self.promise(next)
        #expect(second.path == "\(done)/sub/a-2.png")
        #expect(try move(picture, second, folder) == .moved(to: second.path))
    }

    /// A copy has the mode and the time of the original, and its folder the mode of that of the original.
    @Test func aCopyIsLikeTheOriginal() throws {
        #expect(chmod("\(hot)/sub", 0o750) == 0 && chmod("\(hot)/sub/a.png", 0o604) == 0)
        let time = timespec(tv_sec: 1_000_000_000, tv_nsec: 5_000_000)
        #expect(utimensat(AT_FDCWD, "\(hot)/sub/a.png", [time, time], 0) == 0)
        let (picture, folder, promise) = try begin()
        _ = try folder.place(picture, promise)
        let copy = information(promise.path)
        #expect(copy.st_mode & 0o777 == 0o604)
        #expect(copy.st_mtim.tv_sec == 1_000_000_000)
        #expect(copy.st_mtim.tv_nsec == 5_000_000)
        #expect(information("\(done)/sub").st_mode & 0o777 == 0o750)
    }

    /// The longest name has room for a number, and names that are no text stay as they are.
    @Test func numbersAnyName() throws {
        let long = String(repeating: "n", count: 251) + ".png"
        try put("\(hot)/\(long)", "a picture")
        try put("\(done)/\(long)", "x")
        var picture = try picture(long)
        let first = try promise(open().prepare(picture, nil, besides: []))
        let expected = String(repeating: "n", count: 249) + "-2.png"
        #expect(first.path == "\(done)/\(expected)")
        let word = "%FF.png"
        let root = try Directory(path: hot)
        let name = try #require(RelativePath(word: word)).name
        try root.write(bytes, to: name, durably: false)
        picture = try self.picture(word)
        let second = try promise(open().prepare(picture, nil, besides: []))
        _ = try open().place(picture, second)
        #expect(try Directory(path: done).exists(name))
    }

    @Test func numbersGoAroundPromisedNames() throws {
        let promise = try promise(
            open().prepare(
                picture(), nil,
                besides: [ByteString("\(done)/sub/a.png"), ByteString("\(done)/sub/a-2.png")]))
        #expect(promise.path == "\(done)/sub/a-3.png")
    }

    /// A link in the way is not followed, and a folder of Darkroom is not used, whatever link leads there.
    @Test func refusesLinksAndLoops() throws {
        #expect(symlink(scratch.path, "\(done)/sub") == 0)
        let error = #expect(throws: FileError.self) {
            try open().prepare(picture(), nil, besides: [])
        }
        #expect(
            error.map { [.notDirectory, .tooManySymbolicLinkLevels].contains($0.errno) } == true)
        #expect(names("\(hot)/sub") == ["a.png"])
        let way = "\(scratch.path)/way"
        #expect(symlink(place.path, way) == 0)
        for taken in [way, "\(way)/done", done] {
            let error = #expect(throws: FileError.self) {
                try open(taken: [(taken, "the hot folder")])
            }
            #expect(error?.message.contains("originals would be taken again") == true)
        }
        try FileManager.default.makeFolder(atPath: "\(done)/inner")
        #expect(throws: FileError.self) { try open(taken: [("\(done)/inner", "the cache")]) }
        _ = try open(taken: [(hot, "the hot folder"), ("/nowhere", "the cache")])
    }
}
