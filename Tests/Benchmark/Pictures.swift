import DarkroomPicture
import Foundation
import SystemPackage
import TestPictures

/// The pictures that are measured on: those of a folder, or made ones.
struct Pictures {
    struct File {
        let name: String
        let path: String
        let megapixels: Double
    }

    /// From small to large.
    let files: [File]

    var largest: File { files[files.count - 1] }

    init(folder: String?, scratch: String) throws {
        let folder = try folder ?? Self.made(in: scratch)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder)
            .filter { $0.hasSuffix(".png") }
        files = try names.map { name in
            let path = "\(folder)/\(name)"
            let size = try Self.size(of: path)
            return File(
                name: name, path: path,
                megapixels: Double(size.width) * Double(size.height) / 1e6)
        }
        .sorted { $0.megapixels < $1.megapixels }
        if files.isEmpty { throw BenchmarkError("there is no .png file in \(folder)") }
    }

    private static func size(of path: String) throws -> PixelLayout {
        let file = try FileDescriptor.open(FilePath(path), .readOnly)
        return try file.closeAfter {
            let reader = try PNGReader(PictureDecoder.Input(.file(file), name: path))
            guard reader.layout.channels == 3, reader.layout.depth == 8 else {
                throw BenchmarkError("\(path) is not RGB of 8 bits")
            }
            return reader.layout
        }
    }

    /// Skies of 0.4, 3 and 12 MP, as libpng writes them by default: what users have is seldom
    /// compressed by Darkroom.
    private static func made(in scratch: String) throws -> String {
        let folder = "\(scratch)/pictures"
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true)
        for (name, scene, width, height) in [
            ("galaxy", Starfield.Scene.galaxy, 768, 512), ("nebula", .nebula, 2048, 1536),
            ("moon", .moon, 4288, 2848),
        ] {
            let path = "\(folder)/\(name).png"
            if FileManager.default.fileExists(atPath: path) { continue }
            let own = "\(folder)/\(name).tmp"
            let sky = Starfield(scene: scene, width: width, height: height, seed: 7)
            try Data(sky.maker().encoded).write(to: URL(filePath: own))
            _ = try Execution([Program.peers, "libpng", "copy", own, "\(path).part", "1"])
            try FileManager.default.removeItem(atPath: own)
            try FileManager.default.moveItem(atPath: "\(path).part", toPath: path)
        }
        return folder
    }
}
