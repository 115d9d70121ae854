import DarkroomCore
import DarkroomSpool
import Glibc

extension Directory {
    /// Whether the copy of a manifest is in this folder.
    ///
    /// - Parameter isBegun: whether a run has put it there. If not, it is somebody else's file.
    /// - Throws: if another file has its name.
    @discardableResult
    func requireCopy(of bytes: [UInt8], as name: FileName, isBegun: Bool) throws(RunError) -> Bool {
        let isCopy = try runError(of: exists(name) ? holds(bytes, as: name) : nil)
        guard let isCopy else { return false }
        guard isCopy else {
            throw isBegun ? .copyChanged(path(of: name)) : .inTheWay(path(of: name))
        }
        return true
    }

    /// The SHA-256 of a file; nil if no regular file has this name.
    func sha256(of name: FileName) throws(FileError) -> String? {
        guard let found = try information(of: name), found.isRegularFile else { return nil }
        return try open(name).sha256(path: path(of: name))
    }

    /// Removes what killed processes have left incomplete, for a caller that has found the complete file.
    func removeFiles(withPrefix prefix: String) throws(FileError) {
        for name in try names() where name.text.hasPrefix(prefix) {
            try ignoringMissing(remove(name))
        }
    }
}

extension FileName {
    /// A name that no other process chooses, on no machine.
    init(unique prefix: String) {
        self.init("\(prefix)\(Machine.name)-\(getpid())-\(UInt64.random(in: 0 ... .max))")
    }
}
