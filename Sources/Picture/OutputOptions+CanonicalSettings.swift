package import DarkroomCore

// The form is explained in Filter+CanonicalSettings.swift.

extension OutputOptions {
    /// Writes the format and its options. An option that has no effect on the format is left out.
    package func writeCanonically(_ writer: inout JSONWriter) {
        writer.add("format", format.rawValue)
        if case .unwritten(let kind) = origin { writer.add("unwritten", kind?.word ?? "") }
        for option in OutputOption.allCases where option.formats.contains(format) {
            switch option {
            case .quality: writer.add("quality", losesNothing ? nil : quality)
            case .maxBytes: writer.add("maxBytes", search?.maxBytes)
            case .target: writer.add("ssim", search?.ssim)
            case .progressive: writer.add("progressive", progressive)
            case .lossless: writer.add("lossless", lossless)
            case .effort: writer.add("effort", effort)
            case .depth: writer.add("depth", depth)
            case .chroma: writer.add("chroma", losesNothing ? nil : chroma.rawValue)
            case .compression:
                writer.add(
                    "compression",
                    format == .tiff ? tiffCompression.rawValue : compression.rawValue)
            }
        }
        writer.add("profile", profile.rawValue)
        writer.add("metadata", metadata.items.map(\.rawValue).sorted())
        writer.add("places", metadata.keepsPlaces)
        writer.add("exifCopy", metadata.copiesExif)
    }
}
