import Foundation

/// Who does a job.
enum Program: Hashable {
    case darkroom
    /// A libvips: nil for the system's, or the path of a library. By default it uses no row filters;
    /// `filtered` has it use all, for results that are about as small as the others'.
    case vips(String?, filtered: Bool)
    case magick
    case libpng

    /// The helper program built beside this one.
    static let peers = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appending(path: "peers").path
    /// The command that was built beside this one.
    static let command = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        .appending(path: "darkroom").path

    func canDo(_ job: Job) -> Bool { self != .libpng || job.isForLibpng }

    func measure(
        _ job: Job, input: String, output: String, repeats: Int, into series: inout Series
    ) throws {
        try? FileManager.default.removeItem(atPath: output)
        let execution: Execution
        var times: [Double]
        switch self {
        case .darkroom:
            execution = try Execution([
                "/proc/\(getpid())/exe", "work", job.rawValue, input, output, "\(repeats)",
            ])
            times = Self.times(execution)
        case .vips, .libpng:
            execution = try Execution(
                [Self.peers, word, job.peerName, input, output, "\(repeats)"],
                environment: environment)
            times = Self.times(execution)
        case .magick:
            let target = job == .decode ? "null:" : "png:\(output)"
            execution = try Execution(["convert", input] + job.magickOptions + [target])
            times = [execution.wall]
        }
        // The first run of several pays for memory that was never touched before.
        if times.count > 1 { times.removeFirst() }
        let attributes = try? FileManager.default.attributesOfItem(atPath: output)
        series.add(
            times: times, peak: execution.peak, bytes: attributes?[.size] as? Int ?? 0)
    }

    private static func times(_ execution: Execution) -> [Double] {
        execution.output.split(separator: "\n").compactMap { Double($0).map { $0 / 1e6 } }
    }

    /// What `peers` calls it.
    private var word: String {
        switch self {
        case .vips(_, filtered: true): "vips-filtered"
        case .vips: "vips"
        default: "libpng"
        }
    }

    private var environment: [String: String] {
        if case .vips(let library?, _) = self { return ["PEERS_VIPS": library] }
        return [:]
    }

    func name() throws -> String {
        switch self {
        case .darkroom: "Darkroom"
        case .vips:
            "libvips "
                + (try Execution([Self.peers, "vips", "version"], environment: environment).output)
                .trimmingCharacters(in: .whitespacesAndNewlines)
                + (self.word == "vips" ? "" : ", filtered")
        case .magick: "ImageMagick"
        case .libpng: "libpng"
        }
    }
}
