import DarkroomCore
import SystemPackage

/// Folders of ended batches that could not be removed, `active/.ended-ID.NUMBER`.
///
/// The folder of pictures that came with a manifest belongs to its submitter. Who has it open can take away the
/// permission to remove its content, or fill it again and again. This must not keep the batch from its end, nor its ID.
package struct EndedFolders {
    private static let prefix = Array(".ended-".utf8)

    private let spool: Spool

    package init(of spool: Spool) {
        self.spool = spool
    }

    static func isOne(_ name: FileName) -> Bool { name.bytes.starts(with: prefix) }

    static func name(for id: String) -> FileName {
        let number = String(UInt32.random(in: .min ... .max), radix: 16)
        return FileName(bytes: prefix + Array(id.utf8) + Array(".\(number)".utf8))
    }

    /// Removes them and returns their number. One that cannot be removed does not affect the others; the last error is
    /// thrown at the end.
    package func clear() throws(FileError) -> Int {
        var count = 0
        var failure: FileError?
        for name in try spool.active.names() where Self.isOne(name) {
            do {
                try spool.active.removeTree(name)
                count += 1
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return count
    }
}

extension Spool {
    /// Removes `active/ID` of an ended batch, or moves it aside if its submitter prevents that.
    func removeEnded(_ id: String) throws(FileError) {
        do {
            try active.removeTree(FileName(id))
        } catch  where [.permissionDenied, .notPermitted, .directoryNotEmpty].contains(error.errno)
        {
            try active.rename(FileName(id), to: active, as: EndedFolders.name(for: id))
        }
    }
}
