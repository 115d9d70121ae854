import DarkroomAnswer
import DarkroomCore
import DarkroomSpool
import Glibc

/// Listings of the whole folder, which find what no event has told.
extension HotFolderStation {
    /// Lists the whole folder.
    func scan(_ root: Directory) {
        guard !isStopped, records != nil, let seen else { return }
        scans = Scans(last: time.now)
        files.forgetLeft()
        var listing = HotListing(device: seen.device)
        watch?.beginListing()
        list(root, at: .root, &listing)
        guard listing.isWhole, !isStopped else {
            records?.ledger.forgetMissing()
            return
        }
        watch?.endListing()
        // It may have been unmounted meanwhile.
        guard let again = try? Directory(path: path).information(), FolderIdentity(again) == seen
        else {
            records?.ledger.forgetMissing()
            return
        }
        let found = listing
        refused.keep { found.refused.contains($0) || $1.reason == .originalKept }
        files.keep(found.pictures)
        inLedger { ledger throws(FileError) in
            try ledger.add(found.moved)
            try ledger.forget(allBut: found.identities, in: seen)
        }
        noteOther(seen)
    }

    /// Tells whether this seems to be another folder than the one that the ledger knows.
    private func noteOther(_ seen: FolderIdentity) {
        let wasOther = isOther
        isOther = records?.ledger.isOfOthers(than: seen) ?? false
        if isOther, !wasOther { log.folderLost(path, because: otherFolder) }
    }

    var otherFolder: String {
        "it is another folder than before, perhaps because its file system is not mounted; "
            + "\(Words.count(records?.ledger.count ?? 0, "picture")) of the former one stay remembered"
    }
}
