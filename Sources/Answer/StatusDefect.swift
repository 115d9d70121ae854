import DarkroomCore
import Foundation

/// Finds what is wrong in a status file that cannot be read, for the message of the error. The file is read a second
/// time, so that the readers need not remember where they are.
package enum StatusDefect {
    /// What is said of a file in which nothing in particular is wrong.
    package static let unknown = "it is not what this version of darkroom can read"

    /// The first field that is wrong and what is wrong with it, as in
    /// `images[3].output.file: ../x is not the name of a file in the folder`. It is `unknown` if the file is not JSON,
    /// is not in the form that Darkroom writes, or has no such field.
    package static func sentence(
        of name: FileName = Status.fileName, in folder: Directory
    ) -> String {
        guard let found = try? first(name, folder) else { return unknown }
        return found
    }

    private static func first(_ name: FileName, _ folder: Directory) throws(FileError) -> String? {
        let decoder = JSONDecoder()
        var defect: String?
        var index = 0
        let frame = try ImagesFilter.readImages(name, in: folder) { text in
            if defect == nil {
                defect = problem("images[\(index)]") {
                    _ = try decoder.decode(ImageStatus.self, from: text)
                }
            }
            index += 1
        }
        guard let frame else { return defect }
        var version = 1
        let found = problem("") {
            version = try decoder.decode(Status.self, from: Data(frame)).schemaVersion
        }
        if version != 1 { return "schemaVersion: \(version) is not a version it knows" }
        return found ?? defect
    }

    /// What `decode` finds in the value at this place of the file.
    private static func problem(_ place: String, _ decode: () throws -> Void) -> String? {
        do {
            try decode()
            return nil
        } catch let error as DecodingError {
            return sentence(error, place)
        } catch {
            return nil
        }
    }

    private static func sentence(_ error: DecodingError, _ place: String) -> String? {
        let (path, reason): ([any CodingKey], String) =
            switch error {
            case .keyNotFound(let key, let context): (context.codingPath + [key], "it is missing")
            case .valueNotFound(_, let context): (context.codingPath, "it is null")
            case .typeMismatch(_, let context):
                (context.codingPath, "it has a value of another type")
            case .dataCorrupted(let context) where context.codingPath.isEmpty:
                ([], "it is not JSON")
            case .dataCorrupted(let context): (context.codingPath, context.debugDescription)
            @unknown default: ([], "")
            }
        var field = place
        for key in path {
            if let index = key.intValue {
                field += "[\(index)]"
            } else {
                field += (field.isEmpty ? "" : ".") + FileName(key.stringValue).text
            }
        }
        // Text that is not JSON has no field.
        guard !field.isEmpty else { return nil }
        return "\(shortened(field)): \(shortened(reason))"
    }

    /// Of a text in the file, which may have any length.
    private static func shortened(_ text: String) -> String {
        text.utf8.count <= longest ? text : text.prefix(longest / 4) + "…"
    }

    /// In bytes; a name of a file has 255 at most.
    private static let longest = 400
}
