import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture

extension ImageForecast {
    /// For people: `beach  6000×4000  8-bit RGB JPEG  → 1600×1067 JPEG  memory 12 MiB`. nil for an image that fails.
    package var line: String? {
        if case .fails = verdict { return nil }
        var parts = [image.name.string.visible]
        if let header {
            parts += ["\(header.layout.width)×\(header.layout.height)", header.words]
        }
        if case .unknown(let reason) = verdict {
            parts.append("not known: \(reason.visible)")
            return parts.joined(separator: "  ")
        }
        if let outcome, let layout = outcome.layout {
            let bound = outcome.isExact ? "" : "at most "
            parts.append(
                "→ \(bound)\(layout.width)×\(layout.height) "
                    + (image.isPublished ? image.output.format.shortName : "(not published)"))
        }
        if let outcome { parts.append("memory \(HumanText.bytes(Double(outcome.bytes)))") }
        return parts.joined(separator: "  ")
    }

    /// Why it fails, in one line: `holiday.yaml: beach: message [code]`; nil if it does not.
    ///
    /// - Parameter file: the manifest.
    package func complaint(of file: String) -> String? {
        guard case .fails(let failure) = verdict else { return nil }
        let hope = failure.isTransient ? " (this may pass)" : ""
        return "\(file): \(image.name.string.visible): \(failure)\(hope)"
    }

    /// For programs.
    ///
    /// - Parameters:
    ///   - file: the manifest.
    ///   - needs: the name of the image from whose pixels it is made, if it has no source.
    package func json(of file: String, from needs: String?) -> String {
        JSONText.line("image", Report(self, file, needs))
    }

    private struct Report: Encodable {
        let file: String
        let name: String
        /// Without secrets, as in the status.
        var source: String?
        var from: String?
        let verdict: String
        var picture: Picture?
        var result: Result?
        var memory: Int?
        var error: Failure?
        var reason: String?

        init(_ forecast: ImageForecast, _ file: String, _ needs: String?) {
            self.file = file
            name = forecast.image.name.string
            source = forecast.image.source?.shown
            if source == nil { from = needs }
            switch forecast.verdict {
            case .ready: verdict = "ready"
            case .fails(let failure): (verdict, error) = ("fails", failure)
            case .unknown(let reason): (verdict, self.reason) = ("unknown", reason)
            }
            picture = forecast.header.map { Picture($0, forecast.bytes) }
            memory = forecast.outcome?.bytes
            if let outcome = forecast.outcome, let layout = outcome.layout {
                result = Result(
                    format: forecast.image.encoding.format.rawValue, width: layout.width,
                    height: layout.height, isExact: outcome.isExact)
            }
        }
    }

    private struct Picture: Encodable {
        let format: String
        let width: Int
        let height: Int
        let channels: Int
        let depth: Int
        let interlaced: Bool
        let bytes: Int64?

        init(_ header: PictureHeader, _ bytes: Int64?) {
            format = "\(header.kind)"
            width = header.layout.width
            height = header.layout.height
            channels = header.layout.channels
            depth = header.storedDepth
            interlaced = header.heldBytes > 0
            self.bytes = bytes
        }
    }

    private struct Result: Encodable {
        let format: String
        let width: Int
        let height: Int
        let isExact: Bool

        private enum CodingKeys: String, CodingKey {
            case format, width, height
            case isExact = "exact"
        }
    }
}

extension PictureHeader {
    /// `8-bit RGB JPEG`, `16-bit gray PNG, interlaced`.
    fileprivate var words: String {
        let channels = ["gray", "gray+alpha", "RGB", "RGBA"][layout.channels - 1]
        let name = "\(storedDepth)-bit \(channels) \(kind.shortName)"
        return heldWord.map { "\(name), \($0)" } ?? name
    }
}

extension InputFormat {
    fileprivate var shortName: String { "\(self)".uppercased() }
}

extension OutputFormat {
    fileprivate var shortName: String { rawValue.uppercased() }
}
