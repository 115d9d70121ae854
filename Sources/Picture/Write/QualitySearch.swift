import CDarkroomCodecWire
import DarkroomCore

/// How the quality of a result is chosen by trials. `darkroom_quality.h` has the rules of the search, its bounds, and the
/// definition of the similarity.
struct QualitySearch: Sendable, Equatable {
    /// The most bytes of the file.
    var maxBytes: Int?
    /// The similarity to reach, 0 to 1.
    var ssim: Double?

    /// The most encodings, with the last one.
    static let mostEncodings = Int(DARKROOM_QUALITY_TRIALS) + 1

    /// The forms for C; 0 is none.
    var mostBytes: UInt64 { UInt64(maxBytes ?? 0) }
    var similarity: Double { ssim ?? 0 }

    /// Even the lowest quality has too many bytes.
    func failure(_ name: String, highest: Int, smallest: Int) -> PictureError {
        let lowest = min(highest, Int(DARKROOM_QUALITY_LEAST))
        let most = Quantity.text(bytes: maxBytes ?? 0)
        return PictureError(
            .tooManyBytes,
            "\(name): choosing the quality: with quality \(lowest), the lowest that is tried, the file has"
                + " more than \(most) (maxBytes); the smallest trial had \(smallest) bytes")
    }
}

/// What a search has chosen.
package struct ChosenQuality: Codable, Sendable, Equatable {
    package var quality: Int
    /// The similarity that is reached, rounded down to five decimals; nil if none was to be reached.
    package var ssim: Double?

    /// - Parameter similarity: 0 to 1.
    init(_ quality: UInt32, similarity: Double, _ search: QualitySearch) {
        self.quality = Int(quality)
        ssim = search.ssim.map { _ in (similarity * 100_000).rounded(.down) / 100_000 }
    }
}
