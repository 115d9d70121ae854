import Foundation
import Synchronization
import TestPictures
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomClient
@testable import DarkroomCore
@testable import DarkroomManifest

/// What `check --sources` finds out about the images of a manifest.
struct ManifestForecastTests {
    private let scratch: ScratchDirectory
    private var limits: QueueReport.Limits

    init() throws {
        scratch = try ScratchDirectory()
        let files: [String: [UInt8]] = [
            "a.png": Starfield.png(width: 200, height: 100, seed: 1),
            "logo.png": PNGMaker.noise(width: 30, height: 20, colourType: .rgba, depth: 16).encoded,
            "bits.png": PNGMaker.noise(
                width: 40, height: 30, colourType: .gray, depth: 1, interlaced: true
            ).encoded,
            "p.jpg": Self.progressive, "text.png": Array("hello".utf8),
            "short.png": Array(Starfield.png(width: 200, height: 100, seed: 1).prefix(20)),
        ]
        for (name, bytes) in files {
            try Data(bytes).write(to: scratch.url.appending(path: name))
        }
        limits = .local(readable: [scratch.path])
        limits.downloads.allowNetworks = ["127.0.0.0/8"]
    }

    private static let progressive: [UInt8] = {
        var maker = JPEGMaker.gradient(width: 640, height: 480, channels: 3)
        maker.scans = .progressive
        return maker.encoded
    }()

    private func rules(_ limits: QueueReport.Limits? = nil, uid: UInt32 = geteuid()) -> SourceRules
    {
        SourceRules(
            QueueReport(
                written: "", state: .running,
                daemon: .init(version: "1", process: 1, started: "", uid: uid),
                limits: limits ?? self.limits))
    }

    private func forecasts(
        _ images: String, _ rules: SourceRules? = nil
    ) throws -> [ImageForecast] {
        let manifest = try ManifestReader.read(
            Array("images:\(images.hasPrefix("[") ? " " : "\n")\(images)".utf8), format: .yaml,
            defaultFilters: [])
        var found: [ImageForecast] = []
        try ManifestForecast(of: manifest, rules ?? self.rules()).run { found.append($0) }
        #expect(found.map(\.image) == manifest.images)
        return found
    }

    private static func code(of image: ImageForecast) -> String? {
        if case .fails(let failure) = image.verdict { failure.code } else { nil }
    }

    /// Each page of a source has a header of its own.
    @Test func looksAtThePageOfAnImage() throws {
        try Data(TIFFMaker(pages: 2).bytes).write(to: scratch.url.appending(path: "p.tif"))
        #expect(
            try lines(
                "[{source: p.tif, page: 2}, {name: q, source: p.tif, page: 2}, {name: r, source: p.tif, page: 3}]"
            ) == [
                "p  1×1  8-bit gray TIFF  → 1×1 PNG", "q  1×1  8-bit gray TIFF  → 1×1 PNG",
                "m: r: p.tif: reading the header: the file has 2 pages, and no page 3 [page-missing]",
            ])
    }

    /// The lines for people, without the memory, whose amount depends on the cores.
    private func lines(_ images: String, _ rules: SourceRules? = nil) throws -> [String] {
        try forecasts(images, rules).map { image in
            let line = image.line ?? image.complaint(of: "m") ?? ""
            return line.replacing(#/  memory .*/#, with: "").replacing(scratch.path, with: ".")
        }
    }

    @Test(arguments: [
        "[a.png]": "a  200×100  8-bit RGB PNG  → 200×100 PNG",
        "[{name: a, source: a.png, filters: [{resize: {width: 50}}], output: {format: jpeg}}]":
            "a  200×100  8-bit RGB PNG  → 50×25 JPEG",
        "[logo.png]": "logo  30×20  16-bit RGBA PNG  → 30×20 PNG",
        "[bits.png]": "bits  40×30  1-bit gray PNG, interlaced  → 40×30 PNG",
        "[p.jpg]": "p  640×480  8-bit RGB JPEG, progressive  → 640×480 PNG",
        "[{name: a, source: a.png, filters: [trim]}]":
            "a  200×100  8-bit RGB PNG  → at most 200×100 PNG",
        "[{name: a, source: a.png, filters: [{crop: {width: 300, height: 1, x: 0, y: 0}}]}]":
            "m: a: a.png: crop: the rectangle of 300 × 1 pixels at (0, 0) is not within the picture of 200 × 100 [filter-outside]",
        "[text.png]": "m: text: text.png: this is plain text, not a picture [not-a-picture]",
        "[short.png]":
            "m: short: short.png: reading the header: the file ends too early [png-truncated]",
        "[none.png]": "m: none: none.png: no such file in sources.roots (.) [source-missing]",
        "['http://10.1.2.3/x.png']":
            "m: x: http://10.1.2.3/x.png: the address 10.1.2.3 is not global unicast (private); downloads.allowNetworks with 10.1.2.3/32 can allow it [address-forbidden]",
    ]) func tellsWhatWillBecomeOfAnImage(images: String, line: String) throws {
        #expect(try lines(images) == [line])
    }

    /// Sources that are needed are looked at first, and all are passed on in their order.
    @Test func followsDependencies() throws {
        let images = """
            - {name: late, from: middle, filters: [{crop: {width: 20, height: 10, x: 0, y: 0}}]}
            - {name: outside, from: middle, filters: [{crop: {width: 80, height: 10, x: 0, y: 0}}]}
            - {name: marked, source: a.png, filters: [{watermark: {from: logo}}]}
            - {name: middle, from: a, filters: [{resize: {width: 60}}], output: {format: jpeg}}
            - {name: a, source: a.png}
            - {name: logo, source: logo.png}
            - {name: gone, source: none.png}
            - {name: orphan, from: gone}
            - {name: unmarked, source: a.png, filters: [{watermark: {from: gone}}]}
            - {name: trimmed, source: a.png, filters: [trim]}
            - {name: unsized, from: trimmed}
            - {name: stamped, source: a.png, filters: [{watermark: {from: trimmed}}]}
            """
        let found = try lines(images)
        #expect(
            found == [
                "late  60×30  8-bit RGB PNG  → 20×10 PNG",
                "m: outside: middle.jpg: crop: the rectangle of 80 × 10 pixels at (0, 0) is not within the picture of 60 × 30 [filter-outside]",
                "marked  200×100  8-bit RGB PNG  → 200×100 PNG",
                "middle  200×100  8-bit RGB PNG  → 60×30 JPEG",
                "a  200×100  8-bit RGB PNG  → 200×100 PNG",
                "logo  30×20  16-bit RGBA PNG  → 30×20 PNG",
                "m: gone: none.png: no such file in sources.roots (.) [source-missing]",
                "m: orphan: it is made from gone, which has failed (source-missing) [dependency-failed]",
                "m: unmarked: it has the overlay gone, which has failed (source-missing) [dependency-failed]",
                "trimmed  200×100  8-bit RGB PNG  → at most 200×100 PNG",
                "unsized  not known: the size of trimmed after trim is not known",
                "stamped  200×100  8-bit RGB PNG  → 200×100 PNG",
            ])
    }

    @Test func comparesTheMemory() throws {
        let needed = try #require(try forecasts("[a.png]")[0].outcome?.bytes)
        var limits = limits
        limits.pictures.memory = needed
        #expect(try forecasts("[a.png]", rules(limits))[0].complaint(of: "m") == nil)
        limits.pictures.memory = needed - 1
        let small = rules(limits)
        #expect(
            try lines("[a.png]", small) == [
                "m: a: a.png: filtering it takes up to \(Units.bytes(needed)) of memory, more than the \(Units.bytes(needed - 1)) that limits.memory allows one picture [memory-limit]"
            ])
        var summary = ForecastSummary(small)
        for image in try forecasts("[a.png, none.png]", small) { summary.add(image) }
        #expect(summary.failing == 2 && summary.memory == needed && summary.exit == .rejected)
        // The number of pixels is another limit.
        limits.pictures.pixels = 19_999
        #expect(
            try lines("[a.png]", rules(limits)) == [
                "m: a: a.png: reading the header: 200 × 100 pixels are more than the limit of 19999 [too-many-pixels]"
            ])
    }

    /// Far more sources than are read at once.
    @Test func keepsTheOrder() throws {
        let names = (0..<1000).map { "\($0).png" }
        for name in names {
            try FileManager.default.linkItem(
                atPath: scratch.path + "/a.png", toPath: scratch.path + "/" + name)
        }
        let sources = names.enumerated().map { $0 % 7 == 3 ? "none\($0).png" : $1 }
        let manifest = try ManifestReader.read(
            Array("images: [\(sources.joined(separator: ", "))]".utf8), format: .yaml,
            defaultFilters: [])
        var (found, looks): ([ImageForecast], Int) = ([], 0)
        let forecast = try ManifestForecast(of: manifest, rules())
        forecast.run {
            looks += 1
        } pass: {
            found.append($0)
        }
        #expect(looks == 1000 && forecast.sources == 1000)
        #expect(found.map(\.image) == manifest.images)
        #expect(found.map { $0.header == nil } == (0..<1000).map { $0 % 7 == 3 })
    }

    // MARK: What the daemon can read

    @Test func knowsWhatTheServiceSees() throws {
        var limits = limits
        limits.readableRoots = []
        limits.service = .init(unit: "darkroomd@x", hidesHomes: true)
        #expect(
            try lines("[a.png]", rules(limits)) == [
                "m: a: a.png: the service has its own root folder and does not see .: add BindReadOnlyPaths=. to a drop-in (systemctl edit darkroomd@x) and restart it [source-missing]"
            ])
    }

    /// The permissions of another user's file tell only that the daemon certainly may not read it.
    @Test(arguments: [(0o600, false), (0o604, true), (0o640, true), (0o000, false)])
    func knowsPermissions(mode: mode_t, isReadable: Bool) throws {
        try #require(chmod(scratch.path + "/a.png", mode) == 0)
        let image = try forecasts("[a.png]", rules(uid: geteuid() + 1))[0]
        let code = Self.code(of: image)
        if geteuid() == 0 || mode != 0 {
            #expect(code == (isReadable ? nil : "source-unreadable"))
        } else {
            // The tests' user may not read the file either.
            #expect(image.line == "a  not known: you may not read it: a.png: cannot be opened")
        }
    }

    @Test func knowsLittleWithoutADaemon() throws {
        let rules = SourceRules(nil)
        #expect(
            try lines("[a.png, \(scratch.path)/a.png]", rules) == [
                "a  not known: a relative path begins at sources.roots, and no darkroomd has reported them",
                "a-2  200×100  8-bit RGB PNG  → 200×100 PNG",
            ])
        #expect(rules.memory == nil)
    }

    /// Headers are read by confined processes if the daemon has pictures decoded so, with the same result.
    @Test func readsHeadersWhereTheDaemonDoes() throws {
        var confined = limits
        confined.pictures.confine = .all
        let here = try lines("[\(scratch.path)/a.png]")
        #expect(rules(confined).pictures.confine == .all)
        #expect(try lines("[\(scratch.path)/a.png]", rules(confined)) == here)
    }

    // MARK: Servers

    /// A picture whose header is followed by more than is fetched, and one whose header is longer.
    @Test func fetchesNoMoreThanItMay() throws {
        let large = PNGMaker.noise(width: 300, height: 200, colourType: .rgba, depth: 8).encoded
        var padded = PNGMaker.noise(width: 9, height: 9, colourType: .rgb, depth: 8)
        padded.early = [PNGChunk("teXt", [UInt8](repeating: 65, count: 70_000))]
        let files = ["/large.png": large, "/padded.png": padded.encoded]
        let origin = try ScriptedOrigin { request in
            guard let file = files[request.path] else {
                return .init(["HTTP/1.1 503 Busy", "Content-Length: 0"])
            }
            let part = Array(file.prefix(1 << 16))
            return .init(
                [
                    "HTTP/1.1 206 X", "Content-Length: \(part.count)",
                    "Content-Range: bytes 0-\(part.count - 1)/\(file.count)",
                ], body: part)
        }
        let names = ["large", "padded", "busy", "large"]
        let images = try forecasts(
            "[\(names.map { "'\(origin.baseURL)/\($0).png'" }.joined(separator: ", "))]")
        #expect(images[0].bytes == Int64(large.count) && images[3].bytes == images[0].bytes)
        #expect(images[0].header?.layout.width == 300)
        guard case .unknown("its header is longer than 64 KiB") = images[1].verdict,
            case .fails(let failure) = images[2].verdict
        else {
            Issue.record("\(images[1].verdict), \(images[2].verdict)")
            return
        }
        #expect(failure.code == "http-status" && failure.isTransient)
        #expect(
            images[2].complaint(of: "m")
                == "m: busy: \(origin.baseURL)/busy.png: the server answered 503 Service Unavailable [http-status] (this may pass)"
        )
        // A source of two images is fetched once, and each by one request for a part.
        #expect(origin.requests.count == 3)
        #expect(Set(origin.requests.map { $0.fields["range"] }) == ["bytes=0-65535"])
    }

    /// The daemon may have a header that this process does not know.
    @Test func doesNotKnowWhatHeadersDo() throws {
        let origin = try ScriptedOrigin { _ in
            .init(["HTTP/1.1 401 Unauthorized", "Content-Length: 0"])
        }
        let images = "['\(origin.baseURL)/a.png']"
        #expect(try forecasts(images)[0].complaint(of: "m")?.contains("[http-status]") == true)
        var limits = limits
        limits.downloads.hasHeaders = true
        #expect(
            try lines(images, rules(limits)) == [
                "a  not known: \(origin.baseURL)/a.png: the server answered 401 Unauthorized; darkroomd has headers for some hosts"
            ])
    }

    @Test func obeysTheRulesForHosts() throws {
        var limits = limits
        limits.downloads.denyHosts = ["*.example.org"]
        limits.downloads.allowNetworks = []
        let images = try forecasts(
            "['http://a.example.org/x', 'http://127.0.0.1:1/x']", rules(limits))
        #expect(images.map(Self.code) == ["host-forbidden", "address-forbidden"])
        // Its user and password are not known, and neither is the host.
        limits.downloads.proxy = RedactedURL.whole("ann:secret@proxy:3128")
        #expect(
            try lines("['http://a.example.org/x']", rules(limits)) == [
                "x  not known: darkroomd uses a proxy (downloads.proxy) that its report does not name"
            ])
    }

    /// Servers are asked several at a time, and a slow one does not change the order.
    @Test func asksSeveralAtOnce() throws {
        let picture = Starfield.png(width: 10, height: 10, seed: 1)
        let inside = Mutex(0)
        let most = Mutex(0)
        let together = DispatchSemaphore(value: 0)
        let origin = try ScriptedOrigin { _ in
            let count = inside.withLock { count in
                count += 1
                return count
            }
            most.withLock { $0 = max($0, count) }
            // The first ones are answered only when all of them have arrived.
            if count == HeaderQueue.width {
                for _ in 0..<HeaderQueue.width { together.signal() }
            }
            _ = together.wait(timeout: .now() + .seconds(300))
            together.signal()
            inside.withLock { $0 -= 1 }
            return .init(["HTTP/1.1 200 OK", "Content-Length: \(picture.count)"], body: picture)
        }
        let images = (0..<40).map { "'\(origin.baseURL)/\($0).png'" }.joined(separator: ", ")
        let found = try forecasts("[\(images)]")
        #expect(found.allSatisfy { $0.header != nil })
        #expect(most.withLock { $0 } == HeaderQueue.width)
        #expect(origin.requests.count == 40)
    }
}
