import DarkroomCore
import DarkroomPicture

extension Manifest {
    /// The digest of all that decides the bytes of an image's result, besides the bytes of its source, the results of the
    /// images that it needs, and the versions of the program: a SHA-256 in hexadecimal.
    ///
    /// Where the source is does not stand in it: a source that was moved is the same.
    package func settingsSHA256(of index: Int) -> String {
        SHA256Digest.hex(of: settings(of: index))
    }

    /// The text of which this is the digest.
    func settings(of index: Int) -> [UInt8] {
        let image = images[index]
        var writer = JSONWriter()
        writer.add("autoOrient", image.autoOrient)
        writer.add("damaged", image.damaged.rawValue)
        writer.add("filters", image.filters) { writer, filter in filter.writeCanonically(&writer) }
        if case .image(let other) = image.origin { writer.add("from", images[other].name.string) }
        writer.add("output") { image.encoding.writeCanonically(&$0) }
        writer.add("page", image.page)
        writer.add("published", image.isPublished)
        writer.add("strict", image.isStrict)
        return writer.text()
    }

    package func allSettingsSHA256() -> [String] {
        var memory = SettingsMemory()
        return images.indices.map { memory.sha256(of: $0, in: self) }
    }
}

extension Manifest.Image {
    /// Whether the settings are equal. It may be false for equal ones.
    func hasSameSettings(as other: Manifest.Image) -> Bool {
        guard case .source = origin, case .source = other.origin else { return false }
        return page == other.page && autoOrient == other.autoOrient && damaged == other.damaged
            && isStrict == other.isStrict && isPublished == other.isPublished
            && output == other.output && filters == other.filters
    }
}
