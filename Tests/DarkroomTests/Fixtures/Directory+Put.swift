@testable import DarkroomCore

extension Directory {
    /// Writes a file, whether there is one or not.
    func put(_ bytes: [UInt8], to name: FileName) throws(FileError) {
        try write(bytes, to: name, replacing: true, durably: false)
    }
}
