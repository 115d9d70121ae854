import DarkroomCore
import DarkroomSelfTest
import DarkroomSpool
import Foundation
import TestSupport
import Testing

/// The page of a batch that the real daemon makes.
@Suite(.fewAtATime) struct BatchPageTests {
    private static let page = "outbox/x/page"

    /// One large picture, one small one, and one that fails.
    private static func drop(_ fixture: DaemonFixture, page: Bool? = true) throws {
        try Data(Starfield.png(width: 1000, height: 700, seed: 3)).write(
            to: fixture.documents.url.appending(path: "large.png"))
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
        #expect(
            fixture.spool.list("\(page)/previews") == ["1-pair.jpg", "1.jpg", "2-pair.jpg"])
        let html = String(decoding: try fixture.spool.bytes("\(page)/index.html"), as: UTF8.self)
        #expect(html.hasSuffix("</html>\n"))
        #expect(html.contains("3 images: 2 filtered and 1 failed"))
        #expect(html.contains("src=\"previews/1.jpg\""))
        #expect(html.contains("src=\"../small.png\""))
        for number in 1...2 {
            // Before and the difference.
            #expect(html.components(separatedBy: "src=\"previews/\(number)-pair.jpg\"").count == 3)
        }
        #expect(html.components(separatedBy: "class=\"pair comparable\"").count == 3)
        #expect(try fixture.spool.bytes("\(page)/previews/1.jpg").starts(with: [0xFF, 0xD8]))
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
        let dying = try DaemonProcess(
            arguments: DaemonProcess.arguments(
                spool: fixture.spool.path, settings: Self.settings),
            environment: ["DARKROOM_FAULT": point.rawValue])
        #expect(try await dying.waitForEnding() == .killed(signal: SIGKILL))
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

        try Data(DaemonFixture.picture).write(
            to: fixture.documents.url.appending(path: "none.png"))
        try fixture.spool.drop("x.retry", "")
        if let point {
            let dying = try DaemonProcess(
                arguments: DaemonProcess.arguments(
                    spool: fixture.spool.path, settings: Self.settings),
                environment: ["DARKROOM_FAULT": point.rawValue])
            #expect(try await dying.waitForEnding() == .killed(signal: SIGKILL))
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
        #expect(
            fixture.spool.list("\(Self.page)/previews") == [
                "1-pair.jpg", "1.jpg", "2-pair.jpg", "3-pair.jpg",
            ])
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func goesWithItsAnswer() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        let daemon = try await fixture.run(Self.settings)
        try Self.drop(fixture)
        try Self.check(fixture, try await fixture.spool.finish("x", daemon))
        #expect(try await fixture.client("verify", "x").exit == 0)
        #expect(
            try await fixture.client("remove", "x")
                == .init(exit: 0, output: "x removed\n", errors: ""))
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

    /// What the commands write, the daemon does.
    @Test func theCommandAsksForIt() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        let daemon = try await fixture.run()
        let made = try await fixture.client("make", "--page", fixture.url("0.png"))
        #expect(made.exit == 0 && made.output.contains("\"page\""))
        let submitted = try await fixture.client(
            "submit", "--page", "--name", "x", "--wait", fixture.url("0.png"))
        #expect(submitted.exit == 0)
        #expect(fixture.spool.exists("\(Self.page)/index.html"))
        #expect(try await daemon.stop() == .exited(0))
    }

    /// The two copies of a file are shown one by one, and the slider lays the source exactly over the result.
    @Test(.enabled(if: Browser.path != nil, "there is no chromium"))
    func aBrowserShowsEachCopyInItsFrame() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        for (name, width, height) in [("large", 1000, 700), ("flat", 1000, 11), ("tiny", 7, 3)] {
            try Data(Starfield.png(width: width, height: height, seed: 3)).write(
                to: fixture.documents.url.appending(path: "\(name).png"))
        }
        let daemon = try await fixture.run()
        let names = ["large", "flat", "tiny"]
        try fixture.drop(
            "x",
            [
                "page": true, "filters": ["invert"],
                "images": names.map { ["name": $0, "source": fixture.url("\($0).png")] },
            ])
        _ = try await fixture.spool.finish("x", daemon)
        #expect(try await daemon.stop() == .exited(0))
        let url = "file://\(fixture.spool.path)/\(Self.page)/index.html"
        try await Browser.use { browser in
            try browser.show(width: 1100, height: 900)
            for number in 1...names.count {
                try browser.open(url + "#view-\(number)")
                let faults = try browser.value(
                    """
                    (() => {
                      const view = document.querySelector(':target'), faults = [];
                      const box = e => e.getBoundingClientRect();
                      const near = (a, b, what) => { if (Math.abs(a - b) > 0.6) faults.push(what + ' ' + a + ' ' + b); };
                      const parts = [...view.querySelectorAll('.part')];
                      if (parts.length != 3) faults.push(parts.length + ' parts');
                      for (const part of parts) {
                        const image = part.querySelector('img'), [p, i] = [box(part), box(image)];
                        const isUpper = image.className == 'upper';
                        near(i.width, p.width, 'width');
                        near(isUpper ? i.top : i.bottom, isUpper ? p.top : p.bottom, image.className);
                        near(i.height, p.height * parseFloat(image.getAttribute('height')) / 100, 'height');
                        if (p.height < 1) faults.push('flat');
                      }
                      const [below, above] = [view.querySelector('.stack > img'), view.querySelector('.top .part')].map(box);
                      for (const side of ['left', 'top', 'right', 'bottom']) near(below[side], above[side], side);
                      return faults;
                    })()
                    """, as: [String].self)
                #expect(faults == [], "\(names[number - 1])")
            }
        }
    }
}
