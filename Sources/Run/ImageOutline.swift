import DarkroomAnswer
import DarkroomCore
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
    let sourceSHA256: String?

    struct Output: Decodable, Sendable {
        let file: String
        let bytes: Int
        let sha256: String
        var format: String?
    }

    struct Cause: Decodable, Sendable {
        let code: String
    }

    private enum CodingKeys: String, CodingKey {
        case name, state, output, error, warnings, source
        case sourceSHA256 = "sourceSha256"
    }

    /// nil if the text is not the status of an image.
    init?(_ text: ArraySlice<UInt8>) {
        guard let outline = try? JSONDecoder().decode(ImageOutline.self, from: Data(text)),
            // A status may have been altered.
            outline.output.map({ FileName.isValid($0.file) }) != false
        else { return nil }
        self = outline
    }

    /// Whether it is filtered and has warnings.
    var isWarned: Bool { state == .filtered && warnings?.isEmpty == false }

    /// Whether it failed because another file is in the place of its output.
    var isBlocked: Bool { error?.code == FileError.Code.fileExists.rawValue }
}

/// What is wrong with an output.
package enum OutputFault: Sendable, Equatable {
    case missing
    case notAFile
    case length(Int, expected: Int)
    case digest(String)
    case unreadable(FileError)

    /// For people, without the name of the file.
    var message: String {
        switch self {
        case .missing: "it is missing"
        case .notAFile: "it is not a file"
        case .length(let bytes, let expected):
            "it was changed: it has \(Units.bytes(bytes)), and the status has \(Units.bytes(expected))"
        case .digest(let sha256):
            "it was changed: its SHA-256 is \(sha256.prefix(16))…, not that of the status"
        case .unreadable(let error): error.message
        }
    }
}

/// Compares outputs with their status.
struct OutputCheck: Sendable {
    let outputs: Directory
    /// Whether the content is read; otherwise only the length is compared.
    let readsContent: Bool

    /// nil if the output is as it was written.
    func fault(of output: ImageOutline.Output) -> OutputFault? {
        let name = FileName(output.file)
        do {
            guard let found = try outputs.information(of: name) else { return .missing }
            guard found.isRegularFile else { return .notAFile }
            guard found.length == output.bytes else {
                return .length(found.length, expected: output.bytes)
            }
            guard readsContent else { return nil }
            let file = try outputs.open(name)
            let digest = try file.sha256(path: outputs.path(of: name))
            return digest == output.sha256 ? nil : .digest(digest)
        } catch {
            return error.errno == .noSuchFileOrDirectory ? .missing : .unreadable(error)
        }
    }
}
