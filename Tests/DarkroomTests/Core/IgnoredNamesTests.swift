import Testing

@testable import DarkroomCore

/// Names of what machines put beside photographs.
struct IgnoredNamesTests {
    @Test(
        arguments: [
            "@eaDir", "@EADIR", "#recycle", "#snapshot", "a.jpg@SynoEAStream", "@Recycle",
            ".@__thumb", "$RECYCLE.BIN", "$Recycle.Bin", "RECYCLER", "System Volume Information",
            "Thumbs.db", "THUMBS.DB", "desktop.ini", ".DS_Store", "._a.jpg", ".AppleDouble",
            "@tmp", "@sharebin", "@appstore", "lost+found", ".nfs0000000000abcdef00000001",
            ".fuse_hidden0001", ".Trash-1000",
            ".Trashes", ".snapshots", ".zfs", "~snapshot", "__MACOSX", "Network Trash Folder",
        ] as [ByteString])
    func areKnown(name: ByteString) {
        #expect(IgnoredNames.standard.contains(FileName(name.string)))
    }

    @Test(
        arguments: [
            "eaDir", "@eaDir2", "recycle", "#recycle.jpg", "Thumbs.db.jpg", "Thumbs", "a.jpg",
            "lost", "found", ".a", ".nf", "snapshot", "a._b", "Recycle", "System", "", "*", "@",
        ] as [ByteString])
    func areNotThoseOfUsers(name: ByteString) {
        #expect(!IgnoredNames.standard.contains(FileName(name.string)))
    }

    @Test func mayBeMore() {
        let names = IgnoredNames(adding: ["*-draft.*", "Old"])
        for name in ["a-draft.jpg", "A-DRAFT.PNG", "old", "@eaDir"] {
            #expect(names.contains(FileName(name)))
        }
        for name in ["draft.jpg", "older", "a-draft"] { #expect(!names.contains(FileName(name))) }
        #expect(names != .standard)
    }

    /// Also what is beneath a folder with such a name.
    @Test func areFoundInPaths() throws {
        for word in ["@eaDir/a.jpg/b.jpg", "a/Thumbs.db", "a/.zfs/b"] {
            #expect(IgnoredNames.standard.contains(try #require(RelativePath(word: word))))
        }
        for word in ["a/b.jpg", "a@eaDir/b"] {
            #expect(!IgnoredNames.standard.contains(try #require(RelativePath(word: word))))
        }
        #expect(!IgnoredNames.standard.contains(RelativePath.root))
    }

    @Test func standInTheTableOnce() {
        let names = IgnoredNames.table.flatMap(\.names).map(\.asciiLowercased)
        #expect(Set(names).count == names.count)
    }

    @Test(arguments: [
        ("*", "", true), ("*", "abc", true), ("a*c", "abbc", true), ("a*c", "ab", false),
        ("*b*", "abc", true), ("", "", true), ("", "a", false), ("A", "a", false),
        ("a?", "ab", false), ("*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaa", false),
    ])
    func patternsHaveStarsOnly(pattern: String, name: String, matches: Bool) {
        #expect(NamePattern(ByteString(pattern)).matches(FileName(name)) == matches)
    }
}
