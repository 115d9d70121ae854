import DarkroomCore
import DarkroomManifest
import DarkroomPicture
import Glibc
import SystemPackage

/// A manifest found in the inbox and read there, not yet taken.
package struct Candidate: Sendable {
    package let name: FileName
    let format: ManifestFormat
    let identity: FileIdentity
    package let reading: ManifestReading
    /// When it came into the inbox or was last written to, in seconds since 1970.
    var dropped: Double?
}

/// The content of a manifest's file and what the reader made of it.
package struct ManifestReading: Sendable {
    /// nil for a file above the size limit, of which nothing is read.
    package let bytes: [UInt8]?
    /// As the file system has it.
    package let byteCount: Int
    /// Hexadecimal; nil where nothing was read.
    package let sha256: String?
    package let outcome: Result<Manifest, ManifestRejection>
}

/// Tells whether a file is still the one that was looked at, unchanged.
package struct FileIdentity: Sendable, Equatable {
    let device: UInt64
    let inode: UInt64
    let size: Int
    let modifiedSeconds: Int
    let modifiedNanoseconds: Int

    package init(_ information: stat) {
        device = UInt64(information.st_dev)
        inode = UInt64(information.st_ino)
        size = information.length
        modifiedSeconds = information.st_mtim.tv_sec
        modifiedNanoseconds = information.st_mtim.tv_nsec
    }

    /// To be written down and compared.
    var text: String { "\(inode)-\(modifiedSeconds).\(modifiedNanoseconds)" }

    /// Seconds since the last change by the wall clock; negative if that lies in the future.
    package var age: Double { age(at: Clock.wall) }

    /// The same at another time, in seconds since 1970.
    package func age(at time: Double) -> Double {
        time - Double(modifiedSeconds) - Double(modifiedNanoseconds) / 1e9
    }
}

extension stat {
    /// When the file was renamed, linked or written to, in seconds since 1970.
    fileprivate var statusChanged: Double {
        Double(st_ctim.tv_sec) + Double(st_ctim.tv_nsec) / 1e9
    }
}

/// What to do with a file in the inbox.
package enum Verdict: Sendable {
    /// It is not there any more.
    case gone
    /// It will never be taken as it is.
    case ignored(SkipReason)
    /// It may not be complete yet; look again when it has been left alone for the settle time.
    case settling(FileIdentity)
    /// It cannot be read now.
    case unreadable(FileError)
    /// A control file.
    case control(ControlRequest)
    /// The daemon stops, and it was not read to its end.
    case interrupted
    /// It is larger than was to be read, and has not been.
    case large
    case ready(Candidate)
}

/// Looks at files in the inbox and says what to do with them.
package struct Examination: Sendable {
    let limits: ManifestLimits
    let defaultFilters: [Filter]
    /// Seconds that a file written in place must have been left alone.
    package let settle: Double
    /// Asked while a manifest is read and checked; once it is set, reading fails with ECANCELED.
    package var stop = CancellationFlag()

    package init(
        limits: ManifestLimits, defaultFilters: [Filter], settle: Double,
        stop: CancellationFlag = CancellationFlag()
    ) {
        self.limits = limits
        self.defaultFilters = defaultFilters
        self.settle = settle
        self.stop = stop
    }

    /// The same, asking another flag.
    package func asking(_ stop: CancellationFlag) -> Examination {
        var examination = self
        examination.stop = stop
        return examination
    }

    /// - Parameter isWhole: whether the file is known to be complete: it was renamed into the inbox, or
    ///   has been left alone for the settle time.
    /// - Parameter largest: bytes of a manifest that is read.
    package func examine(
        _ name: FileName, in inbox: Directory, isWhole: Bool, largest: Int = .max
    ) -> Verdict {
        var seen: stat?
        do {
            // First of all, for an event may give a file without a name (O_TMPFILE) a name that nothing has.
            guard let information = try inbox.information(of: name) else { return .gone }
            seen = information
            if let reason = Self.reasonToIgnore(name) { return .ignored(reason) }
            guard information.isRegularFile else { return .ignored(.notAFile) }
            if let file = ControlFile(name) {
                // Name, kind and owner are of one look, so that nobody can change one between. A further
                // link may be anybody's, and says nothing of the owner's wishes.
                guard information.st_nlink == 1 else {
                    return .unreadable(
                        FileError(
                            "use it, because it has another name", inbox.path(of: name),
                            .tooManyLinks))
                }
                return .control(ControlRequest(file, information))
            }
            guard let format = ManifestFormat(fileName: name.text) else { return .gone }
            let identity = FileIdentity(information)
            // By a clock that does not jump, or what is being written just then would be taken for whole.
            let whole = isWhole || identity.age(at: Clock.steady) >= settle
            if format.mayEndAnywhere, !whole { return .settling(identity) }
            // What is larger than any may be takes no time.
            if identity.size > largest, identity.size <= limits.bytes { return .large }
            let reading = try read(name, format, in: inbox)
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

    /// A file that was moved here from another folder has kept its group, and then no permission of its group helps.
    static func explained(
        _ error: FileError, _ file: stat?, in inbox: Directory
    ) -> FileError {
        guard error.errno == .permissionDenied, let group = file?.st_gid,
            let expected = try? inbox.information().st_gid, group != expected
        else { return error }
        var error = error
        error.step += " (its group is \(group), but must be \(expected))"
        return error
    }

    /// Reads and checks the manifest `name` in `folder`. Of one above the size limit nothing is read: what is not
    /// there (a sparse file has any length) would take as long as what is.
    func read(
        _ name: FileName, _ format: ManifestFormat, in folder: Directory
    ) throws(FileError) -> ManifestReading {
        let file = try folder.open(name)
        let path = folder.path(of: name)
        let length = try file.regularLength(path: path)
        guard length <= limits.bytes else { return tooLarge(length) }
        let bytes = try file.readAll(upTo: limits.bytes, path: path, stop: stop)
        // It may have grown since.
        guard bytes.count <= limits.bytes else {
            return tooLarge(max(try file.length(path: path), bytes.count))
        }
        let sha256 = try digest(of: bytes, path)
        let outcome = check(bytes, format)
        // Whoever stops has made a reader break off with whatever error.
        try stop.check("read", path)
        return ManifestReading(
            bytes: bytes, byteCount: bytes.count, sha256: sha256, outcome: outcome)
    }

    /// The same of a manifest that was accepted with so many bytes, and stays so under a limit that is lower now.
    func read(
        accepted name: FileName, _ format: ManifestFormat, bytes: Int, in folder: Directory
    ) throws(FileError) -> ManifestReading {
        var limits = limits
        limits.bytes = max(limits.bytes, bytes)
        let examination = Examination(
            limits: limits, defaultFilters: defaultFilters, settle: settle, stop: stop)
        return try examination.read(name, format, in: folder)
    }

    private func digest(of bytes: [UInt8], _ path: String) throws(FileError) -> String {
        var digest = SHA256Digest()
        for start in stride(from: 0, to: bytes.count, by: 1 << 20) {
            try stop.check("read", path)
            digest.update(bytes[start..<min(start + 1 << 20, bytes.count)])
        }
        return digest.hex()
    }

    private func check(
        _ bytes: [UInt8], _ format: ManifestFormat
    ) -> Result<Manifest, ManifestRejection> {
        do {
            return .success(
                try ManifestReader.read(
                    bytes, format: format, limits: limits, defaultFilters: defaultFilters,
                    stop: stop))
        } catch {
            return .failure(error)
        }
    }

    private func tooLarge(_ length: Int) -> ManifestReading {
        let problem = ManifestProblem(
            code: ProblemCode.tooLarge.rawValue,
            message: "the manifest has \(Units.bytes(length)), but manifests.maxBytes allows "
                + "\(Units.bytes(limits.bytes)); it was not read and is moved back to tmp; split it, or raise "
                + "manifests.maxBytes")
        return ManifestReading(
            bytes: nil, byteCount: length, sha256: nil,
            outcome: .failure(ManifestRejection(problems: [problem])))
    }

    /// Names that mark a file as not meant for us, or not yet.
    package static func reasonToIgnore(_ name: FileName) -> SkipReason? {
        if name.bytes.first == UInt8(ascii: ".") { return .notYet(.dot) }
        for mark in SkipReason.Mark.endings where name.hasSuffix(mark.rawValue) {
            return .notYet(mark)
        }
        if ManifestFormat(fileName: name.text) != nil || ControlFile(name) != nil { return nil }
        let text = name.text
        return PictureFileExtensions.match(text)
            ? .picture : .otherEnding
    }

    /// Whether a file that has just been made is being written, so that its closing will be told. A further
    /// link to a file that was complete before is not, nor is a folder, a symbolic link or a fifo.
    package static func willBeClosed(_ information: stat) -> Bool {
        information.isRegularFile && information.st_nlink == 1
    }
}

extension ManifestReading {
    /// Writes the daemon's own copy of what was read into `active/ID`, over half of one that may be there. It is on the
    /// disk only when it is synced; with `durably` its way there begins.
    func copy(
        to active: Directory, _ format: ManifestFormat, durably: Bool
    ) throws(FileError) {
        guard let bytes else { return }
        let name = BatchFile.manifest(format)
        let path = active.path(of: name)
        let file = try active.create(name, replacing: true)
        try file.write(sparsely: bytes, path: path)
        if durably { file.startWriting() }
        try file.close(path: path)
        FaultPoint.claimCopied.pass()
    }
}

extension Descriptor {
    /// The length of what must be a regular file: a fifo or a socket would keep whoever reads it waiting.
    fileprivate func regularLength(path: String) throws(FileError) -> Int {
        var information = stat()
        guard fstat(number, &information) == 0 else {
            throw FileError("examine", path, Errno(rawValue: errno))
        }
        guard information.isRegularFile else {
            throw FileError("read (it is not a regular file)", path, .notSupported)
        }
        return Int(information.st_size)
    }
}

extension FileIdentity {
    /// Whether this file was changed before the other, or at the same moment and has the lesser name.
    package func isOlder(
        than other: FileIdentity, _ name: [UInt8], _ otherName: [UInt8]
    ) -> Bool {
        let own = (modifiedSeconds, modifiedNanoseconds)
        let others = (other.modifiedSeconds, other.modifiedNanoseconds)
        return own == others ? name.lexicographicallyPrecedes(otherName) : own < others
    }
}
