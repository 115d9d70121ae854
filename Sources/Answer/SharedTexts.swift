/// Texts that recur in a long list, such as the digests of images: each is in memory once. It remembers the last 16
/// different ones.
package struct SharedTexts: Sendable {
    private static let capacity = 16
    private var last: [String] = []
    /// Where the last one was found: the next one is mostly the one after it.
    private var place = 0

    package init() {}

    /// The text that is in memory already, or this one.
    package mutating func shared(_ text: String?) -> String? {
        guard let text else { return nil }
        for step in 0..<last.count {
            let candidate = (place + step) % last.count
            guard last[candidate] == text else { continue }
            place = (candidate + 1) % last.count
            return last[candidate]
        }
        if last.count < Self.capacity {
            last.append(text)
            place = 0
        } else {
            last[place] = text
            place = (place + 1) % last.count
        }
        return text
    }
}
