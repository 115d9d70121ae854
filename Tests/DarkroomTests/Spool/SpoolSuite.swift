import TestSupport

@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomSpool

/// What the suites of the spool have in common: each of their tests has a spool of its own.
class SpoolSuite {
    let scratch: ScratchDirectory
    let spool: Spool
    let inbox: Directory

    init() throws {
        scratch = try ScratchDirectory()
        spool = try Spool(path: scratch.path)
        inbox = try spool.openInbox()
    }

    /// With it a manifest need not have been left alone for any time.
    var examination: Examination {
        Examination(limits: ManifestLimits(), defaultFilters: [], settle: 0)
    }

    var recovery: Recovery { Recovery(spool: spool, examination: examination, durably: true) }

    /// Those of the batch `x`.
    var folders: BatchFolders { BatchFolders(spool: spool, id: "x") }

    /// Makes those of the batch `x`, as its receipt leaves them.
    func makeFolders() throws {
        try spool.active.makeDirectory("x", mode: 0o700)
        try spool.outbox.makeDirectory("x")
    }

    /// What a test expects has not come about.
    struct Unexpected: Error {}
}
