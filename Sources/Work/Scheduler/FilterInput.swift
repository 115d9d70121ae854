import DarkroomBoard
import DarkroomCore
import DarkroomFetch
import DarkroomPicture
import Glibc
import SystemPackage

/// The picture that a filter reads. A small one is read at once, in one call of the system instead of about seven.
struct FilterInput: ~Copyable {
    private enum Body: ~Copyable {
        /// At the file's beginning.
        case file(Descriptor)
        case content([UInt8])
    }

    private let body: Body
    /// nil for a file that nobody else can change.
    private let found: Found?
    let identity: SourceIdentity?

    init(_ file: FoundFile) {
        body = .content(file.bytes)
        found = nil
        identity = file.identity
    }

    /// What a local file was when it was opened.
    struct Found {
        let information: stat
        let identity: SourceIdentity?
    }

    /// - Parameters:
    ///   - found: nil for a file that nobody else can change.
    ///   - path: the name of the file in messages.
    init(_ file: consuming Descriptor, _ found: Found? = nil, path: String) throws {
        let content: [UInt8]?
        let bytes = try found?.information.length ?? file.length(path: path)
        do {
            content = try Self.content(of: file, bytes: bytes)
        } catch {
            throw PictureError(
                .readFailed, "\(path): reading the file: \(error)", isTransient: true)
        }
        // If the length has changed, the reader of the picture finds out what is wrong.
        self.found = found
        identity = found?.identity
        if let content {
            body = .content(content)
        } else {
            body = .file(file)
        }
    }

    /// All bytes of a small file; nil for a large one, and for one whose length has changed.
    static func content(of file: borrowing Descriptor, bytes: Int) throws(Errno) -> [UInt8]? {
        bytes <= PictureInput.mostBytes ? try file.content(ofLength: bytes) : nil
    }

    var picture: PictureInput {
        switch body {
        case .file(let file): .file(file.file)
        case .content(let bytes): .content(bytes)
        }
    }

    /// What is known of the bytes before they are filtered.
    struct Digest {
        /// In hexadecimal.
        let sha256: String
        /// Whether nobody else can change the bytes, so that they need not be hashed again. A local file may be written
        /// through a mapping, which its identity does not show at once.
        let isOwn: Bool
    }

    /// The digest of all bytes, before they are filtered; nil if somebody is changing the file.
    ///
    /// - Parameters:
    ///   - sources: what this owner's batches have read before. A file that is in it is not read.
    ///   - path: its name in messages.
    func digest(
        for owner: UInt32, _ sources: SourceMemory, path: String
    ) throws(FileError) -> Digest? {
        switch body {
        case .content(let bytes):
            return Digest(sha256: SHA256Digest.hex(of: bytes), isOwn: true)
        case .file(let file):
            guard let found else { return Digest(sha256: try file.sha256(path: path), isOwn: true) }
            let identity = SourceIdentity(found.information)
            let isSettled = identity.isSettled(at: Clock.wall)
            if isSettled, let sha256 = sources.sha256(of: identity, for: owner) {
                return Digest(sha256: sha256, isOwn: false)
            }
            let sha256 = try file.sha256(path: path)
            guard SourceIdentity(try file.information(path: path)) == identity else { return nil }
            if isSettled { sources.remember(sha256, of: identity, for: owner) }
            return Digest(sha256: sha256, isOwn: false)
        }
    }

    /// The digest of the whole file, and which one it was. A large file is read twice, by the filter and for its digest.
    /// If somebody has changed it, the digest is not of what was filtered, and there is none.
    ///
    /// - Parameters:
    ///   - path: its name in messages.
    ///   - before: the digest before it was filtered; nil if it was not computed.
    func source(path: String, before: Digest? = nil) throws(FileError) -> DevelopedPicture.Source {
        switch body {
        case .file(let file):
            let isKnown = before?.isOwn == true
            let sha256 = isKnown ? before?.sha256 : try file.sha256(path: path)
            guard let found else { return .init(sha256: sha256) }
            let now = SourceIdentity(try file.information(path: path))
            guard SourceIdentity(found.information) == now,
                before == nil || before?.sha256 == sha256
            else { return .init(sha256: nil) }
            return .init(sha256: sha256, identity: identity)
        case .content(let bytes):
            return .init(sha256: before?.sha256 ?? SHA256Digest.hex(of: bytes), identity: identity)
        }
    }
}

extension ResultStore {
    /// The digest of a source before it is filtered; nil if somebody is changing it.
    func digest(
        of input: borrowing FilterInput, owner: UInt32, path: String
    ) -> FilterInput.Digest? {
        // Who opens the picture learns why it cannot be read.
        try? input.digest(for: owner, sources, path: path)
    }
}
