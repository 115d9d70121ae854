import DarkroomClient
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import Glibc

/// `check --sources`: what will become of the images of manifests.
struct SourcesCheck {
    private let rules: SourceRules
    private let isJSON: Bool
    private let progress: CheckProgress
    private let screen = Terminal(STDOUT_FILENO)
    private(set) var total: ForecastSummary

    init(_ rules: SourceRules, json: Bool, progress: ProgressMode) {
        self.rules = rules
        isJSON = json
        self.progress = CheckProgress(progress)
        total = ForecastSummary(rules)
    }

    /// Prints what will become of the images of a manifest.
    ///
    /// - Parameter sent: the pictures that come with it.
    mutating func check(
        _ manifest: Manifest, of file: String, sent: SentPictures? = nil
    ) throws -> ForecastSummary {
        var rules = rules
        rules.sent = sent
        let forecast = try ManifestForecast(of: manifest, rules)
        var summary = ForecastSummary(rules)
        var seen = 0
        defer { progress.erase() }
        let step = { [progress] in
            seen += 1
            progress.show(seen, of: forecast.sources)
        }
        try forecast.run(look: step) { image in
            summary.add(image)
            try print(image, manifest, file)
        }
        total.add(summary)
        return summary
    }

    private func print(
        _ image: ImageForecast, _ manifest: Manifest, _ file: String
    ) throws(ClientError) {
        if isJSON {
            var from: String?
            if case .image(let other) = image.image.origin {
                from = manifest.images[other].name.string
            }
            return try Console.lines([image.json(of: file, from: from)])
        }
        progress.erase()
        if let complaint = image.complaint(of: file) { Console.problem(complaint) }
        guard let line = image.line else { return }
        let name = image.image.name.string.visible
        try Console.lines(line.wrapped(to: screen.width, indent: 4, keeping: [name]))
    }
}

/// How many sources have been looked at: a line on a terminal, which is drawn again at most five times a second, or
/// elsewhere a line every 30 seconds.
final class CheckProgress {
    private let mode: ProgressMode
    private var isDrawn = false
    private var due: Double

    init(_ mode: ProgressMode) {
        self.mode = mode.resolved(Terminal(STDERR_FILENO))
        due = Clock.uptime + (self.mode == .tty ? 0.2 : 30)
    }

    func show(_ count: Int, of total: Int) {
        guard mode != .none, Clock.uptime >= due else { return }
        let text = "\(count) of \(Words.count(total, "source"))"
        if mode == .tty {
            try? Console.write("\r\(text)\u{1B}[K", to: STDERR_FILENO)
            isDrawn = true
            due = Clock.uptime + 0.2
        } else {
            Console.problem(text)
            due = Clock.uptime + 30
        }
    }

    func erase() {
        guard isDrawn else { return }
        try? Console.write("\r\u{1B}[K", to: STDERR_FILENO)
        isDrawn = false
    }
}
