import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import Glibc
import SystemPackage

/// The copy of a manifest in its answer, which the group reads.
package struct ManifestCopy: Sendable {
    /// The manifest itself: it has no secrets.
    package static let exact = ManifestCopy()
    /// The manifest itself, for the daemon alone: it may have secrets, and cannot be shown without them.
    static let closed = ManifestCopy(isClosed: true)

    var isClosed = false
    /// The manifest without the secrets of its URLs; nil for the manifest itself.
    var bytes: [UInt8]?
    var reference: Status.ManifestReference.RedactedCopy?
}

extension ManifestCopy {
    /// For most manifests, this only looks at the bytes.
    package init(of claimed: ClaimedManifest) {
        let manifest = try? claimed.reading.outcome.get()
        guard let bytes = claimed.reading.bytes,
            ManifestSecrecy.mayHoldSecrets(bytes, in: manifest)
        else {
            self = .exact
            return
        }
        // The answer of a run belongs to the user, who has the manifest.
        guard claimed.folders.spool.run == nil, let manifest,
            let shown = RedactedManifest.bytes(
                of: bytes, claimed.format, recipes: RecipeBook(manifest.recipes),
                found: manifest.found)
        else {
            self = .closed
            return
        }
        self.init(
            bytes: shown,
            reference: .init(bytes: shown.count, sha256: SHA256Digest.hex(of: shown)))
    }
}

extension Directory {
    /// Takes a file from the group and all others, before it gets its name in an answer. Only the daemon can put a link
    /// into this folder.
    package func close(_ name: FileName, durably: Bool) throws(FileError) {
        guard name.withCString({ fchmodat(number, $0, 0o600, 0) }) == 0 else {
            throw FileError(.setMode, path(of: name), Errno(rawValue: errno))
        }
        // Otherwise the group could read it after a power cut.
        if durably { try open(name).sync(path: path(of: name)) }
    }

    /// Takes the copy of a manifest in the folder of a run from all but the user, if it may have secrets.
    package func closeManifest(
        _ name: FileName, of bytes: [UInt8], _ manifest: Manifest
    ) throws(FileError) {
        guard ManifestSecrecy.mayHoldSecrets(bytes, in: manifest) else { return }
        try close(name, durably: false)
    }
}
