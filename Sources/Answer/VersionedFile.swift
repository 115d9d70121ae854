import Foundation

/// The content of a file whose format has a version. A reader refuses a version that it does not know.
package protocol VersionedFile: Decodable {
    var schemaVersion: Int { get }
}

extension VersionedFile {
    /// Reads the content of a file; nil if it is not of this version.
    package init?(decoding bytes: [UInt8]) {
        guard let file = try? JSONDecoder().decode(Self.self, from: Data(bytes)),
            file.schemaVersion == 1
        else { return nil }
        self = file
    }
}
