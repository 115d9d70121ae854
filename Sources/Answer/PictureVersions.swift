import CDarkroomShims
import DarkroomCore
import DarkroomPicture

/// The versions of what decides the bytes of an output. `darkroom verify --again` explains a difference with them.
///
/// libjpeg-turbo and libdeflate tell only the version with which Darkroom was built.
package struct PictureVersions: Codable, Sendable, Equatable {
    package var darkroom: String
    package var libpng: String
    package var libjpegTurbo: String
    package var zlib: String
    package var libdeflate: String
    /// The libraries with which codec programs write the outputs: their versions by their names. nil without such
    /// outputs, and if an older version wrote this.
    package var codecs: [String: String]?

    private enum CodingKeys: String, CodingKey {
        case darkroom, libpng
        case libjpegTurbo = "libjpeg-turbo"
        case zlib, libdeflate, codecs
    }

    /// The versions in this process.
    package static let present = PictureVersions(
        darkroom: Release.version, libpng: String(cString: darkroom_libpng_version()),
        libjpegTurbo: String(cString: darkroom_libjpeg_turbo_version()),
        zlib: String(cString: darkroom_zlib_version()),
        libdeflate: String(cString: darkroom_libdeflate_version()))

    /// The versions in this process, and in the programs that have written results of some formats for it.
    package static func present(writing formats: Set<OutputFormat>) -> PictureVersions {
        var versions = present
        for library in formats.compactMap(\.library) {
            versions.codecs = (versions.codecs ?? [:]).merging([library.name: library.version]) {
                $1
            }
        }
        return versions
    }

    /// The names and versions, without those of codec programs, in the order of the keys.
    package var named: [(name: String, version: String)] {
        [
            ("darkroom", darkroom), ("libpng", libpng), ("libjpeg-turbo", libjpegTurbo),
            ("zlib", zlib), ("libdeflate", libdeflate),
        ]
    }

    /// The digest of the versions that decide the bytes of results of a format: a SHA-256 in hexadecimal.
    ///
    /// - Parameter format: nil for an image without a result.
    package func sha256(of format: OutputFormat?) -> String {
        var writer = JSONWriter()
        writer.add("versions", deciding(format)) { writer, item in
            writer.add("name", item.name)
            writer.add("version", item.version)
        }
        return SHA256Digest.hex(of: writer.text())
    }

    /// The digest of the versions of this process, and of the program that has written results of the format for it.
    package static func presentSHA256(of format: OutputFormat?) -> String {
        format?.library == nil
            ? ownSHA256 : present(writing: format.map { [$0] } ?? []).sha256(of: format)
    }

    private static let ownSHA256 = present.sha256(of: nil)

    /// The names and versions that decide the bytes of results of a format.
    package func deciding(_ format: OutputFormat?) -> [(name: String, version: String)] {
        guard let name = format?.library?.name, let version = codecs?[name] else { return named }
        return named + [(name, version)]
    }

    /// Adds the codecs of other versions, if these are the same as far as both are known.
    ///
    /// - Returns: false if they are not.
    fileprivate mutating func takes(_ other: PictureVersions) -> Bool {
        let isSame = zip(named, other.named).allSatisfy { $0 == $1 }
        let (mine, others) = (codecs ?? [:], other.codecs ?? [:])
        guard isSame, mine.allSatisfy({ others[$0.key] ?? $0.value == $0.value }) else {
            return false
        }
        let both = mine.merging(others) { $1 }
        codecs = both.isEmpty ? nil : both
        return true
    }
}

extension [PictureVersions] {
    /// These and others, each once.
    package func joined(by others: [PictureVersions]) -> [PictureVersions] {
        others.reduce(self) { known, other in
            var all = known
            if all.indices.contains(where: { all[$0].takes(other) }) { return all }
            return all + [other]
        }
    }
}

extension Status {
    /// Adds the versions of the libraries that have written its outputs in codec programs of this process.
    package mutating func noteCodecs() {
        let versions = PictureVersions.present(
            writing: Set(images.compactMap { $0.output?.format }))
        guard versions.codecs != nil else { return }
        self.versions = (self.versions ?? []).joined(by: [versions])
    }
}
