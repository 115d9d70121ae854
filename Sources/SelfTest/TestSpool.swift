import DarkroomCore
import DarkroomSpool
import Glibc
import SystemPackage

/// A spool of a test's own: manifests are dropped into it, daemons run on it, and what became of everything
/// is audited.
package final class TestSpool {
    package let path: String
    /// Where its daemons write what they have to say.
    package let log: String
    /// An empty file, lest the machine's configuration be read.
    private let configuration: String
    private let logName: FileName
    private let parent: Directory
    private let program: String
    private let pictures: String
    private let root: Directory
    /// What has been dropped, and how often under each ID; the audit wants an answer for each.
    package private(set) var dropped: [String: (manifest: SampleManifest, times: Int)] = [:]
    private var number = 0
    private var last: SampleManifest?

    /// Makes the folder `name` in `folder`, which has the pictures in its folder `pictures`.
    package init(
        _ name: FileName, in folder: Directory, program: String
    ) throws(SelfTestError) {
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

    /// Makes the folder of pictures that all test spools in `folder` share.
    package static func makePictures(in folder: Directory) throws(SelfTestError) {
        let pictures = try onFiles { () throws(FileError) in
            try folder.makeDirectory("pictures")
            return try Directory("pictures", in: folder)
        }
        try SamplePictures.write(into: pictures)
    }

    // MARK: The daemon

    /// Starts a daemon on it.
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
        return try onFiles { () throws(FileError) in
            try ChildDaemon(program, arguments, environment: environment, log: log)
        }
    }

    /// A text as YAML takes it whatever is in it.
    private static func quoted(_ text: String) -> String {
        "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''")
            + "'"
    }

    /// The last lines that its daemons have written.
    package var lastWords: [String] {
        let bytes = (try? parent.read(logName)) ?? []
        return String(decoding: bytes.suffix(16 << 10), as: UTF8.self).split(separator: "\n")
            .suffix(20).map(String.init)
    }

    // MARK: What goes in

    /// Drops a manifest by the rule: written elsewhere, then renamed into the inbox. Gives its ID.
    @discardableResult
    package func drop(_ manifest: SampleManifest) throws(SelfTestError) -> String {
        number += 1
        last = manifest
        return try drop(manifest, number: number)
    }

    private func drop(_ manifest: SampleManifest, number: Int) throws(SelfTestError) -> String {
        try put(Array(manifest.text.utf8), manifest.name(number))
        let id = manifest.id(number)
        dropped[id, default: (manifest, 0)].times += 1
        return id
    }

    /// Drops the last manifest once more under the same name, if that has left the inbox; tells whether.
    package func dropLastAgain() throws(SelfTestError) -> Bool {
        guard let last else { return false }
        do throws(SelfTestError) {
            _ = try drop(last, number: number)
            return true
        } catch .file(let error) where error.errno == .fileExists {
            // It would take the other one's place, which is its submitter's mistake and no loss.
            return false
        }
    }

    /// Puts a control file for a batch into the inbox, unless one like it is there.
    package func give(_ command: ControlCommand, to id: String) throws(SelfTestError) {
        do throws(SelfTestError) {
            try put([], "\(id).\(command.rawValue)")
        } catch .file(let error) where error.errno == .fileExists {
            // The daemon has not come to it yet.
        }
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

    // MARK: What is there

    /// The names in one of its folders, none where there is no such folder.
    package func names(_ folder: FileName) throws(SelfTestError) -> [FileName] {
        try onFiles { () throws(FileError) in
            do throws(FileError) {
                return try Directory(folder, in: root).names()
            } catch  where error.errno == .noSuchFileOrDirectory {
                return []
            }
        }
    }

    /// A file of an entry of the outbox; nil where there is none.
    package func outboxFile(_ id: FileName, _ file: FileName) throws(SelfTestError) -> [UInt8]? {
        try onFiles { () throws(FileError) in
            do throws(FileError) {
                return try Directory(id, in: Directory("outbox", in: root)).read(file)
            } catch  where error.errno == .noSuchFileOrDirectory {
                return nil
            }
        }
    }

    package func exists(_ name: FileName) throws(SelfTestError) -> Bool {
        try onFiles { () throws(FileError) in try root.exists(name) }
    }

    /// Whether nothing waits and nothing is in work.
    package func isIdle() throws(SelfTestError) -> Bool {
        guard try names("inbox").isEmpty else { return false }
        return try names("active").isEmpty
    }

    /// Waits until everything is answered. False if the daemon has ended before, if for `seconds` nothing was
    /// taken or finished, or if the daemon's log has come to hold `word`.
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

    /// Removes the outbox's entries, as their users do, and forgets what was dropped.
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
