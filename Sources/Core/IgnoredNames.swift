/// The names of what storage boxes, desktops and file systems put beside the files of users: thumbnails, wastebaskets,
/// snapshots, descriptions. Files and folders with these names are not the user's. They are never taken, moved or
/// removed, and are no surplus outputs.
///
/// A path that somebody has written is taken nevertheless; the names matter only where a folder is listed.
package struct IgnoredNames: Sendable, Equatable {
    /// Patterns of names, and who makes such files. The case of letters does not matter, as on the systems that make
    /// them. Names that begin with a dot are ignored by most listings anyway, but not by all.
    package static let table: [(names: [ByteString], maker: String)] = [
        (
            [
                "@eaDir", "@tmp", "@sharebin", "@appstore", "*@SynoEAStream", "*@SynoResource",
                "#recycle", "#snapshot",
            ], "Synology"
        ),
        (["@Recycle", "@Recently-Snapshot", ".@__thumb"], "QNAP"),
        (["$RECYCLE.BIN", "RECYCLER", "System Volume Information"], "Windows, on each volume"),
        (["Thumbs.db", "ehthumbs.db", "ehthumbs_vista.db", "desktop.ini"], "Windows"),
        ([".DS_Store", "._*", ".AppleDouble", "__MACOSX"], "macOS"),
        (
            [".Spotlight-V100", ".fseventsd", ".TemporaryItems", ".Trashes"],
            "macOS, on each volume"
        ),
        (["Network Trash Folder", "Temporary Items", "TheVolumeSettingsFolder"], "Netatalk"),
        ([".Trash", ".Trash-*", ".directory"], "Linux desktops"),
        (["lost+found"], "ext4"),
        ([".nfs*", ".fuse_hidden*", ".smbdelete*"], "removed files that are still open"),
        ([".snapshot", ".snapshots", "~snapshot", ".snap", ".zfs"], "snapshots"),
    ]

    /// Those of the table.
    package static let standard = IgnoredNames()

    private static let patterns = table.flatMap(\.names).map { NamePattern($0, ignoresCase: true) }

    private let others: [NamePattern]

    /// - Parameter others: further patterns (`sources.ignore`).
    package init(adding others: [String] = []) {
        self.others = others.map { NamePattern(ByteString($0), ignoresCase: true) }
    }

    package func contains(_ name: FileName) -> Bool {
        let text = name.bytes.map(\.asciiLowercased)
        return Self.patterns.contains { $0.matches(text) } || others.contains { $0.matches(text) }
    }

    /// Whether the file or a folder on the way to it is ignored.
    package func contains(_ path: RelativePath) -> Bool { path.names.contains(where: contains) }
}
