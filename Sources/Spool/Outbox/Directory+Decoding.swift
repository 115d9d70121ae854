import DarkroomAnswer
import DarkroomCore
import Foundation
import SystemPackage

extension Directory {
    /// In bytes. The reports on a full inbox and a full queue have less than a tenth of this.
    package static let mostReportBytes = 16 << 20

    /// The content of a JSON file that Darkroom replaces as a whole; nil if there is no such file.
    package func decode<Value: Decodable>(
        _ type: Value.Type, _ name: FileName
    ) throws(ReadingError) -> Value? {
        let bytes = try readIfExists { () throws(FileError) in
            try read(name, upTo: Self.mostReportBytes)
        }
        guard let bytes else { return nil }
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch {
            throw .unreadable(path: path(of: name), reason: StatusDefect.unknown)
        }
    }
}
