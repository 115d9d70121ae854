import SystemPackage

/// Removing a folder whose content somebody else has made.
extension Directory {
    /// How often the folder is listed. An honest tree takes one round for each of its levels; somebody who still has
    /// the folder open could fill it again for ever.
    private static let rounds = 100_000

    /// So many names of a folder are read at once.
    private static let piece = 10_000

    private struct Removal {
        /// The last number of a folder that was moved to the top one.
        var number = 0
        /// The entries that were removed or moved to the top folder.
        var removed = 0
        /// Why something is left that a process has open.
        var busy: FileError?
    }

    /// Removes the folder `name` and everything in it. Links are removed and not followed.
    ///
    /// A folder within it is emptied into the top one. So a tree of any depth takes two descriptors and no stack. If
    /// the process ends meanwhile, these folders stay in the top one under numbers with a dot.
    ///
    /// - Parameter mayGoOn: asked before each entry of the top folder; if it returns false, this throws ECANCELED.
    /// - Throws: ENOTEMPTY if somebody adds files faster than they are removed. EBUSY if nothing is left but files on NFS
    ///   that a process has open (`isStillOpen`).
    package func removeTree(_ name: FileName, mayGoOn: () -> Bool = { true }) throws(FileError) {
        let top = try Directory(name, in: self)
        var removal = Removal()
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
            let before = removal.removed
            removal.busy = nil
            for entry in entries {
                guard mayGoOn() else { throw FileError(.remove, top.path(of: entry), .canceled) }
                try top.removeEntry(entry, &removal) { folder, removal throws(FileError) in
                    try folder.empty(into: top, &removal)
                }
            }
            if let busy = removal.busy, removal.removed == before { throw busy }
        }
        try removeDirectory(name)
    }

    /// Whether a name is that of a folder which `removeTree` has moved to the top one.
    package static func isRemainder(_ name: FileName) -> Bool {
        name.bytes.count > 1 && name.bytes.first == UInt8(ascii: ".")
            && name.bytes.dropFirst().allSatisfy(\.isDigit)
    }

    /// Whether a name is that of a removed file which a process has open. NFS makes it (silly rename), and does not let
    /// this machine remove it before it is closed.
    static func isStillOpen(_ name: FileName) -> Bool { name.bytes.starts(with: ".nfs".utf8) }

    /// Moves the folders in this one to `top`, under new names, and removes everything else.
    private func empty(into top: Directory, _ removal: inout Removal) throws(FileError) {
        for entry in try names(atMost: Self.piece) {
            try removeEntry(entry, &removal) { _, removal throws(FileError) in
                while true {
                    removal.number += 1
                    do throws(FileError) {
                        try rename(entry, to: top, as: FileName(".\(removal.number)"))
                        removal.removed += 1
                        return
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
        _ entry: FileName, _ removal: inout Removal,
        clear: (Directory, inout Removal) throws(FileError) -> Void
    ) throws(FileError) {
        do {
            try remove(entry)
            removal.removed += 1
        } catch  where error.errno == .isDirectory {
            do {
                try removeFolder(entry, &removal, clear: clear)
            } catch  where Self.exchanged.contains(error.errno) {
            }
        } catch  where error.errno == .noSuchFileOrDirectory {
        } catch  where error.errno == .resourceBusy && Self.isStillOpen(entry) {
            removal.busy = error
        }
        FaultPoint.treeEntryRemoved.pass()
    }

    /// The errors of an entry that is gone, or is not a folder any more.
    private static let exchanged: [Errno] = [
        .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels,
    ]

    private func removeFolder(
        _ entry: FileName, _ removal: inout Removal,
        clear: (Directory, inout Removal) throws(FileError) -> Void
    ) throws(FileError) {
        do {
            try removeDirectory(entry)
            removal.removed += 1
        } catch  where error.errno == .directoryNotEmpty {
            try clear(Directory(entry, in: self), &removal)
            do throws(FileError) {
                try removeDirectory(entry)
                removal.removed += 1
            } catch  where error.errno == .directoryNotEmpty {
                // Somebody has put something into it meanwhile, or it has files that are still open. The next round
                // empties it again.
            }
        }
    }
}
