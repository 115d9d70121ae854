import SystemPackage

/// Removing a folder whose content somebody else has made.
extension Directory {
    /// How often the folder is listed. An honest tree takes one round for each of its levels; somebody who still has
    /// the folder open could fill it again for ever.
    private static let rounds = 100_000

    /// So many names of a folder are read at once.
    private static let piece = 10_000

    /// Removes the folder `name` and everything in it. Links are removed and not followed.
    ///
    /// A folder within it is emptied into the top one. So a tree of any depth takes two descriptors and no stack. If
    /// the process ends meanwhile, these folders stay in the top one under numbers with a dot.
    ///
    /// - Parameter mayGoOn: asked before each entry of the top folder; if it returns false, this throws ECANCELED.
    /// - Throws: ENOTEMPTY if somebody adds files faster than they are removed.
    package func removeTree(
        _ name: FileName, mayGoOn: () -> Bool = { true }
    ) throws(FileError) {
        let top = try Directory(name, in: self)
        var number = 0
        for _ in 0..<Self.rounds {
            let entries = try top.names(atMost: Self.piece)
            if entries.isEmpty {
                do throws(FileError) {
                    return try removeDirectory(name)
                } catch  where error.errno == .directoryNotEmpty {
                    // Somebody has put something into it since then.
                    continue
                }
            }
            for entry in entries {
                guard mayGoOn() else {
                    throw FileError("remove", top.path(of: entry), .canceled)
                }
                try top.removeEntry(entry) { folder throws(FileError) in
                    try folder.empty(into: top, &number)
                }
            }
        }
        try removeDirectory(name)
    }

    /// Whether a name is that of a folder which `removeTree` has moved to the top one.
    package static func isRemainder(_ name: FileName) -> Bool {
        name.bytes.count > 1 && name.bytes.first == UInt8(ascii: ".")
            && name.bytes.dropFirst().allSatisfy { (0x30...0x39).contains($0) }
    }

    /// Moves the folders in this one to `top`, under new names, and removes everything else.
    private func empty(into top: Directory, _ number: inout Int) throws(FileError) {
        for entry in try names(atMost: Self.piece) {
            try removeEntry(entry) { _ throws(FileError) in
                while true {
                    number += 1
                    do throws(FileError) {
                        return try rename(entry, to: top, as: FileName(".\(number)"))
                    } catch  where error.errno == .fileExists {
                        // Its submitter has chosen this name too.
                    } catch  where error.errno == .noSuchFileOrDirectory {
                        return
                    }
                }
            }
        }
    }

    /// Removes a file or an empty folder. Another folder is removed after `clear` has emptied it. Whoever still has the
    /// folder open may remove or exchange entries at the same time; the next round finds what is left.
    private func removeEntry(
        _ entry: FileName, clear: (Directory) throws(FileError) -> Void
    ) throws(FileError) {
        do {
            try remove(entry)
        } catch  where error.errno == .isDirectory {
            do {
                try removeFolder(entry, clear: clear)
            } catch  where Self.exchanged.contains(error.errno) {
            }
        } catch  where error.errno == .noSuchFileOrDirectory {
        }
        FaultPoint.treeEntryRemoved.pass()
    }

    /// The errors of an entry that is gone, or is not a folder any more.
    private static let exchanged: [Errno] = [
        .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels,
    ]

    private func removeFolder(
        _ entry: FileName, clear: (Directory) throws(FileError) -> Void
    ) throws(FileError) {
        do {
            try removeDirectory(entry)
        } catch  where error.errno == .directoryNotEmpty {
            try clear(Directory(entry, in: self))
            do throws(FileError) {
                try removeDirectory(entry)
            } catch  where error.errno == .directoryNotEmpty {
                // Somebody has put something into it meanwhile. The next round empties it again.
            }
        }
    }
}
