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
    private let settings: [String: String]
    private let picture: [UInt8]
    private var sources: [ByteString] = []
    private(set) var kills = 0
    private(set) var lost: [String] = []
    private(set) var duplicated: [String] = []
    private(set) var differing: [String] = []
    /// Fault points that no daemon reached.
    private(set) var missed: [FaultPoint] = []

    private static let recipe = "self-test"
    /// The number of new pictures for each kill; a batch has half of them.
    private static let pictures = 4

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
        settings = [
            "inbox.poll": "100ms",
            "folders":
                "[{path: \(TestSpool.quoted(scans.path)), recipe: \(Self.recipe), originals: move, "
                + "batch: \(Self.pictures / 2), within: 0s, deliver: \(TestSpool.quoted(delivered.path))}]",
        ]
    }

    var pictureCount: Int { sources.count }

    var problems: [String] {
        lost.map { "lost: \($0)" } + duplicated.map { "duplicated: \($0)" }
            + differing.map { "differing: \($0)" }
    }

    mutating func run(progress: (Int, Int) -> Void) throws(SelfTestError) {
        let points = FaultPoint.allCases.filter(\.needsHotFolder).shuffled()
        for (index, point) in points.enumerated() {
            try scan()
            let daemon = try spool.start(fault: point.rawValue, settings: settings)
            defer { daemon.end() }
            if try daemon.wait(30) == .killed(signal: SIGKILL) {
                kills += 1
            } else {
                missed.append(point)
            }
            progress(index + 1, points.count)
        }
        let daemon = try spool.start(settings: settings)
        defer { daemon.end() }
        _ = try eventually(within: 60) { () throws(SelfTestError) -> Bool? in
            guard try isIdle(), try answers().count >= sources.count else { return nil }
            return true
        }
        daemon.send(SIGTERM)
        guard try daemon.wait(30) == .exited(0) else {
            throw .broken(
                (["a daemon with a hot folder does not exit with 0"] + spool.lastWords)
                    .joined(separator: "\n    "))
        }
        try audit()
    }

    /// Renames pictures into the hot folder, as a scanner does.
    private mutating func scan() throws(SelfTestError) {
        for _ in 0..<Self.pictures {
            let name = "scan-\(sources.count).png"
            try onFiles { () throws(FileError) in
                try scans.write(picture, to: ".new", durably: false)
                try scans.rename(".new", to: scans, as: FileName(name))
            }
            sources.append(ByteString("./\(name)"))
        }
    }

    private func isIdle() throws(SelfTestError) -> Bool {
        guard try spool.isIdle() else { return false }
        return try onFiles { () throws(FileError) in try scans.names().isEmpty }
    }

    /// The images of all answers.
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
            if try spool.outboxFile(id, FileName("\(image.name).original.png")) != picture {
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
        let left = try onFiles { () throws(FileError) in try scans.names() }
        for name in left { lost.append("\(name.text) is still in its folder") }
        let files = try onFiles { () throws(FileError) in try delivered.names() }
        if files.count != sources.count {
            differing.append("\(files.count) files are delivered for \(sources.count) pictures")
        }
    }
}
