import DarkroomAnswer
import DarkroomCore
import DarkroomManifest
import DarkroomPicture
import DarkroomSpool
import Foundation
import SystemPackage

/// The part of an image's status that is compared with the files. A million of them are read.
struct ImageOutline: Decodable, Sendable {
    let name: ByteString
    let state: ImageState
    let output: Output?
    let error: Cause?
    let warnings: [String]?
    let source: String?
    let sourceIdentity: String?
    let deliveredTo: String?
    let sourceSHA256: String?

    struct Output: Decodable, Sendable {
        let file: String
        let bytes: Int
        let sha256: String
        var format: String?
        var width: Int?
        var height: Int?
    }

    struct Cause: Decodable, Sendable {
        let code: String
    }

    private enum CodingKeys: String, CodingKey {
        case name, state, output, error, warnings, source, sourceIdentity, deliveredTo
        case sourceSHA256 = "sourceSha256"
    }

    init?(_ text: ArraySlice<UInt8>) {
        guard let outline = try? JSONDecoder().decode(ImageOutline.self, from: Data(text)),
            // A status may have been altered.
            outline.output.map({ OutputPath.isValid($0.file) }) != false
        else { return nil }
        self = outline
    }

    /// Its output for the list of former ones; nil if it has none.
    var entry: FormerOutputs.Entry? {
        output.map {
            FormerOutputs.Entry(
                file: ByteString($0.file), bytes: $0.bytes, sha256: $0.sha256, image: name
            ).with(source: source, sourceIdentity)
        }
    }

    var isWarned: Bool { state == .filtered && warnings?.isEmpty == false }

    /// Whether it failed because another file is in the place of its output.
    var isBlocked: Bool { error?.code == FileError.Code.fileExists.rawValue }
}

/// What a manifest says about the output of an image.
struct ExpectedOutput: Sendable {
    let name: ByteString
    let format: OutputFormat
    private let file: OutputName?

    init(_ image: Manifest.Image) {
        name = image.name
        format = image.output.format
        file = image.file
    }

    func path(of output: ImageOutline.Output) -> String {
        file?.path(width: output.width ?? 0, height: output.height ?? 0, sha256: output.sha256)
            ?? shown
    }

    /// The path, as far as it is known without the output.
    var shown: String { file?.shown ?? Manifest.Image.outputFile(named: name, format).string }
}

/// Why the file of an output is not as the status has it.
package enum OutputFault: Sendable, Equatable {
    case missing
    case notAFile
    case length(Int, expected: Int)
    case digest(String)
    case unreadable(FileError)

    /// For people, without the name of the file.
    var message: String {
        switch self {
        case .missing: "there is no such file"
        case .notAFile: "it is not a file"
        case .length(let bytes, let expected):
            "it was changed: it has \(Units.bytes(bytes)), and the status has \(Units.bytes(expected))"
        case .digest(let sha256):
            "it was changed: its SHA-256 is \(sha256.prefix(16))…, not that of the status"
        case .unreadable(let error): error.message
        }
    }
}

/// Compares outputs with what the status says of them.
struct OutputCheck: Sendable {
    let outputs: Directory
    /// Whether the content is read; otherwise only the length is compared.
    let readsContent: Bool

    /// nil if the output is as it was written.
    func fault(of output: ImageOutline.Output) -> OutputFault? {
        do {
            let (folder, name) = try outputs.place(ofOutput: output.file)
            return try fault(of: output, as: name, in: folder)
        } catch {
            return .reading(error)
        }
    }

    /// Compares the delivered copy of an output, which has this absolute path; nil if it is as it was written.
    func fault(of output: ImageOutline.Output, deliveredTo path: String) -> OutputFault? {
        do {
            var folder = FilePath(path)
            guard let name = folder.lastComponent?.string, folder.isAbsolute else {
                return .missing
            }
            folder.removeLastComponent()
            return try fault(of: output, as: FileName(name), in: Directory(path: folder.string))
        } catch {
            return .reading(error)
        }
    }

    private func fault(
        of output: ImageOutline.Output, as name: FileName, in folder: Directory
    ) throws(FileError) -> OutputFault? {
        guard let found = try folder.information(of: name) else { return .missing }
        guard found.isRegularFile else { return .notAFile }
        guard found.length == output.bytes else {
            return .length(found.length, expected: output.bytes)
        }
        guard readsContent else { return nil }
        let digest = try folder.open(name).sha256(path: folder.path(of: name))
        return digest == output.sha256 ? nil : .digest(digest)
    }
}

extension OutputFault {
    fileprivate static func reading(_ error: FileError) -> OutputFault {
        [.noSuchFileOrDirectory, .notDirectory].contains(error.errno)
            ? .missing : .unreadable(error)
    }
}
