import Testing

@testable import DarkroomAnswer
@testable import DarkroomCore
@testable import DarkroomDaemon
@testable import DarkroomSpool

/// Why files are left in the inbox, and how many of them the journal tells of.
struct SkipReasonTests {
    private static let error = FileError(.open, "/spool/inbox/a.json", .permissionDenied)

    static let all: [(SkipReason, InboxReason, Bool, String)] = [
        (.notYet(.dot), .ignoredName, false, "its name begins with a dot"),
        (.notYet(.part), .ignoredName, false, "its name ends in .part"),
        (
            .ofMachine, .ignoredName, false,
            "files and folders with its name are made by storage boxes and desktops"
        ),
        (
            .otherEnding, .ignoredName, true,
            "it does not end in .json, .yaml, .yml or .plist, nor in .cancel, .hold, .release, .retry or .remove"
        ),
        (.notAFile, .notAFile, true, "it is not a regular file"),
        (
            .folder(.foreignManifest), .folder, true,
            "it is a folder whose manifest belongs to another user"
        ),
        (
            .folder(.severalRecipes), .folder, true,
            "it is a folder without a manifest and with several files NAME.recipe; leave one of them"
        ),
        (
            .picture, .picture, true,
            "it is a picture, but the inbox is for manifests; name the picture in a manifest, by its URL or, beneath "
                + "one of sources.roots, by its path"
        ),
        (.unreadable(error), .unreadable, true, error.message),
        (
            .waits(.settling("a.json")), .waitsForItsManifest, true,
            "its manifest a.json may not be complete yet"
        ),
        (.hasActed(error), .hasActed, true, "it has taken effect; \(error.message)"),
    ]

    @Test(arguments: all)
    func hasAReasonAndWords(why: SkipReason, reason: InboxReason, isTold: Bool, words: String) {
        #expect(why.reason == reason)
        #expect(why.isTold == isTold)
        #expect(why.words == words)
    }

    @Test(
        arguments: [
            ("@eaDir", .ofMachine), ("Thumbs.db", .ofMachine), ("lost+found", .ofMachine),
            (".a.json", .notYet(.dot)), (".", .notYet(.dot)), ("a.json.tmp", .notYet(.temporary)),
            ("a.part", .notYet(.part)), ("a.json~", .notYet(.backup)),
            ("\u{600}.tmp", .notYet(.temporary)), ("a~\u{303}", .otherEnding),
            ("IMG_0001.jpg", .picture), ("a.JPEG", .picture), ("a.png", .picture),
            ("a.webp", .picture), ("a.tiff", .picture), ("IMG_1.HEIC", .picture),
            ("png", .otherEnding),
            ("\u{600}.jpg", .picture), ("a.jpg.tmp", .notYet(.temporary)), ("a.jpg.json", nil),
            ("a.txt", .otherEnding), ("json", .otherEnding), ("a.TMP", .otherEnding),
            ("a.json", nil), ("\u{600}.JSON", nil), ("a.cancel", nil),
        ] as [(FileName, SkipReason?)])
    func namesTellWhatIsNotMeantForUs(name: FileName, why: SkipReason?) {
        #expect(Examination.reasonToIgnore(name) == why)
    }

    // MARK: The journal

    @Test func aHundredAreToldAndTheRestIsCounted() {
        var notices = NoticeLimit()
        let told = (0..<65_536).filter { notices.take(at: UInt64($0)) }
        #expect(told == Array(0..<NoticeLimit.limit))
        let withheld = [notices.takeWithheld(), notices.takeWithheld()]
        #expect(withheld == [65_436, 0])
        // The interval is the first one's still.
        let isTold = notices.take(at: NoticeLimit.interval - 1)
        #expect(!isTold && notices.withheld == 1)
    }

    @Test func eachIntervalHasItsHundred() {
        var notices = NoticeLimit()
        var told = 0
        // Ten a second for ten minutes.
        for tenth in 0..<6000 where notices.take(at: UInt64(tenth) * 100_000_000) { told += 1 }
        #expect(told == 10 * NoticeLimit.limit)
        #expect(notices.withheld == 5000)
        // What comes seldom is told, all of it.
        let seldom = (20..<200).filter { notices.take(at: UInt64($0) * NoticeLimit.interval) }
        #expect(seldom == Array(20..<200))
    }
}
