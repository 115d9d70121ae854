import SystemPackage

/// Removing a folder whose content somebody else has made.
extension Directory {
    /// How often the folder is listed. An honest tree takes one round for each of its levels; somebody who still has
    /// the folder open could fill it again for ever.
    private static let rounds = 100_000

    /// Removes the folder `name` and everything in it. Links are removed and not followed.
    ///
    /// A folder within it is emptied into the top one. So a tree of any depth takes two descriptors and no stack.
    ///
    /// - Throws: ENOTEMPTY if somebody adds files faster than they are removed.
    package func removeTree(_ name: FileName) throws(FileError) {
        let top = try Directory(name, in: self)
        var number = 0
        for _ in 0..<Self.rounds {
            let entries = try top.names()
            if entries.isEmpty { break }
            for entry in entries {
                try top.removeEntry(entry) { folder throws(FileError) in
                    try folder.empty(into: top, &number)
                }
            }
        }
        try removeDirectory(name)
    }

    /// Moves the folders in this one to `top`, under new names, and removes everything else.
    private func empty(into top: Directory, _ number: inout Int) throws(FileError) {
        for entry in try names() {
            try removeEntry(entry) { _ throws(FileError) in
                while true {
                    number += 1
                    do throws(FileError) {
                        return try rename(entry, to: top, as: FileName(".\(number)"))
                    } catch  where error.errno == .fileExists {
                        // Its submitter has chosen this name too.
                    }
                }
            }
        }
    }

    /// Removes a file or an empty folder. Another folder is removed after `clear` has emptied it, if it is still there.
    private func removeEntry(
        _ entry: FileName, clear: (Directory) throws(FileError) -> Void
    ) throws(FileError) {
        do {
            try remove(entry)
        } catch  where error.errno == .isDirectory {
            do {
                try removeDirectory(entry)
            } catch  where error.errno == .directoryNotEmpty {
                try clear(Directory(entry, in: self))
                if try exists(entry) { try removeDirectory(entry) }
            }
        }
        FaultPoint.treeEntryRemoved.pass()
    }
}
