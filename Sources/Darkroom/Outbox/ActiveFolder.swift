import Glibc

/// What lies in `active`: the batches' folders, and what is none of them.
struct ActiveFolder {
    /// IDs of the batches, sorted.
    private(set) var ids: [String] = []
    /// Folders of ours that were being built when a daemon ended.
    private(set) var unfinished: [FileName] = []
    /// What Darkroom has not put there, with what it is.
    private(set) var foreign: [(name: FileName, what: String)] = []

    init(_ active: Directory) throws(FileError) {
        for name in try active.names() {
            guard let information = try active.information(of: name) else { continue }
            let isFolder = information.st_mode & S_IFMT == S_IFDIR
            if !isFolder {
                foreign.append((name, "it is no folder, and not Darkroom's"))
            } else if name.bytes.starts(with: ".retry-".utf8) {
                unfinished.append(name)
            } else if Expired.isOne(name) {
                // The housekeeper removes it; it may be large.
            } else if name.bytes.first == UInt8(ascii: ".") {
                foreign.append((name, "IDs do not begin with a dot, so it is not Darkroom's"))
            } else if let id = String(validating: name.bytes, as: UTF8.self) {
                ids.append(id)
            } else {
                foreign.append((name, "IDs are UTF-8, so it is not Darkroom's"))
            }
        }
        ids.sort()
    }
}

extension BatchFile {
    /// Whether Darkroom gives such names in `active/ID`.
    static func isOurs(_ name: FileName) -> Bool {
        let text = name.text
        if text.hasPrefix("source-") || text.hasPrefix("output-") { return true }
        let others = [receipt, newStatus, ItemJournal.fileName, ItemJournal.newFileName]
        return (others + ManifestFormat.allCases.map(manifest)).contains(name)
    }
}
