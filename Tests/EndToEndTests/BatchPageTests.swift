import DarkroomAnswer
import DarkroomCore
import Foundation
import TestPictures
import TestSupport
import Testing

/// The page of a batch that the real daemon makes.
@Suite(.fewAtATime) struct BatchPageTests {
    private static let page = "outbox/x/page"

    /// One large picture, one small one, and one that fails.
    private static func drop(_ fixture: DaemonFixture, page: Bool? = true) throws {
        try fixture.documents.write(
            Starfield.png(width: 1000, height: 700, seed: 3), to: "large.png")
        var manifest: [String: Any] = [
            "filters": ["flop"],
            "images": [
                ["name": "large", "source": fixture.url("large.png")],
                ["name": "small", "source": fixture.url("0.png")],
                ["name": "none", "source": fixture.url("none.png")],
            ],
        ]
        if let page { manifest["page"] = page }
        try fixture.drop("x", manifest)
    }

    private static let settings = ["downloads.retries": "0"]

    /// The page is whole, and says what the status says.
    private static func check(_ fixture: DaemonFixture, _ status: Status) throws {
        try fixture.checkOutcome(status)
        #expect(status.state == .completedWithErrors)
        #expect(
            fixture.spool.list(page).sorted() == ["index.html", "page.json", "previews"])
        #expect(try copies(fixture) == 2)
        let html = String(decoding: try fixture.spool.bytes("\(page)/index.html"), as: UTF8.self)
        #expect(html.hasSuffix("</html>\n"))
        #expect(html.contains("3 images: 2 filtered and 1 failed"))
        #expect(html.contains("src=\"previews/1.jpg\""))
        #expect(html.contains("src=\"../small.png\""))
        #expect(html.components(separatedBy: "class=\"pair comparable\"").count == 3)
        #expect(try fixture.spool.bytes("\(page)/previews/1.jpg").starts(with: [0xFF, 0xD8]))
    }

    /// Checks that the page shows the small copies of sources that are there, each of them and its difference once, and
    /// that there is nothing else but the copy of the large result.
    ///
    /// - Returns: the number of the sources.
    private static func copies(_ fixture: DaemonFixture) throws -> Int {
        let html = String(decoding: try fixture.spool.bytes("\(page)/index.html"), as: UTF8.self)
        var shown: [String: Set<String>] = [:]
        for part in html.components(separatedBy: "src=\"previews/").dropFirst() {
            let link = part.prefix { $0 != "\"" }.split(separator: "#").map(String.init)
            guard link.count == 2 else { continue }
            #expect(shown[link[0], default: []].insert(link[1]).inserted)
        }
        let names = fixture.spool.list("\(page)/previews")
        #expect(Set(names) == Set(shown.keys).union(["1.jpg"]))
        for (name, views) in shown {
            let sheet = String(
                decoding: try fixture.spool.bytes("\(page)/previews/\(name)"), as: UTF8.self)
            #expect(sheet.hasSuffix("</svg>\n"))
            for view in views { #expect(sheet.contains("<view id=\"\(view)\" ")) }
        }
        let before = shown.values.joined().filter { $0.hasPrefix("before-") }
        #expect(before.count * 2 == shown.values.reduce(0) { $0 + $1.count })
        return before.count
    }

    @Test(
        arguments: [
            (nil, "false", false), (false, "true", false), (nil, "true", true),
            (true, "false", true),
        ] as [(Bool?, String, Bool)])
    func isThereIfItIsWanted(wish: Bool?, configured: String, isMade: Bool) async throws {
        let fixture = try DaemonFixture(pictures: 1)
        let daemon = try await fixture.run(
            Self.settings.merging(["batches.page": configured]) { $1 })
        try Self.drop(fixture, page: wish)
        let status = try await fixture.spool.finish("x", daemon)
        #expect(fixture.spool.exists(Self.page) == isMade)
        if isMade { try Self.check(fixture, status) }
        #expect(try await daemon.stop() == .exited(0))
    }

    static let points: [FaultPoint] = [
        .filterWritten, .publishOutputMoved, .pageMade, .pageMoved, .finalStatusWritten,
        .finalStatusMoved,
    ]

    /// A kill leaves no half page and no last status without one.
    @Test(arguments: points) func isWholeAfterAKill(point: FaultPoint) async throws {
        let fixture = try DaemonFixture(pictures: 1)
        try fixture.spool.makeFolders()
        try Self.drop(fixture)
        try await fixture.die(Self.settings, environment: ["DARKROOM_FAULT": point.rawValue])
        let isThere = fixture.spool.exists(Self.page)
        #expect(isThere == [.pageMoved, .finalStatusWritten, .finalStatusMoved].contains(point))
        if isThere { #expect(fixture.spool.exists("\(Self.page)/page.json")) }
        let daemon = try await fixture.run(Self.settings)
        try Self.check(fixture, try await fixture.spool.finish("x", daemon))
        #expect(try await daemon.stop() == .exited(0))
    }

    /// A retry replaces it, also if the daemon is killed between the old one and the new one.
    @Test(arguments: [nil, FaultPoint.pageMade, .pageWithdrawn, .pageMoved])
    func aRetryMakesItAnew(point: FaultPoint?) async throws {
        let fixture = try DaemonFixture(pictures: 1)
        var daemon = try await fixture.run(Self.settings)
        try Self.drop(fixture)
        try Self.check(fixture, try await fixture.spool.finish("x", daemon))
        #expect(try await daemon.stop() == .exited(0))

        try fixture.documents.write(DaemonFixture.picture, to: "none.png")
        try fixture.spool.drop("x.retry", "")
        if let point {
            try await fixture.die(Self.settings, environment: ["DARKROOM_FAULT": point.rawValue])
        }
        daemon = try await fixture.run(Self.settings)
        let status = try await fixture.spool.waitForStatus(of: "x", daemon, "completed") {
            $0.state == .completed && !fixture.spool.exists("active/x")
        }
        try fixture.checkCompleted(status)
        let html = String(
            decoding: try fixture.spool.bytes("\(Self.page)/index.html"), as: UTF8.self)
        #expect(html.contains("3 images: 3 filtered"))
        // The small copy of the picture that was not repeated.
        #expect(html.contains("src=\"previews/1.jpg\""))
        #expect(try Self.copies(fixture) == 3)
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func goesWithItsAnswer() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1, Self.settings)
        try Self.drop(fixture)
        try Self.check(fixture, try await fixture.spool.finish("x", daemon))
        #expect(try await fixture.client("verify", "x").exit == 0)
        try await fixture.client("remove", "x").expect(exit: 0, output: "x removed\n")
        try await daemon.waitUntil("the removal of all files") { _ in
            fixture.spool.list("outbox") == [] && fixture.spool.list("active") == []
        }
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func anExpiredAnswerGoesWithIt() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        let daemon = try await fixture.run(
            Self.settings.merging(["retention.age": "1s"]) { $1 })
        try Self.drop(fixture)
        try await daemon.says("outbox/x removed")
        try await daemon.waitUntil("the removal of all files") { _ in
            fixture.spool.list("outbox") == [] && fixture.spool.list("active") == []
        }
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func theCommandAsksForIt() async throws {
        let (fixture, daemon) = try await DaemonFixture.running(pictures: 1)
        try await fixture.client("make", "--page", fixture.url("0.png")).shows(
            exit: 0, output: .has("\"page\""))
        try await fixture.client("submit", "--page", "--name", "x", "--wait", fixture.url("0.png"))
            .shows(exit: 0)
        #expect(fixture.spool.exists("\(Self.page)/index.html"))
        #expect(try await daemon.stop() == .exited(0))
    }

    /// Each view of a sheet shows its own copy, stretched to the size of the result, and the slider lays the source exactly
    /// over the result.
    @Test(.enabled(if: Browser.path != nil, "there is no chromium"))
    func aBrowserShowsEachCopy() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        let pictures: [(name: String, width: Int, height: Int, colour: [Int])] = [
            ("large", 1000, 700, [200, 30, 60]), ("wide", 1000, 90, [20, 160, 220]),
            ("tiny", 7, 3, [90, 210, 10]),
        ]
        for picture in pictures {
            let samples = (0..<(picture.width * picture.height)).flatMap { _ in
                picture.colour.map { UInt16($0) }
            }
            let maker = PNGMaker(
                width: picture.width, height: picture.height, colourType: .rgb, depth: 8,
                samples: samples)
            try fixture.documents.write(maker.encoded, to: "\(picture.name).png")
        }
        let daemon = try await fixture.run()
        try fixture.drop(
            "x",
            [
                "page": true, "filters": ["invert"],
                "images": pictures.map {
                    ["name": $0.name, "source": fixture.url("\($0.name).png")]
                },
            ])
        _ = try await fixture.spool.finish("x", daemon)
        #expect(try await daemon.stop() == .exited(0))
        let url = "file://\(fixture.spool.path)/\(Self.page)/index.html"
        try await Browser.use { browser in
            try browser.show(width: 1100, height: 900)
            for (index, picture) in pictures.enumerated() {
                try browser.open(url + "#view-\(index + 1)")
                let difference = picture.colour.map { abs(2 * $0 - 255) }
                for (selector, colour) in [
                    (".pair img", picture.colour), (".pair figure:nth-child(3) img", difference),
                    (".top img", picture.colour),
                ] {
                    let found = try Self.colour(of: selector, browser)
                    let worst = zip(found, colour).map { abs($0 - $1) }.max() ?? 255
                    #expect(
                        worst <= 8, "\(picture.name), \(selector): \(found) and not \(colour)")
                }
                let faults = try browser.value(
                    """
                    (() => {
                      const view = document.querySelector(':target'), faults = [];
                      const box = e => e.getBoundingClientRect();
                      const [before, after] = [...view.querySelectorAll('.pair img')].map(box);
                      const [below, above] = ['.stack > img', '.top img'].map(s => box(view.querySelector(s)));
                      const near = (a, b, side) => { if (Math.abs(a - b) > 0.6) faults.push(side + ' ' + a + ' ' + b); };
                      for (const side of ['width', 'height']) near(before[side], after[side], side);
                      for (const side of ['left', 'top', 'right', 'bottom']) near(below[side], above[side], side);
                      if (before.height < 1) faults.push('flat');
                      return faults;
                    })()
                    """, as: [String].self)
                #expect(faults == [], "\(picture.name)")
            }
        }
    }

    /// The colour near the left edge of an image in the open view, where the slider shows the source.
    private static func colour(of selector: String, _ browser: Browser) throws -> [Int] {
        let place = try browser.value(
            """
            (() => {
              const image = document.querySelector(':target ' + \"\(selector)\");
              image.scrollIntoView({block: 'center'});
              const box = image.getBoundingClientRect();
              return [box.left + box.width / 8, box.top + box.height / 2];
            })()
            """, as: [Double].self)
        // A lazy image is loaded when it is near.
        var found: [Int] = []
        for _ in 0..<100 {
            let isComplete = try browser.value(
                "document.querySelector(':target ' + \"\(selector)\").complete", as: Bool.self)
            let picture = try PNGDecoder.decode(try browser.screenshot())
            let layout = picture.layout
            let start = (Int(place[1]) * layout.width + Int(place[0])) * layout.channels
            found = picture.samples[start..<start + 3].map { Int($0) }
            if isComplete, found != [255, 255, 255] { break }
            usleep(20_000)
        }
        return found
    }
}
