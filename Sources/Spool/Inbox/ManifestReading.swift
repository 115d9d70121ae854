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

extension ManifestReading {
    /// Writes what was looked up for it to `active/ID`, over an incomplete file.
    package func copyRecord(
        to active: Directory, within id: FileName = ".", durably: Bool
    ) throws(FileError) {
        guard let sourceRecord else { return }
        try active.write(
            sourceRecord.encoded(), to: id / BatchFile.sources, replacing: true, durably: durably)
    }

    /// Writes the daemon's own copy of the read bytes to `active/ID`, over an incomplete one. It is on the disk only
    /// after a sync; with `durably`, the kernel begins to write it.
    ///
    /// - Parameter id: the name of `active/ID` within `active`; "." if it is open.
    package func copy(
        to active: Directory, within id: FileName = ".", _ format: ManifestFormat, durably: Bool
    ) throws(FileError) {
        guard let bytes else { return }
        // It must be there when the manifest is.
        try copyRecord(to: active, within: id, durably: durably)
        let name = id / BatchFile.manifest(format)
        let path = active.path(of: name)
        let file = try active.create(name, replacing: true)
        try file.write(sparsely: bytes, path: path)
        if durably { file.startWriting(bytes: bytes.count) }
        try file.close(path: path)
        FaultPoint.claimCopied.pass()
    }
}
