import DarkroomCore
import DarkroomSpool

extension Directory {
    /// Whether the copy of a manifest is in this folder.
    ///
    /// - Parameter isBegun: whether a run has put it there. If not, it is somebody else's file.
    /// - Throws: if another file has its name.
    @discardableResult
    func requireCopy(
        of bytes: [UInt8], as name: FileName, isBegun: Bool
    ) throws(RunError) -> Bool {
        let isCopy = try runError(of: exists(name) ? holds(bytes, as: name) : nil)
        guard let isCopy else { return false }
        guard isCopy else {
            throw isBegun ? .copyChanged(path(of: name)) : .inTheWay(path(of: name))
        }
        return true
    }
}
