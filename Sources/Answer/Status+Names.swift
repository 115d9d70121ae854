import DarkroomCore
import DarkroomPicture
import Foundation

/// The names of files in a status. A status may have been altered, so they are checked where it is read: a path could
/// lead out of the folder.
extension Status {
    package static func checked<Key: CodingKey>(
        _ name: String, _ key: Key, in container: KeyedDecodingContainer<Key>,
        isValid: (String) -> Bool = FileName.isValid
    ) throws -> String {
        guard isValid(name) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: container,
                debugDescription: "\(FileName(name).text) is not the name of a file in the folder")
        }
        return name
    }

    /// The folders of its outputs, each once, the outer ones first.
    package var outputFolders: [ByteString] {
        var folders: Set<ByteString> = []
        var last: ByteString?
        for case let file? in images.lazy.map(\.output?.file) {
            guard let slash = file.utf8.lastIndex(of: UInt8(ascii: "/")) else { continue }
            // Most images have the folder of the one before them.
            let folder = ByteString(file[..<slash])
            if folder == last { continue }
            last = folder
            folders.formUnion(OutputPath.folders(of: file))
        }
        return folders.sorted()
    }
}

extension Status.ManifestReference {
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            name: try values.decode(String.self, forKey: .name),
            file: try values.decodeIfPresent(String.self, forKey: .file).map {
                try Status.checked($0, .file, in: values)
            },
            sha256: try values.decodeIfPresent(String.self, forKey: .sha256),
            bytes: try values.decode(Int.self, forKey: .bytes),
            uid: try values.decodeIfPresent(UInt32.self, forKey: .uid),
            identity: try values.decodeIfPresent(String.self, forKey: .identity),
            isFolder: try values.decodeIfPresent(Bool.self, forKey: .isFolder),
            redacted: try values.decodeIfPresent(RedactedCopy.self, forKey: .redacted))
    }
}

extension ImageStatus.Output {
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.init(
            file: try Status.checked(
                values.decode(String.self, forKey: .file), .file, in: values,
                isValid: OutputPath.isValid),
            format: try values.decode(OutputFormat.self, forKey: .format),
            sha256: try values.decode(String.self, forKey: .sha256),
            bytes: try values.decode(Int.self, forKey: .bytes),
            width: try values.decode(Int.self, forKey: .width),
            height: try values.decode(Int.self, forKey: .height),
            depth: try values.decode(Int.self, forKey: .depth),
            channels: try values.decode(Int.self, forKey: .channels),
            quality: try values.decodeIfPresent(Int.self, forKey: .quality),
            ssim: try values.decodeIfPresent(Double.self, forKey: .ssim))
    }
}
