import DarkroomAnswer
import DarkroomCore
import Foundation
import SystemPackage

/// `clock` in the spool: the state of the machine's clock, for the next daemon.
package enum ClockNote {
    static let fileName: FileName = "clock"
    /// Much more than the content needs.
    private static let maximumBytes = 4096

    /// nil if there is no such file, or if Darkroom has not written it.
    package static func read(in folder: Directory) throws(FileError) -> ClockTrust? {
        return try ifExists { () throws(FileError) in
            let bytes = try folder.read(fileName, upTo: maximumBytes)
            return try? JSONDecoder().decode(ClockTrust.self, from: Data(bytes))
        }
    }

    package static func write(
        _ trust: ClockTrust, in folder: Directory, durably: Bool
    ) throws(FileError) {
        guard let data = try? JSONEncoder().encode(trust) else { return }
        let new: FileName = "clock.new"
        try folder.write(
            Array(data) + [UInt8(ascii: "\n")], to: new, replacing: true, durably: durably)
        try folder.rename(new, to: folder, as: fileName, replacing: true)
    }
}
