import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool
import Foundation
import Glibc
import SystemPackage

/// `.darkroom/plan.json` in the folder of a run: on which manifest it works, and how it is divided. It is written once,
/// before anything else, so that a later run with another manifest is refused instead of mixing its outputs with these.
///
/// The first shards may begin on many machines at once. One of them decides (`Directory.settle`).
package struct RunPlan: Codable, Sendable, Equatable {
    static let fileName: FileName = "plan.json"
    /// The beginning of the names of plans that are not complete.
    private static let newPrefix = "plan.new-"
    private static let capacity = 64 << 10

    /// The version of this format. A reader refuses a version that it does not know. Version 1 has no shards. In version 2,
    /// no image was in more than one shard, so the images of its shards are others. Version 4 has a revision.
    var schemaVersion = 1
    /// The ID of the batch.
    let id: String
    /// The name of the manifest's file, for people.
    let manifest: String
    /// Of the manifest, in hexadecimal.
    let sha256: String
    /// Of the names and digests of its recipes; nil if it uses none. A changed recipe makes another manifest of the same
    /// text.
    let recipes: String?
    /// The folder at which relative paths begin; nil if the manifest has none.
    let base: String?
    /// The folders in which relative paths are looked for instead, `sources.roots`; nil if the manifest has no relative
    /// paths, or if nobody has set the key.
    let roots: [String]?
    /// The text of `manifests.defaultFilters`; nil if each image has filters of the manifest. It decides what the outputs
    /// are, and is not in the manifest.
    let defaultFilters: String?
    /// `manifests.defaultProfile`; nil for `keep`.
    let defaultProfile: OutputProfile?
    /// nil if one run works on the whole manifest.
    let shards: Shards?
    /// The extension of the manifest's format; nil in version 1.
    let format: String?
    /// Whether the manifest was made of pictures that were named on the command line; nil if not. Then its name says
    /// nothing.
    let pictures: Bool?
    /// The SHA-256s of the copies of manifests that may be beside the outputs, besides that of the status and that of this
    /// plan; nil for none. They are of plans that were replaced before they had a status.
    private(set) var copies: [String]?
    /// How often shards have begun with another manifest, another count or other settings (`RunRevision`); nil for the
    /// first time.
    private(set) var revision: Int?

    /// How a manifest is divided.
    package struct Shards: Codable, Sendable, Equatable {
        package let count: Int
        /// The array of tasks that ran first; nil if nobody has told one.
        package private(set) var array: TaskArray?
    }

    /// The IDs of an array's tasks: shard 1 is `first`, and each next one is `step` more.
    package struct TaskArray: Codable, Sendable, Equatable {
        package let first: Int
        package let step: Int
    }

    init(
        id: String, manifest: String, sha256: String, recipes: String? = nil, base: String?,
        roots: [String]? = nil, defaultFilters: String? = nil,
        defaultProfile: OutputProfile = .keep, shards: Shards? = nil, format: ManifestFormat? = nil,
        isOfPictures: Bool = false
    ) {
        self.id = id
        self.manifest = manifest
        self.sha256 = sha256
        self.recipes = recipes
        self.base = base
        self.roots = roots
        self.defaultFilters = defaultFilters
        self.defaultProfile = defaultProfile == .keep ? nil : defaultProfile
        self.shards = shards
        self.format = shards == nil ? nil : format?.rawValue
        pictures = isOfPictures ? true : nil
        schemaVersion = expectedVersion
    }

    /// The same plan, which takes the place of another one.
    ///
    /// - Parameter copy: the SHA-256 of the manifest beside the outputs; nil if there is none.
    func replacing(_ copy: String?) -> RunPlan {
        var plan = self
        plan.copies = copy == nil || copy == sha256 ? nil : copy.map { [$0] }
        return plan
    }

    /// The same plan as the next revision of another one. The copy of a manifest beside the outputs may be that of any
    /// revision that was merged or whose merge was killed.
    func next(after other: RunPlan) -> RunPlan {
        var plan = self
        plan.revision = (other.revision ?? 1) + 1
        let copies = (other.copies ?? []).filter { $0 != other.sha256 } + [other.sha256]
        plan.copies = copies.suffix(Self.mostCopies)
        plan.schemaVersion = plan.expectedVersion
        return plan
    }

    /// The revisions without a merge whose copies are known.
    private static let mostCopies = 100

    static func read(in folder: Directory) throws(RunError) -> RunPlan? {
        let bytes = try runError(of: folder.readSettled(fileName, upTo: capacity))
        guard let bytes else { return nil }
        guard let plan = try? JSONDecoder().decode(RunPlan.self, from: Data(bytes)),
            FileName.isValid(plan.id), plan.schemaVersion == plan.expectedVersion,
            plan.revision ?? 2 > 1,
            plan.shards.map({ Shard(1, of: $0.count) != nil }) ?? true
        else { throw .unreadable(folder.path(of: fileName)) }
        return plan
    }

    /// The plan of the run in a folder of results, and the folder that has it; nil if there is none that can be read.
    static func find(in outputs: Directory) -> (plan: RunPlan, root: Directory)? {
        guard let root = try? Directory(FileName(RunFolder.spoolName), in: outputs),
            let plan = try? read(in: root)
        else { return nil }
        return (plan, root)
    }

    private var expectedVersion: Int { shards == nil ? 1 : revision == nil ? 3 : 4 }

    /// Writes the plan, unless there is one.
    ///
    /// - Returns: the plan that counts: this one, or the one that was there.
    func settle(in folder: Directory) throws(RunError) -> RunPlan {
        try folder.settle(
            Self.fileName, prefix: Self.newPrefix, JSONFile.text(of: self),
            steps: (.planWritten, .planMoved)
        ) { () throws(RunError) in try Self.read(in: folder) }
    }

    /// Replaces the plan of the former manifest. The folder is locked, so that nobody else has one.
    func replace(in folder: Directory) throws(FileError) {
        let new = FileName(unique: Self.newPrefix)
        try folder.write(JSONFile.text(of: self), to: new, durably: false)
        FaultPoint.planWritten.pass()
        try folder.rename(new, to: folder, as: Self.fileName, replacing: true)
        FaultPoint.planMoved.pass()
    }

    /// Removes what processes have left that were killed before they had a plan. There is a plan, so nobody needs it.
    static func removeIncomplete(in folder: Directory) throws(FileError) {
        // Earlier versions had one without a number.
        try folder.removeFiles(withPrefix: "plan.new")
    }

    /// Why a run with the plan `other` may not continue this one; nil if it may.
    ///
    /// - Parameters:
    ///   - isCountMeant: whether the number of shards was written, and not taken from an environment.
    ///   - isRenewed: whether images are compared one by one, so that the same manifest may have changed.
    func conflict(
        with other: RunPlan, in folder: String, isCountMeant: Bool = true, isRenewed: Bool = false
    ) -> RunError? {
        if sha256 != other.sha256 || recipes != other.recipes {
            let change: RunError.ManifestChange =
                sha256 == other.sha256 ? .recipe : manifest == other.manifest ? .text : .other
            let isOfPictures = pictures == true && other.pictures == true
            if !isRenewed || change == .other && !isOfPictures {
                return .otherManifest(folder: folder, manifest: manifest, change: change)
            }
        }
        guard (shards == nil) == (other.shards == nil),
            !isCountMeant || shards?.count == other.shards?.count
        else {
            return .otherShards(
                folder: folder, known: Self.words(shards), asked: Self.words(other.shards))
        }
        if !isRenewed,
            let conflict = conflict(ofFilters: other.defaultFilters, in: folder)
                ?? conflict(ofProfile: other.defaultProfile ?? .keep, in: folder)
        {
            return conflict
        }
        if let conflict = conflict(ofRoots: other.roots, in: folder) { return conflict }
        guard let base, let otherBase = other.base, !Self.isSame(base, otherBase) else {
            return nil
        }
        return .otherBase(folder: folder, base: base)
    }

    /// Makes sure that the images of a run with the plan `other` can be compared with those of this one.
    func requireComparable(
        with other: RunPlan, in folder: String, isCountMeant: Bool = true
    ) throws(RunError) {
        let conflict = conflict(
            with: other, in: folder, isCountMeant: isCountMeant, isRenewed: true)
        if let conflict { throw conflict }
    }

    /// Why a run with these default filters may not continue this one.
    func conflict(ofFilters other: String?, in folder: String) -> RunError? {
        // An earlier version has not written them down.
        guard let defaultFilters, let other, defaultFilters != other,
            Self.filters(defaultFilters) != Self.filters(other)
        else { return nil }
        return .otherSetting(
            folder: folder, key: Self.filtersKey, known: Self.inOneLine(defaultFilters),
            asked: Self.inOneLine(other))
    }

    /// Why a run with this default colour space may not continue this one.
    func conflict(ofProfile other: OutputProfile, in folder: String) -> RunError? {
        let own = defaultProfile ?? .keep
        if own == other { return nil }
        return .otherSetting(
            folder: folder, key: Self.profileKey, known: own.rawValue, asked: other.rawValue)
    }

    /// Why a run with these folders of relative paths may not continue this one.
    func conflict(ofRoots other: [String]?, in folder: String) -> RunError? {
        // Without any folder in which they are looked for, there are no relative paths or none has been found yet.
        let (own, others) = (roots ?? [], other ?? [])
        if own.count == others.count, zip(own, others).allSatisfy(Self.isSame) { return nil }
        return .otherSetting(
            folder: folder, key: Self.rootsKey, known: Self.words(roots), asked: Self.words(other))
    }

    static let profileKey = "manifests.defaultProfile"
    static let filtersKey = "manifests.defaultFilters"
    static let rootsKey = "sources.roots"

    private static func filters(_ text: String) -> [Filter]? {
        try? FilterList.read(yaml: Array(text.utf8), limit: .max)
    }

    /// A list in a configuration file may have several lines.
    private static func inOneLine(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    /// Whether relative paths mean the same in two folders. A folder may have been moved, or another machine may have it
    /// at another place. But if both exist, the same paths mean other pictures.
    private static func isSame(_ former: String, _ present: String) -> Bool {
        guard former != present, let identity = identity(former) else { return true }
        return identity == Self.identity(present)
    }

    /// nil if there is no such folder.
    private static func identity(_ path: String) -> FolderIdentity? {
        (try? Directory(path: path).information()).map { FolderIdentity($0) }
    }

    private static func words(_ roots: [String]?) -> String {
        roots.map { "[\($0.joined(separator: ", "))]" } ?? "not set"
    }

    static func words(_ shards: Shards?) -> String {
        guard let shards else { return "without --shard" }
        return "in \(Words.count(shards.count, "shard"))"
    }
}

extension RunPlan.TaskArray {
    /// The number of the shard of a task; nil if no shard has this task.
    func number(of task: Int) -> Int? {
        guard step > 0, task >= first, (task - first) % step == 0 else { return nil }
        return (task - first) / step + 1
    }

    func task(of number: Int) -> Int { first + (number - 1) * step }

    /// The IDs of the tasks of shards, as Slurm's `--array` takes them: `3,7-9`.
    ///
    /// - Parameter numbers: of the shards, in ascending order.
    package func list(_ numbers: [Int]) -> String {
        var ranges: [ClosedRange<Int>] = []
        for task in numbers.map(task) {
            if let last = ranges.last, last.upperBound + 1 == task {
                ranges[ranges.count - 1] = last.lowerBound...task
            } else {
                ranges.append(task...task)
            }
        }
        return ranges.map {
            switch $0.count {
            case 1: "\($0.lowerBound)"
            case 2: "\($0.lowerBound),\($0.upperBound)"
            default: "\($0.lowerBound)-\($0.upperBound)"
            }
        }.joined(separator: ",")
    }
}
