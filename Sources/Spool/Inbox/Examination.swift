import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomPicture
import Glibc
import SystemPackage

/// A manifest that was found and read in the inbox, but is not taken yet.
package struct Candidate: Sendable {
    package let name: FileName
    /// Whether it is a folder that contains pictures, mostly with the manifest.
    var isFolder = false
    let format: ManifestFormat
    /// The identity of the manifest's file; nil for a folder without one.
    let identity: FileIdentity?
    package let reading: ManifestReading
    /// When it came into the inbox or was last written to, in seconds since 1970.
    var dropped: Double?
}

/// What to do with a file in the inbox.
package enum Verdict: Sendable {
    case gone
    /// It is never taken in its current form.
    case ignored(SkipReason)
    /// It may be incomplete; examine it again when it has not changed for the settle time.
    case settling(FileIdentity)
    case unreadable(FileError)
    case control(ControlRequest)
    /// The daemon is stopping, and the file was not read completely.
    case interrupted
    /// It is larger than `largest` and was not read, or it has patterns and `largest` is a limit: to take it may take
    /// long.
    case large
    case ready(Candidate)
}

/// Examines files in the inbox and decides what to do with them.
package struct Examination: Sendable {
    /// Makes what looks for the files of patterns: in a folder that was submitted, with its owner, and elsewhere.
    package typealias FinderMaker =
        @Sendable (_ pictures: Directory?, _ owner: UInt32) -> SourceFinder

    package var limits: ManifestLimits
    let defaultFilters: [Filter]
    private(set) var recipes: RecipeBook
    /// Looks for the files of patterns, and counts pages; nil if nothing does.
    private let sources: FinderMaker?
    /// What was looked up for a manifest that was accepted; nil for any other manifest.
    var recorded: SourceRecord?
    /// How long a file that is written in place must be unchanged, in seconds.
    package let settle: Double
    /// Checked while a manifest is read; when it is set, reading throws ECANCELED.
    package var stop = CancellationFlag()
    /// The part of each manifest that is taken; nil for the whole.
    package var shard: Shard?

    package init(
        limits: ManifestLimits, defaultFilters: [Filter], settle: Double,
        recipes: RecipeBook = RecipeBook(), sources: FinderMaker? = nil
    ) {
        self.limits = limits
        self.sources = sources
        self.defaultFilters = defaultFilters
        self.recipes = recipes
        self.settle = settle
    }

    /// The same examination, which ends when this flag is set.
    package func asking(_ stop: CancellationFlag) -> Examination {
        var examination = self
        examination.stop = stop
        return examination
    }

    /// The examination of a manifest that was accepted with this status: with the recipes that it had then, with filters
    /// even if only recipes may have any now, and with the files and pages that there were then.
    func accepting(_ status: Status, _ found: SourceRecord?) -> Examination {
        var examination = self
        examination.recorded = found ?? SourceRecord()
        examination.recipes = RecipeBook(of: status, limit: limits.filters)
        examination.limits.delivery = nil
        return examination
    }

    /// What is read at once.
    package enum Effort: Sendable {
        /// Everything, however long that takes.
        case whole
        /// What takes little time: no manifest of more than so many bytes, and nothing that has to be looked up in
        /// folders.
        case quick(Int)

        fileprivate var looksUp: Bool {
            if case .whole = self { true } else { false }
        }

        fileprivate func reads(_ size: Int) -> Bool {
            if case .quick(let largest) = self { size <= largest } else { true }
        }
    }

    /// - Parameters:
    ///   - isWhole: whether the file is known to be complete: it was renamed into the inbox, or it has not changed for
    ///     the settle time.
    ///   - effort: what is read now. For the rest, the verdict is `.large`.
    package func examine(
        _ name: FileName, in inbox: Directory, isWhole: Bool, effort: Effort = .whole
    ) -> Verdict {
        var seen: stat?
        do {
            // This comes first, because an event of an unnamed file (O_TMPFILE) may contain a name that no file has.
            guard let information = try inbox.information(of: name) else { return .gone }
            seen = information
            if let reason = Self.reasonToIgnore(name, isFolder: information.isFolder) {
                return .ignored(reason)
            }
            if information.isFolder {
                return try examineFolder(
                    name, information, in: inbox, isWhole: isWhole, effort: effort)
            }
            guard information.isRegularFile else { return .ignored(.notAFile) }
            if let file = ControlFile(name) {
                // Name, type and owner come from one call, so that nobody can change one in between. Another user may
                // have created a further hard link, so such a file does not show what its owner wants.
                guard information.st_nlink == 1 else {
                    return .unreadable(
                        FileError(
                            .use, inbox.path(of: name), .tooManyLinks,
                            detail: "it, because it has another name"))
                }
                return .control(ControlRequest(file, information))
            }
            guard let format = ManifestFormat(fileName: name.text) else { return .gone }
            let identity = FileIdentity(information)
            // This clock does not jump; otherwise a file that is being written could count as complete.
            let whole = isWhole || identity.age(at: Clock.steady) >= settle
            if format.mayEndAnywhere, !whole { return .settling(identity) }
            // A file above the limit takes no time, because it is not read.
            if !effort.reads(identity.size), identity.size <= limits.bytes { return .large }
            let reading = try read(OpenManifest(name, format, in: inbox), looksUp: effort.looksUp)
            if reading.awaitsLookUp { return .large }
            if case .failure = reading.outcome, !whole { return .settling(identity) }
            return .ready(
                Candidate(
                    name: name, format: format, identity: identity, reading: reading,
                    dropped: information.statusChanged))
        } catch  where error.errno == .noSuchFileOrDirectory {
            return .gone
        } catch  where error.errno == .canceled {
            return .interrupted
        } catch {
            return .unreadable(Self.explained(error, seen, in: inbox))
        }
    }

    /// Examines a folder, which nobody reports to be complete unless it was renamed into the inbox.
    private func examineFolder(
        _ name: FileName, _ information: stat, in inbox: Directory, isWhole: Bool, effort: Effort
    ) throws(FileError) -> Verdict {
        let folder: Directory
        do {
            folder = try Directory(name, in: inbox)
        } catch  where error.errno == .permissionDenied {
            return .ignored(.folder(.closed))
        }
        func settling() throws(FileError) -> Verdict? {
            do throws(FileError) {
                guard !isWhole, let last = try FolderJob.lastChange(of: name, in: inbox),
                    last.age(at: Clock.steady) < settle
                else { return nil }
                return .settling(last)
            } catch  where error.errno == .permissionDenied {
                // A folder in it is closed, which the listing explains.
                return nil
            }
        }
        switch try FolderJob.find(in: folder, recipe: recipes.ofFolders) {
        case .unusable(let problem):
            if !isWhole, FileIdentity(information).age(at: Clock.steady) < settle,
                let last = try FolderJob.lastChange(of: name, in: inbox)
            {
                return .settling(last)
            }
            return .ignored(.folder(problem))
        case .pictures(let pictures):
            if let verdict = try settling() { return verdict }
            // It takes as long as a pattern.
            guard effort.looksUp else { return .large }
            switch try look(at: pictures) {
            case .unusable(let problem): return .ignored(.folder(problem))
            case .manifest(let manifest):
                return .ready(
                    Candidate(
                        name: name, isFolder: true, format: manifest.format, identity: nil,
                        reading: manifest.reading, dropped: information.statusChanged))
            }
        case .found(let manifest):
            if let verdict = try settling() { return verdict }
            let identity = FileIdentity(manifest.information)
            if !effort.reads(identity.size), identity.size <= limits.bytes { return .large }
            let reading = try read(manifest, looksUp: effort.looksUp)
            if reading.awaitsLookUp { return .large }
            return .ready(
                Candidate(
                    name: name, isFolder: true, format: manifest.format, identity: identity,
                    reading: reading, dropped: information.statusChanged))
        }
    }

    /// Explains the error of a file that was moved here from another folder: it has kept its group, so the permissions
    /// of its group do not help.
    static func explained(_ error: FileError, _ file: stat?, in inbox: Directory) -> FileError {
        guard error.errno == .permissionDenied, let group = file?.st_gid,
            let expected = try? inbox.information().st_gid, group != expected
        else { return error }
        var error = error
        let groups = "(its group is \(group), but must be \(expected))"
        error.detail = error.detail.map { "\($0) \(groups)" } ?? groups
        return error
    }

    /// Reads and checks a manifest, from its beginning and once. A file above the size limit is not read: holes of a
    /// sparse file of any length would take as long as data.
    ///
    /// - Parameter looksUp: whether the files of patterns are looked for, which may take long if a disk is slow.
    func read(
        _ manifest: borrowing OpenManifest, looksUp: Bool = true
    ) throws(FileError) -> ManifestReading {
        let length = manifest.information.length
        guard length <= limits.bytes else { return tooLarge(length) }
        let bytes = try manifest.file.readAll(
            upTo: limits.bytes, length: length, path: manifest.path, stop: stop)
        // It may have grown in the meantime.
        guard bytes.count <= limits.bytes else {
            return tooLarge(max(try manifest.file.length(path: manifest.path), bytes.count))
        }
        let sha256 = try digest(of: bytes, manifest.path)
        let finder =
            looksUp ? finder(manifest.pictures, manifest.information.st_uid) : recordedFinder
        let outcome = check(bytes, manifest.format, finder, of: manifest.information.st_uid)
        // If `stop` is set, the reader has ended with any error.
        try stop.check(.read, manifest.path)
        return ManifestReading(
            bytes: bytes, byteCount: bytes.count, sha256: sha256, outcome: outcome)
    }

    /// Reads a manifest that was accepted with this size. It stays accepted if the limit is lower now.
    func read(
        accepted name: FileName, _ format: ManifestFormat, bytes: Int, in folder: Directory
    ) throws(FileError) -> ManifestReading {
        var examination = self
        examination.limits.bytes = max(limits.bytes, bytes)
        return try examination.read(OpenManifest(name, format, in: folder))
    }

    private func digest(of bytes: [UInt8], _ path: String) throws(FileError) -> String {
        var digest = SHA256Digest()
        for start in stride(from: 0, to: bytes.count, by: 1 << 20) {
            try stop.check(.read, path)
            digest.update(bytes[start..<min(start + 1 << 20, bytes.count)])
        }
        return digest.hex()
    }

    /// - Parameters:
    ///   - pictures: the folder that was submitted.
    ///   - owner: the owner of the manifest, who is that of the folder (`FolderJob.find`).
    func finder(_ pictures: Directory?, _ owner: UInt32) -> SourceFinder {
        recorded == nil ? sources?(pictures, owner) ?? .recorded(SourceRecord()) : recordedFinder
    }

    private var recordedFinder: SourceFinder { recorded.map { .recorded($0) } ?? .none }

    /// Reads a manifest for which something was looked up before.
    package func check(
        _ bytes: [UInt8], _ format: ManifestFormat, by record: SourceRecord
    ) -> Result<Manifest, ManifestRejection> {
        check(bytes, format, .recorded(record))
    }

    func check(
        _ bytes: [UInt8], _ format: ManifestFormat, _ finder: SourceFinder,
        of owner: UInt32? = nil
    ) -> Result<Manifest, ManifestRejection> {
        var limits = limits
        limits.owner = owner
        do {
            let manifest = try ManifestReader.read(
                bytes, format: format, limits: limits, defaultFilters: defaultFilters,
                recipes: recipes, finder: finder, stop: stop)
            return .success(shard.map(manifest.part) ?? manifest)
        } catch {
            return .failure(error)
        }
    }

    private func tooLarge(_ length: Int) -> ManifestReading {
        let problem = ManifestProblem(
            .tooLarge,
            "the manifest has \(Units.bytes(length)), but manifests.maxBytes allows "
                + "\(Units.bytes(limits.bytes)); it was not read and is moved back to tmp; split it, or raise "
                + "manifests.maxBytes", place: .none)
        return ManifestReading(
            bytes: nil, byteCount: length, sha256: nil,
            outcome: .failure(ManifestRejection(problems: [problem])))
    }

    /// Why a name means that the file or folder is not for Darkroom, or not yet. A folder needs no extension.
    package static func reasonToIgnore(_ name: FileName, isFolder: Bool = false) -> SkipReason? {
        if name.bytes.first == UInt8(ascii: ".") { return .notYet(.dot) }
        if IgnoredNames.standard.contains(name) { return .ofMachine }
        for mark in SkipReason.Mark.endings where name.hasSuffix(mark.rawValue) {
            return .notYet(mark)
        }
        if isFolder { return ControlFile(name) == nil ? nil : .notAFile }
        if ManifestFormat(fileName: name.text) != nil || ControlFile(name) != nil { return nil }
        return PictureFileExtensions.match(name.text) ? .picture : .otherEnding
    }

    /// Whether a new file is being written, so that an event will report when it is closed. A hard link to a complete
    /// file is not being written, and neither is a folder, a symbolic link or a FIFO.
    package static func willBeClosed(_ information: stat) -> Bool {
        information.isRegularFile && information.st_nlink == 1
    }
}
