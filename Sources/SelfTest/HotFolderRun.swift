import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Glibc

/// Kills daemons at each step of a hot folder, and checks that each picture has exactly one answer, with its original.
struct HotFolderRun {
    private let spool: TestSpool
    private let scans: Directory
    /// Where the outputs are delivered to.
    private let delivered: Directory
    /// The hot folders whose originals move into another folder.
    private let moving: [Moving]
    private let settings: [String: String]
    private let picture: [UInt8]
    private var sources: [ByteString] = []
    private(set) var kills = 0
    /// The number of kills when all pictures were last processed to their ends.
    private var killsAtLastEnd = 0
    private(set) var lost: [String] = []
    private(set) var duplicated: [String] = []
    private(set) var differing: [String] = []
    /// Fault points that no daemon reached.
    private(set) var missed: [FaultPoint] = []

    /// A hot folder whose originals move.
    private struct Moving {
        /// How the names of its pictures begin.
        let mark: String
        let scans: Directory
        let done: Directory
        /// Whether the two are on different file systems.
        let isFar: Bool

        var setting: String {
            "{path: \(TestSpool.quoted(scans.path)), recipe: \(recipe), batch: \(pictures / 2), within: 0s, "
                + "originals: {move: \(TestSpool.quoted(done.path))}}"
        }
    }

    private static let recipe = "self-test"
    /// The number of new pictures for each kill; a batch has half of them.
    private static let pictures = 4
    /// How the names of the pictures begin whose originals move into the answers.
    private static let mark = "scan"
    /// The folder of originals on another file system.
    private static let farParent = "/dev/shm"
    private static let farName = FileName("darkroom-self-test-\(getpid())")

    /// - Parameter folder: the folder of the self-test, which has its pictures.
    init(in folder: Directory, program: String) throws(SelfTestError) {
        spool = try TestSpool("hot", in: folder, program: program)
        let (scans, delivered, picture) = try onFiles {
            () throws(FileError) -> (Directory, Directory, [UInt8]) in
            try folder.makeDirectory("recipes")
            let recipes = try Directory("recipes", in: folder)
            try recipes.write(
                Array("filters: {resize: 10}\n".utf8), to: "\(Self.recipe).yaml", durably: false)
            try folder.makeDirectory("scans")
            try folder.makeDirectory("delivered")
            let pictures = try Directory("pictures", in: folder)
            return (
                try Directory("scans", in: folder), try Directory("delivered", in: folder),
                try pictures.read("small.png")
            )
        }
        self.scans = scans
        self.delivered = delivered
        self.picture = picture
        let moving = try onFiles(of: Self.movingFolders(in: folder))
        self.moving = moving
        settings = [
            "inbox.poll": "100ms",
            "folders":
                "[{path: \(TestSpool.quoted(scans.path)), recipe: \(Self.recipe), originals: move, "
                + "batch: \(Self.pictures / 2), within: 0s, deliver: \(TestSpool.quoted(delivered.path))}, "
                + moving.map(\.setting).joined(separator: ", ") + "]",
        ]
    }

    /// A folder on this file system, and one on another one if there is one.
    private static func movingFolders(in folder: Directory) throws(FileError) -> [Moving] {
        func make(_ mark: String, _ parent: Directory, isFar: Bool) throws(FileError) -> Moving {
            let scans = FileName("\(mark)-scans")
            try folder.makeDirectory(scans)
            let name = isFar ? farName : FileName("\(mark)-done")
            try parent.makeDirectory(name, mode: 0o700)
            return Moving(
                mark: mark, scans: try Directory(scans, in: folder),
                done: try Directory(name, in: parent), isFar: isFar)
        }
        var moving = [try make("near", folder, isFar: false)]
        if let memory = try? Directory(path: farParent), memory.isUsable,
            try memory.information().st_dev != folder.information().st_dev
        {
            moving.append(try make("far", memory, isFar: true))
        }
        return moving
    }

    /// Removes what is not in the folder of the self-test.
    private func removeFarFolders() {
        guard moving.contains(where: \.isFar) else { return }
        try? Directory(path: Self.farParent).removeTree(Self.farName)
    }

    var pictureCount: Int { sources.count }

    var problems: [String] {
        lost.map { "lost: \($0)" } + duplicated.map { "duplicated: \($0)" }
            + differing.map { "differing: \($0)" }
    }

    /// The time for what a daemon does in seconds, unless the machine is very busy.
    private static let patience = 300.0

    mutating func run(progress: (Int, Int) -> Void) throws(SelfTestError) {
        defer { removeFarFolders() }
        let copies = moving.contains(where: \.isFar)
        let needs: [FaultPoint.Need?] = [.hotFolder, .delivery, .place]
        let points = FaultPoint.allCases.filter {
            needs.contains($0.need) && (copies || $0 != .placeCopied)
        }.shuffled()
        for (index, point) in points.enumerated() {
            // More kills could be attributed to a picture that was in work at each of them.
            if kills - killsAtLastEnd + 1 >= Crashes.enoughKills { try finish() }
            try scan()
            let daemon = try spool.start(fault: point.rawValue, settings: settings)
            defer { daemon.end() }
            if try daemon.wait(Self.patience) == .killed(signal: SIGKILL) {
                kills += 1
            } else {
                missed.append(point)
            }
            progress(index + 1, points.count)
        }
        try finish()
        try audit()
    }

    /// Runs a daemon until all pictures have their answers.
    private mutating func finish() throws(SelfTestError) {
        killsAtLastEnd = kills
        let daemon = try spool.start(settings: settings)
        defer { daemon.end() }
        _ = try eventually(within: Self.patience) { () throws(SelfTestError) -> Bool? in
            guard try isIdle(), try answers().count >= sources.count else { return nil }
            return true
        }
        try spool.stop(daemon)
    }

    /// Renames pictures into the hot folders, as a scanner does.
    private mutating func scan() throws(SelfTestError) {
        for (folder, mark) in [(scans, Self.mark)] + moving.map({ ($0.scans, $0.mark) }) {
            for _ in 0..<Self.pictures {
                let name = "\(mark)-\(sources.count).png"
                try onFiles { () throws(FileError) in
                    try folder.write(picture, to: ".new", durably: false)
                    try folder.rename(".new", to: folder, as: FileName(name))
                }
                sources.append(ByteString("./\(name)"))
            }
        }
    }

    private func isIdle() throws(SelfTestError) -> Bool {
        guard try spool.isIdle() else { return false }
        return try onFiles { () throws(FileError) in
            for folder in [scans] + moving.map(\.scans) where try !folder.names().isEmpty {
                return false
            }
            return true
        }
    }

    private func answers() throws(SelfTestError) -> [(id: FileName, image: ImageStatus)] {
        var answers: [(FileName, ImageStatus)] = []
        for id in try spool.names("outbox") {
            guard let bytes = try spool.outboxFile(id, BatchFile.status),
                let status = Status(decoding: bytes), status.state.isFinal
            else { continue }
            answers += status.images.map { (id, $0) }
        }
        return answers
    }

    private mutating func audit() throws(SelfTestError) {
        var found: [ByteString: Int] = [:]
        var outputs: Set<String?> = []
        for (id, image) in try answers() {
            found[ByteString(image.source ?? ""), default: 0] += 1
            outputs.insert(image.output?.sha256)
            if let folder = moving.first(where: { image.name.hasPrefix($0.mark) }) {
                if image.originalAt != "\(folder.done.path)/\(image.name).png" {
                    differing.append(
                        "originalAt of \(image.name): \(image.originalAt?.value ?? "none")")
                }
            } else if try spool.outboxFile(id, FileName("\(image.name).original.png")) != picture {
                differing.append("the original of \(image.name) in \(id.text)")
            }
        }
        // It is one picture under many names.
        if outputs.count != 1 || outputs.contains(nil) {
            differing.append("the outputs: \(outputs.count) kinds")
        }
        for source in sources {
            let count = found[source] ?? 0
            if count == 0 { lost.append("\(source)") }
            if count > 1 { duplicated.append("\(source): \(count) answers") }
        }
        for folder in [scans] + moving.map(\.scans) {
            let left = try onFiles(of: folder.names())
            for name in left { lost.append("\(name.text) is still in its folder") }
        }
        let files = try onFiles(of: delivered.names())
        let count = sources.count { $0.hasPrefix("./\(Self.mark)-") }
        if files.count != count {
            differing.append("\(files.count) files are delivered for \(count) pictures")
        }
        for folder in moving { try auditOriginals(of: folder) }
    }

    /// Each original is in its new place once, and nothing else is.
    private mutating func auditOriginals(of folder: Moving) throws(SelfTestError) {
        let names = try onFiles(of: folder.done.names())
        let expected = Set(
            sources.filter { $0.hasPrefix("./\(folder.mark)-") }.map {
                FileName(bytes: $0.utf8.dropFirst(2))
            })
        for name in expected.subtracting(names) { lost.append("the original \(name.text)") }
        for name in Set(names).subtracting(expected) {
            duplicated.append("\(name.text) is among the originals")
        }
        for name in expected.intersection(names) {
            let content = try onFiles(of: folder.done.read(name))
            if content != picture { differing.append("the original \(name.text)") }
        }
    }
}
