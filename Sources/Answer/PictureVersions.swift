import CDarkroomShims
import DarkroomCore

/// The versions of what decides the bytes of an output. `darkroom verify --again` explains a difference with them.
///
/// libjpeg-turbo and libdeflate tell only the version with which Darkroom was built.
package struct PictureVersions: Codable, Sendable, Equatable {
    package var darkroom: String
    package var libpng: String
    package var libjpegTurbo: String
    package var zlib: String
    package var libdeflate: String

    private enum CodingKeys: String, CodingKey {
        case darkroom, libpng
        case libjpegTurbo = "libjpeg-turbo"
        case zlib, libdeflate
    }

    package init(
        darkroom: String, libpng: String, libjpegTurbo: String, zlib: String, libdeflate: String
    ) {
        self.darkroom = darkroom
        self.libpng = libpng
        self.libjpegTurbo = libjpegTurbo
        self.zlib = zlib
        self.libdeflate = libdeflate
    }

    /// Those of this process.
    package static let present = PictureVersions(
        darkroom: Release.version, libpng: String(cString: darkroom_libpng_version()),
        libjpegTurbo: String(cString: darkroom_libjpeg_turbo_version()),
        zlib: String(cString: darkroom_zlib_version()),
        libdeflate: String(cString: darkroom_libdeflate_version()))

    /// The names of all.
    package static var names: [String] { present.named.map(\.name) }

    /// The names and versions, in the order of the keys.
    package var named: [(name: String, version: String)] {
        [
            ("darkroom", darkroom), ("libpng", libpng), ("libjpeg-turbo", libjpegTurbo),
            ("zlib", zlib), ("libdeflate", libdeflate),
        ]
    }
}

extension [PictureVersions] {
    /// These and others, each once.
    package func joined(by others: [PictureVersions]) -> [PictureVersions] {
        others.reduce(self) { $0.contains($1) ? $0 : $0 + [$1] }
    }
}
