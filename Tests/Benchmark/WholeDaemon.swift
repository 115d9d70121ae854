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

    /// One line of the table.
    private struct Line {
        var name: String
        var size: Size
        /// What peer.py makes of the PNG file, such as rgba; png is the file itself.
        var kind = "png"
        var filters: String
        /// The result's format, as the manifest and peer.py call it.
        var form = "png"
        /// What peer.py calls it.
        var peer: String
        /// Whether the result is in sRGB.
        var isConverted = false

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
            Line(name: "sepia PNG", size: .small, filters: #"["sepia"]"#, peer: "sepia"),
            Line(name: "saturate PNG", size: .small, filters: saturate, peer: "saturate"),
            Line(name: "saturate PNG", size: .middle, filters: saturate, peer: "saturate"),
            Line(name: "saturate PNG", size: .large, filters: saturate, peer: "saturate"),
            Line(
                name: "grayscale PNG", size: .small, filters: #"["grayscale"]"#, peer: "grayscale"),
            Line(
                name: "saturate RGBA", size: .middle, kind: "rgba", filters: saturate,
                peer: "saturate"),
            Line(
                name: "saturate 16 bits", size: .middle, kind: "16", filters: saturate,
                peer: "saturate"),
            Line(
                name: "saturate palette", size: .middle, kind: "palette", filters: saturate,
                peer: "saturate"),
            Line(
                name: "saturate interlaced", size: .middle, kind: "interlaced", filters: saturate,
                peer: "saturate"),
            Line(
                name: "resize interlaced PNG to 800", size: .large, kind: "interlaced",
                filters: resize(800), peer: "resize-800"),
            Line(name: "resize PNG to 200", size: .small, filters: resize(200), peer: "resize-200"),
            Line(name: "resize PNG to 800", size: .large, filters: resize(800), peer: "resize-800"),
            Line(
                name: "blur 5 PNG", size: .middle, filters: #"[{"blur": {"sigma": 5}}]"#,
                peer: "blur-5"),
        ]
        + [400, 800, 1600].map {
            Line(
                name: "JPEG to JPEG of \($0)", size: .large, kind: "jpeg", filters: resize($0),
                form: "jpeg", peer: "resize-\($0)")
        } + [
            Line(
                name: "JPEG to JPEG of 300", size: .small, kind: "jpeg", filters: resize(300),
                form: "jpeg", peer: "resize-300"),
            Line(
                name: "sepia JPEG", size: .large, kind: "jpeg", filters: #"["sepia"]"#,
                form: "jpeg", peer: "sepia"),
            Line(
                name: "sepia JPEG", size: .small, kind: "jpeg", filters: #"["sepia"]"#,
                form: "jpeg", peer: "sepia"),
            Line(
                name: "progressive JPEG to JPEG of 300", size: .small, kind: "progressive",
                filters: resize(300), form: "jpeg", peer: "resize-300"),
        ]
        + [
            ("JPEG of a telephone", "phone"), ("JPEG of a telephone, odd sides", "phone-odd"),
            ("progressive JPEG of a telephone", "phone-progressive"),
        ].flatMap { name, kind in
            [400, 800].map {
                Line(
                    name: "\(name) to \($0)", size: .large, kind: kind, filters: resize($0),
                    form: "jpeg", peer: "resize-\($0)")
            }
        }
        + [400, 800, 1600].flatMap { width in
            ["webp", "avif"].map { form in
                Line(
                    name: "JPEG to \(form) of \(width)", size: .large, kind: "jpeg",
                    filters: resize(width), form: form, peer: "resize-\(width)")
            }
        }
        + ["webp", "avif", "tiff"].map { kind in
            Line(
                name: "\(kind) to JPEG of 800", size: .large, kind: kind, filters: resize(800),
                form: "jpeg", peer: "resize-800")
        } + [
            Line(
                name: "webp to JPEG of 300", size: .small, kind: "webp", filters: resize(300),
                form: "jpeg", peer: "resize-300"),
            Line(
                name: "JPEG in P3 to JPEG of 800 in P3", size: .large, kind: "jpeg-p3",
                filters: resize(800), form: "jpeg", peer: "resize-800"),
            Line(
                name: "JPEG in P3 to JPEG of 800 in sRGB", size: .large, kind: "jpeg-p3",
                filters: resize(800), form: "jpeg", peer: "srgb-800", isConverted: true),
            Line(
                name: "sepia of a JPEG in P3, in sRGB", size: .large, kind: "jpeg-p3",
                filters: #"["sepia"]"#, form: "jpeg", peer: "srgbsepia", isConverted: true),
            Line(
                name: "saturate TIFF to PNG", size: .middle, kind: "tiff", filters: saturate,
                peer: "saturate"),
            Line(
                name: "saturate TIFF to TIFF", size: .middle, kind: "tiff", filters: saturate,
                form: "tiff", peer: "saturate"),
        ]

    private static let saturate = #"[{"saturate": {"amount": 1.3}}]"#

    private static func resize(_ width: Int) -> String { #"[{"resize": {"width": \#(width)}}]"# }

    func run() async throws {
        let folder = URL(filePath: scratch).appending(path: "daemon-\(getpid())")
            .standardizedFileURL
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
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
        print("| job | MP | pictures a second | × default, bytes | × filtered, bytes |")
        print("|---|---|---|---|---|")
        for line in Self.lines where name.map({ line.name.contains($0) }) ?? true {
            let file = [files[0], files[files.count / 2], files[files.count - 1]][
                line.size.rawValue]
            let source = try made(line.kind, of: file, in: folder)
            try await measure(line, file, source, folder, cores)
            fflush(nil)
        }
    }

    private func made(_ kind: String, of file: Pictures.File, in folder: URL) throws -> String {
        if kind == "png" { return URL(filePath: file.path).standardizedFileURL.path }
        let isJPEG = ["jpeg", "phone", "progressive"].contains { kind.hasPrefix($0) }
        let ending = isJPEG ? ".jpg" : ["webp", "avif", "tiff"].contains(kind) ? ".\(kind)" : ""
        let name = "\(kind)-\(file.name)\(ending)"
        let path = folder.appending(path: name).path
        if !FileManager.default.fileExists(atPath: path) {
            _ = try Execution([python, DaemonRun.peer, "make", folder.path, file.path, name, kind])
        }
        return path
    }

    private func measure(
        _ line: Line, _ file: Pictures.File, _ source: String, _ folder: URL, _ cores: Int
    ) async throws {
        let run = try await DaemonRun(in: folder, of: source)
        defer { run.remove() }
        // A first batch has every part in use, and says how many pictures take the time.
        let first = try await run.batch(2 * cores, filters: line.filters, output: line.output)
        let count = run.count(taking: seconds, as: first.seconds, for: 2 * cores)
        var own = Series()
        let forms = line.form == "png" ? ["png", "filtered"] : [line.form]
        var peers = forms.map { _ in Series() }
        for _ in 0..<rounds {
            let batch = try await run.batch(count, filters: line.filters, output: line.output)
            own.add(times: [batch.seconds], peak: 0, bytes: batch.bytes)
            for (index, form) in forms.enumerated() {
                let batch = try run.peer(python, line.peer, form, cores, count)
                peers[index].add(times: [batch.seconds], peak: 0, bytes: batch.bytes)
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
