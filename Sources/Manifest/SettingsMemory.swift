/// The digests of the settings of the last images. The images of most manifests have the same settings, or those of some
/// variants by turns: each digest is computed once, and is in memory once.
package struct SettingsMemory: Sendable {
    /// More variants than a picture mostly has.
    private static let capacity = 16
    private var last: [(index: Int, sha256: String)] = []
    /// Where the last one was found: the next image mostly has the one after it.
    private var place = 0

    package init() {}

    package mutating func sha256(of index: Int, in manifest: Manifest) -> String {
        for step in 1...max(1, last.count) where !last.isEmpty {
            let candidate = (place + step) % last.count
            let known = last[candidate].index
            guard manifest.images.indices.contains(known),
                manifest.images[index].hasSameSettings(as: manifest.images[known])
            else { continue }
            place = candidate
            return last[candidate].sha256
        }
        let sha256 = manifest.settingsSHA256(of: index)
        if last.count < Self.capacity {
            place = last.count
            last.append((index, sha256))
        } else {
            place = (place + 1) % last.count
            last[place] = (index, sha256)
        }
        return sha256
    }
}
