import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Glibc

/// Listings of the whole folder, which find what no event has told.
extension HotFolderStation {
    /// Lists the whole folder.
    func scan(_ root: Directory) {
        guard !isStopped, ledger != nil, let seen else { return }
        mustScan = false
        lastScan = time.now
        arrivals.forgetLeft()
        var listing = HotListing(device: seen.device)
        watch?.beginListing()
        list(root, at: .root, &listing)
        guard listing.isWhole, !isStopped else {
            ledger?.forgetMissing()
            return
        }
        watch?.endListing()
        // It may have been unmounted meanwhile.
        guard let again = try? Directory(path: path).information(),
            (UInt64(again.st_dev), UInt64(again.st_ino)) == seen
        else {
            ledger?.forgetMissing()
            return
        }
        let found = listing
        refused = refused.filter {
            found.refused.contains($0.key) || $0.value.reason == .originalKept
        }
        for path in arrivals.all where !found.pictures.contains(path) { arrivals.forget(path) }
        inLedger { ledger throws(FileError) in
            try ledger.add(found.moved)
            try ledger.forget(allBut: found.identities, device: seen.device, root: seen.root)
        }
        noteOther(seen)
    }

    /// Tells whether this seems to be another folder than the one that the ledger knows.
    private func noteOther(_ seen: (device: UInt64, root: UInt64)) {
        let wasOther = isOther
        isOther = ledger?.isOfOthers(device: seen.device, root: seen.root) ?? false
        if isOther, !wasOther {
            log.folderLost(path, because: otherFolder)
        }
    }

    var otherFolder: String {
        "it is another folder than before, perhaps because its file system is not mounted; "
            + "\(Words.count(ledger?.count ?? 0, "picture")) of the former one stay remembered"
    }
}
