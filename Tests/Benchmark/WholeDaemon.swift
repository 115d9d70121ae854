import ArgumentParser
import Foundation

/// The whole daemon beside libvips in process, on the jobs that people have.
struct WholeDaemon: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "daemon",
        abstract: "Measure the whole daemon beside libvips in process.",
        discussion: """
            The daemon's time is from the drop of a manifest to the batch's end, with durability full. libvips has as \
            many processes as there are cores, of one thread each, and its start does not count. The two take turns. \
            The pictures of a job are links to one file, each a source of its own.
            """)

    @Option(help: "A Python with pyvips.")
    var python: String

    @Option(
        help:
            "A folder of RGB PNG files of 8 bits: the smallest, the middle and the largest are used."
    )
    var pictures: String?

    @Option(help: "How often each takes its turn.")
    var rounds = 3

    @Option(help: "How many seconds of the daemon's time a job has, about.")
    var seconds = 2.0

    @Option(help: "Where spools, pictures and results are made.")
    var scratch = ".build/benchmark"

    @Argument(help: "Only the jobs whose names contain this.")
    var name: String?

    private enum Size: Int { case small, middle, large }

    private struct Line {
        var name: String
        var size: Size
        /// What peer.py makes of the PNG file, such as rgba; png is the file itself.
        var kind: String
        var filters: String
        /// The result's format, as the manifest and peer.py call it.
        var form: String
        /// What peer.py calls it.
        var peer: String
        /// Whether the result is in sRGB.
        var isConverted: Bool

        init(
            _ name: String, _ size: Size, kind: String = "png", _ filters: String,
            form: String = "png", peer: String, isConverted: Bool = false
        ) {
            self.name = name
            self.size = size
            self.kind = kind
            self.filters = filters
            self.form = form
            self.peer = peer
            self.isConverted = isConverted
        }

        /// Those of the picture, if peer.py makes it of a telephone's size.
        var phoneMegapixels: Double? {
            switch kind {
            case "phone", "phone-progressive": 4032 * 3024 / 1e6
            case "phone-odd": 3999 * 2833 / 1e6
            default: nil
            }
        }

        /// As far as libvips has the same choices. Its effort 4 is method 4 of libwebp, as 6 is here; its 2 is speed 7 of
        /// libaom, as 3 is here.
        var output: String {
            switch form {
            case "jpeg" where isConverted: #"{"format": "jpeg", "quality": 85, "profile": "srgb"}"#
            case "jpeg": #"{"format": "jpeg", "quality": 85}"#
            case "webp": #"{"format": "webp", "quality": 80, "effort": 6}"#
            case "avif": #"{"format": "avif", "quality": 60, "effort": 3}"#
            default: #"{"format": "\#(form)"}"#
            }
        }
    }

    private static let lines: [Line] =
        [
            Line("sepia PNG", .small, #"["sepia"]"#, peer: "sepia"),
            Line("saturate PNG", .small, saturate, peer: "saturate"),
            Line("saturate PNG", .middle, saturate, peer: "saturate"),
            Line("saturate PNG", .large, saturate, peer: "saturate"),
            Line("grayscale PNG", .small, #"["grayscale"]"#, peer: "grayscale"),
            Line("saturate RGBA", .middle, kind: "rgba", saturate, peer: "saturate"),
            Line("saturate 16 bits", .middle, kind: "16", saturate, peer: "saturate"),
            Line("saturate palette", .middle, kind: "palette", saturate, peer: "saturate"),
            Line("saturate interlaced", .middle, kind: "interlaced", saturate, peer: "saturate"),
            Line(
                "resize interlaced PNG to 800", .large, kind: "interlaced", resize(800),
                peer: "resize-800"),
            Line("resize PNG to 200", .small, resize(200), peer: "resize-200"),
            Line("resize PNG to 800", .large, resize(800), peer: "resize-800"),
            Line("blur 5 PNG", .middle, #"[{"blur": {"sigma": 5}}]"#, peer: "blur-5"),
        ]
        + [400, 800, 1600].map {
            Line(
                "JPEG to JPEG of \($0)", .large, kind: "jpeg", resize($0), form: "jpeg",
                peer: "resize-\($0)")
        } + [
            Line(
                "JPEG to JPEG of 300", .small, kind: "jpeg", resize(300), form: "jpeg",
                peer: "resize-300"),
            Line("sepia JPEG", .large, kind: "jpeg", #"["sepia"]"#, form: "jpeg", peer: "sepia"),
            Line("sepia JPEG", .small, kind: "jpeg", #"["sepia"]"#, form: "jpeg", peer: "sepia"),
            Line(
                "progressive JPEG to JPEG of 300", .small, kind: "progressive", resize(300),
                form: "jpeg", peer: "resize-300"),
        ]
        + [
            ("JPEG of a telephone", "phone"), ("JPEG of a telephone, odd sides", "phone-odd"),
            ("progressive JPEG of a telephone", "phone-progressive"),
        ].flatMap { name, kind in
            [400, 800].map {
                Line(
                    "\(name) to \($0)", .large, kind: kind, resize($0), form: "jpeg",
                    peer: "resize-\($0)")
            }
        }
        + [400, 800, 1600].flatMap { width in
            ["webp", "avif"].map { form in
                Line(
                    "JPEG to \(form) of \(width)", .large, kind: "jpeg", resize(width), form: form,
                    peer: "resize-\(width)")
            }
        }
        + ["webp", "avif", "tiff"].map { kind in
            Line(
                "\(kind) to JPEG of 800", .large, kind: kind, resize(800), form: "jpeg",
                peer: "resize-800")
        } + [
            Line(
                "webp to JPEG of 300", .small, kind: "webp", resize(300), form: "jpeg",
                peer: "resize-300"),
            Line(
                "JPEG in P3 to JPEG of 800 in P3", .large, kind: "jpeg-p3", resize(800),
                form: "jpeg", peer: "resize-800"),
            Line(
                "JPEG in P3 to JPEG of 800 in sRGB", .large, kind: "jpeg-p3", resize(800),
                form: "jpeg", peer: "srgb-800", isConverted: true),
            Line(
                "sepia of a JPEG in P3, in sRGB", .large, kind: "jpeg-p3", #"["sepia"]"#,
                form: "jpeg", peer: "srgbsepia", isConverted: true),
            Line("saturate TIFF to PNG", .middle, kind: "tiff", saturate, peer: "saturate"),
            Line(
                "saturate TIFF to TIFF", .middle, kind: "tiff", saturate, form: "tiff",
                peer: "saturate"),
        ]

    private static let saturate = #"[{"saturate": {"amount": 1.3}}]"#

    private static func resize(_ width: Int) -> String { #"[{"resize": {"width": \#(width)}}]"# }

    func run() async throws {
        let work = try WorkFolder("daemon", in: scratch)
        defer { work.remove() }
        let files = try Pictures(folder: pictures, scratch: scratch).files
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let version = try Execution([python, DaemonRun.peer, "version"]).output
        print(
            "Medians of \(rounds) rounds in turn on \(cores) cores, durability full. Of libvips \(version):"
        )
        print(
            "how many times the daemon's time it takes, and how much larger or smaller the daemon's"
        )
        print("outputs are; `filtered` is its PNG with all row filters.")
        print()
        Table.begin("job", "MP", "pictures a second", "× default, bytes", "× filtered, bytes")
        for line in Self.lines where name.map({ line.name.contains($0) }) ?? true {
            let file = [files[0], files[files.count / 2], files[files.count - 1]][
                line.size.rawValue]
            let source = try made(line.kind, of: file, in: work)
            try await measure(line, file, source, work, cores)
            fflush(nil)
        }
    }

    private func made(_ kind: String, of file: Pictures.File, in work: WorkFolder) throws -> String
    {
        if kind == "png" { return URL(filePath: file.path).standardizedFileURL.path }
        let isJPEG = ["jpeg", "phone", "progressive"].contains { kind.hasPrefix($0) }
        let ending = isJPEG ? ".jpg" : ["webp", "avif", "tiff"].contains(kind) ? ".\(kind)" : ""
        let name = "\(kind)-\(file.name)\(ending)"
        let path = work.path(name)
        if !FileManager.default.fileExists(atPath: path) {
            _ = try Execution([python, DaemonRun.peer, "make", work.path, file.path, name, kind])
        }
        return path
    }

    private func measure(
        _ line: Line, _ file: Pictures.File, _ source: String, _ work: WorkFolder, _ cores: Int
    ) async throws {
        let run = try await DaemonRun(in: work, of: source)
        defer { run.remove() }
        // A first batch has every part in use, and says how many pictures take the time.
        let first = try await run.batch(2 * cores, filters: line.filters, output: line.output)
        let count = run.count(taking: seconds, as: first.seconds, for: 2 * cores)
        var own = Series()
        let forms = line.form == "png" ? ["png", "filtered"] : [line.form]
        var peers = forms.map { _ in Series() }
        for _ in 0..<rounds {
            let batch = try await run.batch(count, filters: line.filters, output: line.output)
            own.add(batch.seconds, bytes: batch.bytes)
            for (index, form) in forms.enumerated() {
                let batch = try run.peer(python, line.peer, form, cores, count)
                peers[index].add(batch.seconds, bytes: batch.bytes)
            }
        }
        try await run.stop()
        let cells = peers.map { peer in
            String(format: "%.2f, ", peer.median / own.median)
                + Table.percent(own.bytes, of: peer.bytes)
        }
        let speed = Double(count) / own.median
        print(
            "| \(line.name) | \(String(format: "%.1f", line.phoneMegapixels ?? file.megapixels))",
            "| \(String(format: speed < 100 ? "%.1f" : "%.0f", speed))",
            "| \((cells + [String](repeating: "–", count: 2 - cells.count)).joined(separator: " | ")) |"
        )
    }
}
