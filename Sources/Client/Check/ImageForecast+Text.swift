import DarkroomCore
import DarkroomFetch
import DarkroomManifest
import DarkroomPicture

extension ImageForecast {
    /// For people: `beach  6000×4000  8-bit RGB JPEG  → 1600×1067 JPEG  memory 12 MiB`. nil for an image that fails.
    package var line: String? {
        if case .fails = verdict { return nil }
        var parts = [image.name.string.visible]
        if let header { parts += ["\(header.layout.width)×\(header.layout.height)", header.words] }
        if case .unknown(let reason) = verdict {
            parts.append("not known: \(reason.visible)")
            return parts.joined(separator: "  ")
        }
        if let outcome, let layout = outcome.layout {
            let bound = outcome.isExact ? "" : "at most "
            parts.append(
                "→ \(bound)\(layout.width)×\(layout.height) "
                    + (image.isPublished ? image.output.format.title : "(not published)"))
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
        let verdict: String
        var (error, reason): (Failure?, String?) = (nil, nil)
        let source = image.source?.shown
        switch self.verdict {
        case .ready: verdict = "ready"
        case .fails(let failure): (verdict, error) = ("fails", failure)
        case .unknown(let words): (verdict, reason) = ("unknown", words)
        }
        return JSONText.line([
            "type": "image", "file": file, "name": image.name.string, "source": source,
            "from": source == nil ? needs : nil, "verdict": verdict,
            "picture": header.map { $0.json(bytes) },
            "result": outcome.flatMap { result($0) },
            "memory": outcome?.bytes, "error": error, "reason": reason,
        ])
    }

    private func result(_ outcome: PeakMemory.Outcome) -> JSONObject? {
        outcome.layout.map { layout in
            [
                "format": image.encoding.format.rawValue, "width": layout.width,
                "height": layout.height, "exact": outcome.isExact,
            ]
        }
    }
}

extension PictureHeader {
    /// - Parameter bytes: the size of the file; nil if it is not known.
    fileprivate func json(_ bytes: Int64?) -> JSONObject {
        [
            "format": kind.word, "width": layout.width, "height": layout.height,
            "channels": layout.channels, "depth": storedDepth, "interlaced": heldWord != nil,
            "bytes": bytes,
        ]
    }

    /// `8-bit RGB JPEG`, `16-bit gray PNG, interlaced`.
    fileprivate var words: String {
        let channels = ["gray", "gray+alpha", "RGB", "RGBA"][layout.channels - 1]
        let name = "\(storedDepth)-bit \(channels) \(kind.name)"
        return heldWord.map { "\(name), \($0)" } ?? name
    }
}
