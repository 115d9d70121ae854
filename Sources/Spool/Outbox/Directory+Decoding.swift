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
        let bytes: [UInt8]
        do {
            bytes = try read(name, upTo: Self.mostReportBytes)
        } catch {
            if error.errno == .noSuchFileOrDirectory { return nil }
            throw .file(error)
        }
        do {
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch {
            throw .unreadable(path: path(of: name), reason: StatusDefect.unknown)
        }
    }
}
