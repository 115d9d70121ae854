import DarkroomAnswer
import DarkroomCore
import DarkroomManifest

/// The content of a manifest's file and the result of the reader.
package struct ManifestReading: Sendable {
    /// nil for a file above the size limit, which is not read.
    package let bytes: [UInt8]?
    /// The size of the file according to the file system.
    package let byteCount: Int
    /// In hexadecimal; nil if the file was not read.
    package let sha256: String?
    package let outcome: Result<Manifest, ManifestRejection>

    /// Of a folder that was taken and whose submitter has then forbidden to read and to move it.
    static let unreadable = ManifestReading(
        bytes: nil, byteCount: 0, sha256: nil,
        outcome: .failure(
            ManifestRejection(problems: [
                ManifestProblem(
                    .unreadable,
                    "the daemon was not permitted to read the manifest after it had taken it; it is moved back "
                        + "to tmp; let the daemon read it, then submit it again", place: .none)
            ])))

    /// Whether it has patterns whose files were not looked for, or files whose pages were not counted.
    var awaitsLookUp: Bool {
        if case .success(let manifest) = outcome { return manifest.hasUnknownSources }
        return false
    }

    /// What was looked up for an accepted manifest; nil if there was nothing to be looked up.
    package var sourceRecord: SourceRecord? {
        guard case .success(let manifest) = outcome, !manifest.found.isEmpty else { return nil }
        return manifest.found
    }
}

extension ManifestReading {
    /// Of a manifest that has been read and accepted.
    package init(_ bytes: [UInt8], accepted manifest: Manifest) {
        self.init(
            bytes: bytes, byteCount: bytes.count, sha256: SHA256Digest.hex(of: bytes),
            outcome: .success(manifest))
    }
}
