/// Finds the known word that is most similar to a misspelt one.
package enum Suggestion {
    /// The maximum length of a word, in bytes of UTF-8. A longer word is not a typing error, and the cost of the
    /// distance is the product of the lengths.
    private static let longest = 64

    /// The candidate with the smallest edit distance to `word`, ignoring case, if the distance can be a typing error:
    /// at most a third of the word's length, and at least one.
    package static func nearest(
        to word: ByteString, among candidates: some Sequence<ByteString>
    ) -> String? {
        guard word.utf8.count <= longest else { return nil }
        let lowered = Array(word.string.lowercased().unicodeScalars)
        let allowed = max(1, lowered.count / 3)
        var best: (word: ByteString, distance: Int)?
        for candidate in candidates {
            // A much longer candidate is not similar. Its bytes are counted first, because it may have any length.
            guard candidate.utf8.count <= longest + 4 * allowed else { continue }
            let other = Array(candidate.string.lowercased().unicodeScalars)
            guard abs(other.count - lowered.count) <= allowed else { continue }
            let distance = editDistance(lowered, other)
            if distance <= allowed, distance < best?.distance ?? .max {
                best = (candidate, distance)
            }
        }
        return best?.word.string
    }

    /// The same for words of Darkroom.
    package static func nearest(
        to word: String, among candidates: some Sequence<String>
    ) -> String? {
        nearest(to: ByteString(word), among: candidates.lazy.map { ByteString($0) })
    }

    /// Damerau's restricted edit distance: each insertion, deletion, substitution and swap of neighbours counts one.
    ///
    /// It compares scalars, which takes the same time for any two; a character may consist of any number of scalars.
    private static func editDistance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar]) -> Int {
        if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
        var beforeLast = [Int](repeating: 0, count: b.count + 1)
        var last = Array(0...b.count)
        for i in 1...a.count {
            var current = [i] + [Int](repeating: 0, count: b.count)
            for j in 1...b.count {
                let substitution = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)
                current[j] = min(last[j] + 1, current[j - 1] + 1, substitution)
                if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] {
                    current[j] = min(current[j], beforeLast[j - 2] + 1)
                }
            }
            beforeLast = last
            last = current
        }
        return last[b.count]
    }
}
