import DarkroomClient
import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import Glibc

/// `check --sources`: what will become of the images of manifests.
struct SourcesCheck {
    private let rules: SourceRules
    private let isJSON: Bool
    private let progress: ProgressLine
    private let screen = Terminal(STDOUT_FILENO)
    private(set) var total: ForecastSummary

    init(_ rules: SourceRules, json: Bool, progress: ProgressMode) {
        self.rules = rules
        isJSON = json
        self.progress = ProgressLine(progress, first: (tty: 0.2, plain: 30), write: Console.problem)
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
        defer { progress.clear() }
        let step = { [progress] in
            seen += 1
            progress.show("\(seen) of \(Words.count(forecast.sources, "source"))")
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
        progress.clear()
        if let complaint = image.complaint(of: file) { Console.problem(complaint) }
        guard let line = image.line else { return }
        let name = image.image.name.string.visible
        try Console.lines(line.wrapped(to: screen.width, indent: 4, keeping: [name]))
    }
}
