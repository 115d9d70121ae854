import Glibc
import SystemPackage

/// A manifest found in the inbox and read there, not yet taken.
struct Candidate: Sendable {
    let name: FileName
    let format: ManifestFormat
    let identity: FileIdentity
    let reading: ManifestReading
    /// When it came into the inbox or was last written to, in seconds since 1970.
    var dropped: Double?
}

/// The content of a manifest's file and what the reader made of it.
package struct ManifestReading: Sendable {
    /// nil for a file above the size limit, which is not kept in memory.
    package let bytes: [UInt8]?
    package let byteCount: Int
    /// Hexadecimal.
    package let sha256: String
    package let outcome: Result<Manifest, ManifestRejection>
}

/// Tells whether a file is still the one that was looked at, unchanged.
struct FileIdentity: Sendable, Equatable {
    let device: UInt64
    let inode: UInt64
    let size: Int
    let modifiedSeconds: Int
    let modifiedNanoseconds: Int

    init(_ information: stat) {
        device = UInt64(information.st_dev)
        inode = UInt64(information.st_ino)
        size = information.length
        modifiedSeconds = information.st_mtim.tv_sec
        modifiedNanoseconds = information.st_mtim.tv_nsec
    }

    /// To be written down and compared.
    var text: String { "\(inode)-\(modifiedSeconds).\(modifiedNanoseconds)" }

    /// Seconds since the last change by the wall clock; negative if that lies in the future.
    var age: Double {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Double(now.tv_sec) - Double(modifiedSeconds)
            + (Double(now.tv_nsec) - Double(modifiedNanoseconds)) / 1e9
    }
}

extension stat {
    /// When the file was renamed, linked or written to, in seconds since 1970.
    fileprivate var statusChanged: Double {
        Double(st_ctim.tv_sec) + Double(st_ctim.tv_nsec) / 1e9
    }
}

/// What to do with a file in the inbox.
enum Verdict: Sendable {
    /// It is not there any more.
    case gone
    /// It will never be taken as it is.
    case ignored(NotTaken)
    /// It may not be complete yet; look again when it has been left alone for the settle time.
    case settling(FileIdentity)
    /// It cannot be read now.
    case unreadable(FileError)
    /// A control file.
    case control(ControlRequest)
    /// It is larger than was to be read, and has not been.
    case large
    case ready(Candidate)
}

/// Looks at files in the inbox and says what to do with them.
struct Examination: Sendable {
    let limits: ManifestLimits
    let defaultFilters: [Filter]
    /// Seconds that a file written in place must have been left alone.
    let settle: Double

    /// - Parameter isWhole: whether the file is known to be complete: it was renamed into the inbox, or
    ///   has been left alone for the settle time.
    /// - Parameter largest: bytes of a manifest that is read.
    func examine(
        _ name: FileName, in inbox: Directory, isWhole: Bool, largest: Int = .max
    ) -> Verdict {
        if let reason = Self.reasonToIgnore(name) { return .ignored(reason) }
        do {
            guard let information = try inbox.information(of: name) else { return .gone }
            guard information.st_mode & S_IFMT == S_IFREG else {
                return .ignored(.notAFile)
            }
            if let file = ControlFile(name) {
                // Name, kind and owner are of one look, so that nobody can change one between. A further
                // link may be anybody's, and says nothing of the owner's wishes.
                guard information.st_nlink == 1 else {
                    return .unreadable(
                        FileError("obey: it has another name", inbox.path(of: name), .tooManyLinks))
                }
                return .control(ControlRequest(file, information))
            }
            guard let format = ManifestFormat(fileName: name.text) else { return .gone }
            let identity = FileIdentity(information)
            let whole = isWhole || identity.age >= settle
            // A YAML text cut anywhere may still be one, so only time tells that it is whole. The
            // other formats say themselves where they end.
            if format == .yaml, !whole { return .settling(identity) }
            if identity.size > largest { return .large }
            let reading = try read(name, format, in: inbox)
            if case .failure = reading.outcome, !whole { return .settling(identity) }
            return .ready(
                Candidate(
                    name: name, format: format, identity: identity, reading: reading,
                    dropped: information.statusChanged))
        } catch  where error.errno == .noSuchFileOrDirectory {
            return .gone
        } catch {
            return .unreadable(error)
        }
    }

    /// Reads and checks the manifest `name` in `folder`.
    func read(
        _ name: FileName, _ format: ManifestFormat, in folder: Directory
    ) throws(FileError) -> ManifestReading {
        let file = try folder.open(name)
        let path = folder.path(of: name)
        let bytes = try file.readAll(upTo: limits.bytes, path: path)
        guard bytes.count <= limits.bytes else {
            return try tooLarge(file, path, begun: bytes)
        }
        return ManifestReading(
            bytes: bytes, byteCount: bytes.count, sha256: SHA256Digest.hex(of: bytes),
            outcome: Self.check(bytes, format, limits, defaultFilters))
    }

    private static func check(
        _ bytes: [UInt8], _ format: ManifestFormat, _ limits: ManifestLimits, _ filters: [Filter]
    ) -> Result<Manifest, ManifestRejection> {
        do {
            return .success(
                try ManifestReader.read(
                    bytes, format: format, limits: limits, defaultFilters: filters))
        } catch {
            return .failure(error)
        }
    }

    private func tooLarge(
        _ file: borrowing Descriptor, _ path: String, begun: [UInt8]
    ) throws(FileError) -> ManifestReading {
        var digest = SHA256Digest()
        digest.update(begun)
        var count = begun.count
        while true {
            let more = try file.readAll(upTo: (1 << 20) - 1, path: path)
            if more.isEmpty { break }
            digest.update(more)
            count += more.count
        }
        let problem = ManifestProblem(
            code: ProblemCode.tooLarge.rawValue,
            message: "the manifest has \(count) bytes; manifests.maxBytes allows \(limits.bytes)")
        return ManifestReading(
            bytes: nil, byteCount: count, sha256: digest.hex(),
            outcome: .failure(ManifestRejection(problems: [problem])))
    }

    /// Names that mark a file as not meant for us, or not yet.
    static func reasonToIgnore(_ name: FileName) -> NotTaken? {
        if name.bytes.first == UInt8(ascii: ".") { return .notYet(.dot) }
        for mark in NotTaken.Mark.endings where name.hasSuffix(mark.rawValue) {
            return .notYet(mark)
        }
        let isKnown = ManifestFormat(fileName: name.text) != nil || ControlFile(name) != nil
        return isKnown ? nil : .otherEnding
    }

    /// Whether a file that has just been made is being written, so that its closing will be told. A further
    /// link to a file that was complete before is not, nor is a folder, a symbolic link or a fifo.
    static func willBeClosed(_ information: stat) -> Bool {
        information.st_mode & S_IFMT == S_IFREG && information.st_nlink == 1
    }
}

extension FileIdentity {
    /// Whether this file was changed before the other, or at the same moment and has the lesser name.
    func isOlder(
        than other: FileIdentity, _ name: [UInt8], _ otherName: [UInt8]
    ) -> Bool {
        let own = (modifiedSeconds, modifiedNanoseconds)
        let others = (other.modifiedSeconds, other.modifiedNanoseconds)
        return own == others ? name.lexicographicallyPrecedes(otherName) : own < others
    }
}

extension Examination {
    init(_ configuration: Darkroom.Configuration) {
        self.init(
            limits: configuration.manifestLimits, defaultFilters: configuration.defaultFilters,
            settle: configuration.settle)
    }
}
