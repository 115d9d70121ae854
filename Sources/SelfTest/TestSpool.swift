import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Glibc
import SystemPackage

/// A spool for a test: manifests are submitted to it, daemons run on it, and all results are checked.
package final class TestSpool {
    package let path: String
    /// The file for its daemons' output.
    package let log: String
    /// An empty file, so that the machine's configuration is not read.
    private let configuration: String
    private let logName: FileName
    private let parent: Directory
    private let program: String
    private let pictures: String
    private let root: Directory
    /// The submitted manifests, and how often each ID was submitted. The audit expects an answer for each.
    package private(set) var dropped: [String: (manifest: SampleManifest, times: Int)] = [:]
    private var number = 0
    private var last: SampleManifest?

    /// Creates the folder `name` in `folder`, whose folder `pictures` contains the pictures.
    package init(_ name: FileName, in folder: Directory, program: String) throws(SelfTestError) {
        self.program = program
        pictures = folder.path(of: "pictures")
        path = folder.path(of: name)
        logName = "\(name.text).log"
        log = folder.path(of: logName)
        configuration = folder.path(of: "\(name.text).yaml")
        parent = folder
        root = try onFiles { () throws(FileError) in
            try folder.write([], to: "\(name.text).yaml", durably: false)
            try folder.makeDirectory(name)
            let root = try Directory(name, in: folder)
            try root.makeDirectory("tmp")
            try root.makeDirectory("inbox")
            return root
        }
    }

    /// Creates the folder of pictures that all test spools in `folder` share.
    @discardableResult
    package static func makePictures(in folder: Directory) throws(SelfTestError) -> SampleFormats {
        let pictures = try onFiles { () throws(FileError) in
            try folder.makeDirectory("pictures")
            return try Directory("pictures", in: folder)
        }
        try SamplePictures.write(into: pictures)
        return try SampleFormats(in: pictures)
    }

    // MARK: The daemon

    package func start(
        fault: String? = nil, settings: [String: String] = [:], environment: [String: String] = [:]
    ) throws(SelfTestError) -> ChildDaemon {
        var all = [
            "sources.roots": "[\(Self.quoted(pictures))]", "status.interval": "10ms",
            "inbox.settle": "50ms", "batches.window": "4", "cache.maxBytes": "0",
            "manifests.maxBytes": "\(SampleManifest.limit)",
        ]
        all.merge(settings) { $1 }
        var environment = environment
        environment[FaultPoint.variable] = fault
        environment[TestDaemon.variable] = "1"
        let arguments =
            ["--spool", path, "--config", configuration]
            + all.sorted { $0.key < $1.key }.flatMap { ["--set", "\($0.key)=\($0.value)"] }
        return try onFiles(of: ChildDaemon(program, arguments, environment: environment, log: log))
    }

    /// The settings of a daemon with a store of results, which all such daemons of this spool share.
    package var storingResults: [String: String] {
        ["results.maxBytes": "4MiB", "results.folder": "\(path).results"]
    }

    /// A text quoted so that YAML accepts any content.
    static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
            + "'"
    }

    /// The last lines of its daemons' output.
    package var lastWords: [String] {
        let bytes = (try? parent.read(logName)) ?? []
        return String(decoding: bytes.suffix(16 << 10), as: UTF8.self).split(separator: "\n")
            .suffix(20).map(String.init)
    }

    /// An error of a daemon on it, with the last lines of its output.
    func broken(_ message: String) -> SelfTestError {
        .broken(([message] + lastWords).joined(separator: "\n    "))
    }

    /// Stops a daemon that has no work.
    func stop(_ daemon: ChildDaemon) throws(SelfTestError) {
        daemon.send(SIGTERM)
        guard try daemon.wait(30) == .exited(0) else {
            throw broken("a daemon without work does not exit with 0")
        }
    }

    // MARK: Submission

    /// Submits a manifest by the rule: it is written in another folder, then renamed into the inbox.
    ///
    /// - Returns: its ID.
    @discardableResult
    package func drop(_ manifest: SampleManifest) throws(SelfTestError) -> String {
        number += 1
        last = manifest
        return try drop(manifest, number: number)
    }

    private func drop(_ manifest: SampleManifest, number: Int) throws(SelfTestError) -> String {
        try put(manifest, manifest.name(number))
        let id = manifest.id(number)
        dropped[id, default: (manifest, 0)].times += 1
        return id
    }

    /// Submits the last manifest again under the same name, if it has left the inbox.
    ///
    /// - Returns: whether it was submitted.
    package func dropLastAgain() throws(SelfTestError) -> Bool {
        guard let last else { return false }
        do throws(SelfTestError) {
            _ = try drop(last, number: number)
            return true
        } catch .file(let error) where error.errno == .fileExists {
            // It would replace the other file. That would be the submitter's mistake and not a loss.
            return false
        }
    }

    /// Puts a control file for a batch into the inbox, unless the same one is there.
    package func give(_ command: ControlCommand, to id: String) throws(SelfTestError) {
        do throws(SelfTestError) {
            try put([], "\(id).\(command.rawValue)")
        } catch .file(let error) where error.errno == .fileExists {
            // The daemon has not processed it yet.
        }
    }

    private func put(_ manifest: SampleManifest, _ name: FileName) throws(SelfTestError) {
        guard !manifest.pictures.isEmpty else { return try put(Array(manifest.text.utf8), name) }
        try onFiles { () throws(FileError) in
            let tmp = try Directory("tmp", in: root)
            try tmp.makeDirectory(name)
            do throws(FileError) {
                try fill(Directory(name, in: tmp), with: manifest)
                try tmp.rename(name, to: Directory("inbox", in: root), as: name)
            } catch {
                try tmp.removeTree(name)
                throw error
            }
        }
    }

    private func fill(_ folder: Directory, with manifest: SampleManifest) throws(FileError) {
        let originals = try Directory(path: pictures)
        try folder.write(
            Array(manifest.text.utf8), to: BatchFile.manifest(manifest.format), durably: false)
        for picture in manifest.pictures {
            let (parents, name) = Self.place(of: picture)
            var place = folder
            for parent in parents {
                try place.makeDirectory(parent)
                place = try Directory(parent, in: place)
            }
            try place.write(originals.read(name), to: name, durably: false)
        }
    }

    /// The names of the folders on the way to a picture, and that of its file.
    private static func place(of picture: FileName) -> (parents: ArraySlice<FileName>, FileName) {
        let parts = picture.bytes.split(separator: UInt8(ascii: "/")).map(FileName.init(bytes:))
        return (parts.dropLast(), parts.last ?? picture)
    }

    private func put(_ bytes: [UInt8], _ name: FileName) throws(SelfTestError) {
        try onFiles { () throws(FileError) in
            let tmp = try Directory("tmp", in: root)
            try tmp.write(bytes, to: name, durably: false)
            do throws(FileError) {
                try tmp.rename(name, to: Directory("inbox", in: root), as: name)
            } catch {
                try tmp.remove(name)
                throw error
            }
        }
    }

    // MARK: Content

    /// The names in one of its folders; none if the folder does not exist.
    package func names(_ folder: FileName) throws(SelfTestError) -> [FileName] {
        try onFiles(of: ignoringMissing(Directory(folder, in: root).names())) ?? []
    }

    /// A file of an entry of the outbox; nil if it does not exist.
    package func outboxFile(_ id: FileName, _ file: FileName) throws(SelfTestError) -> [UInt8]? {
        try onFiles(
            of: ignoringMissing(Directory(id, in: Directory("outbox", in: root)).read(file)))
    }

    /// The manifest of an answer whose copy is redacted; nil if it does not exist.
    func exactManifest(_ name: FileName) throws(SelfTestError) -> [UInt8]? {
        try onFiles(of: ignoringMissing(Directory(ExactManifests.folderName, in: root).read(name)))
    }

    /// Whether the originals in an entry of the outbox are the whole folder that was submitted, without its secrets.
    func holdsOriginals(
        of manifest: SampleManifest, in id: FileName
    ) throws(SelfTestError) -> Bool {
        try onFiles { () throws(FileError) in
            let answer = try Directory(id, in: Directory("outbox", in: root))
            let folder = try Directory(BatchFile.originals, in: answer)
            let sources = try Directory(path: pictures)
            // With secrets, it is the copy of the answer.
            let file = BatchFile.manifest(manifest.format)
            let text =
                manifest.text.contains(SampleManifest.password)
                ? try answer.read(file) : Array(manifest.text.utf8)
            guard try folder.read(file) == text else { return false }
            for picture in manifest.pictures {
                let (parents, name) = Self.place(of: picture)
                var place = folder
                for parent in parents { place = try Directory(parent, in: place) }
                if try place.read(name) != sources.read(name) { return false }
            }
            return !manifest.pictures.isEmpty
        }
    }

    package func exists(_ name: FileName) throws(SelfTestError) -> Bool {
        try onFiles(of: root.exists(name))
    }

    /// Whether nothing waits and nothing is in work.
    package func isIdle() throws(SelfTestError) -> Bool {
        guard try names("inbox").isEmpty else { return false }
        return try names("active").isEmpty
    }

    /// Waits until every manifest has its answer.
    ///
    /// - Returns: false if the daemon has ended before, if nothing was taken or finished for `seconds`, or if the
    ///   daemon's log contains `word`.
    package func waitUntilIdle(
        _ daemon: ChildDaemon, standstill seconds: Double = 30, orWord word: String? = nil
    ) throws(SelfTestError) -> Bool {
        var last = (try names("inbox").count, try names("active").count)
        var since = Clock.nanoseconds
        while daemon.poll() == nil {
            let now = (try names("inbox").count, try names("active").count)
            if now == (0, 0) { return true }
            if now != last { (last, since) = (now, Clock.nanoseconds) }
            if Clock.nanoseconds - since > UInt64(seconds * 1e9) { return false }
            if let word, lastWords.contains(where: { $0.contains(word) }) { return false }
            try pass(0.004)
        }
        return try isIdle()
    }

    /// Removes the entries of the outbox, as users do, and forgets the submitted manifests.
    package func clear() throws(SelfTestError) {
        try onFiles { () throws(FileError) in
            let outbox = try Directory("outbox", in: root)
            for name in try outbox.names() { try outbox.removeTree(name) }
            let tmp = try Directory("tmp", in: root)
            for name in try tmp.names() { try tmp.remove(name) }
        }
        dropped = [:]
    }
}
