import DarkroomAnswer
import DarkroomCore
import Foundation
import SystemPackage

/// `clock` in the spool: the state of the machine's clock, for the next daemon.
package struct ClockNote {
    static let fileName: FileName = "clock"
    /// Much more than the content needs.
    private static let maximumBytes = 4096

    let folder: Directory

    /// nil if there is no such file, or if Darkroom has not written it.
    package init(folder: Directory) {
        self.folder = folder
    }

    package func read() throws(FileError) -> ClockTrust? {
        return try ifExists { () throws(FileError) in
            let bytes = try folder.read(Self.fileName, upTo: Self.maximumBytes)
            return try? JSONDecoder().decode(ClockTrust.self, from: Data(bytes))
        }
    }

    package func write(_ trust: ClockTrust, durably: Bool) throws(FileError) {
        guard let data = try? JSONEncoder().encode(trust) else { return }
        let new: FileName = "clock.new"
        try folder.write(
            Array(data) + [UInt8(ascii: "\n")], to: new, replacing: true, durably: durably)
        try folder.rename(new, to: folder, as: Self.fileName, replacing: true)
    }
}
