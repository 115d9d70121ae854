import Testing

@testable import DarkroomCore
@testable import DarkroomDaemon

/// What has appeared in the inbox otherwise than by a rename.
@Suite struct IncompleteFilesTests {
    private static let moment = IncompleteFiles.moment

    private func begun(_ names: FileName...) -> IncompleteFiles {
        var files = IncompleteFiles()
        for (index, name) in names.enumerated() { files.appeared(name, now: UInt64(index)) }
        return files
    }

    @Test func whatNobodyWritesToWasLinked() {
        var files = begun("linked", "written", "other")
        files.written("written")
        files.written("unknown")
        #expect(files.due == Self.moment)
        let early = files.takeLinked(now: Self.moment - 1) { _ in true }
        #expect(early == [])
        let first = files.takeLinked(now: Self.moment) { _ in true }
        #expect(first == ["linked"])
        let second = files.takeLinked(now: Self.moment + 9) { _ in true }
        #expect(second == ["other"])
        // The writer's closing is waited for.
        #expect(files.names == ["written"] && files.isWritten("written"))
        #expect(files.due == nil)
    }

    @Test func whatIsEmptyHasYetToBeWritten() {
        var files = begun("empty")
        let linked = files.takeLinked(now: Self.moment) { _ in false }
        #expect(linked == [])
        #expect(files.isWritten("empty") && files.due == nil)
    }

    /// A name that is taken away and linked again begins anew.
    @Test func beginsAnew() {
        var files = begun("a")
        files.written("a")
        files.appeared("a", now: 7)
        #expect(!files.isWritten("a") && files.due == Self.moment + 7)
        files.keep([])
        #expect(!files.contains("a"))
    }
}
