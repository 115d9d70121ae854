import Glibc
import SystemPackage

extension Directory {
    /// Creates a folder, unless its name exists. Returns whether it did.
    @discardableResult
    package func makeIfMissing(_ name: FileName, mode: mode_t = 0o777) throws(FileError) -> Bool {
        do {
            try makeDirectory(name, mode: mode)
            return true
        } catch  where error.errno == .fileExists {
            return false
        }
    }

    /// Opens a file for reading; nil if it does not exist.
    package func openIfExists(_ name: FileName) throws(FileError) -> Descriptor? {
        return try ignoringMissing(open(name))
    }

    /// Opens the folder `name` in this one, and creates it if it is missing. Someone may remove it between the two steps.
    package func folder(_ name: FileName, mode: mode_t = 0o777) throws(FileError) -> Directory {
        for _ in 0..<100 {
            try makeIfMissing(name, mode: mode)
            let folder = try ignoringMissing(Directory(name, in: self))
            if let folder { return folder }
        }
        return try Directory(name, in: self)
    }
}
