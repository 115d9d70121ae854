import DarkroomCore
import DarkroomPicture

/// The sums over the images of a manifest, or of several.
package struct ForecastSummary: Encodable, Sendable, Equatable {
    package var images = 0
    /// The images that would fail for good.
    package var failing = 0
    /// The images whose failure may pass.
    package var transient = 0
    package var unknown = 0
    /// The most that an image needs, in bytes.
    package var memory = 0
    /// What one picture may have, in bytes; absent if no daemon has reported.
    package var memoryLimit: Int?

    package init(_ rules: SourceRules) { memoryLimit = rules.memory }

    package mutating func add(_ forecast: ImageForecast) {
        images += 1
        switch forecast.verdict {
        case .ready: break
        case .fails(let failure) where failure.isTransient: transient += 1
        case .fails: failing += 1
        case .unknown: unknown += 1
        }
        memory = max(memory, forecast.outcome?.bytes ?? 0)
    }

    package mutating func add(_ other: ForecastSummary) {
        images += other.images
        failing += other.failing
        transient += other.transient
        unknown += other.unknown
        memory = max(memory, other.memory)
    }

    package var exit: ClientExit { failing > 0 ? .rejected : transient > 0 ? .tryAgain : .success }

    /// `30 images, up to 85 MiB of memory (limit 1.8 GiB), 2 would fail, 1 is not known`.
    package var words: String {
        var parts = [Words.count(images, "image")]
        if memory > 0 {
            let limit = memoryLimit.map { " (limit \(HumanText.bytes(Double($0))))" } ?? ""
            parts.append("up to \(HumanText.bytes(Double(memory))) of memory\(limit)")
        }
        if failing > 0 { parts.append("\(failing) would fail") }
        if transient > 0 { parts.append("\(transient) would fail now") }
        if unknown > 0 { parts.append("\(unknown) \(unknown == 1 ? "is" : "are") not known") }
        return parts.joined(separator: ", ")
    }
}
