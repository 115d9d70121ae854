/// Finds the known word nearest to a misspelt one.
package enum Suggestion {
    /// A longer word is no slip of the finger, and the distance costs the product of the lengths. Bytes of UTF-8.
    private static let longest = 64

    /// The candidate with the smallest edit distance to `word`, ignoring case, if it is near enough
    /// to be a slip of the finger: at most a third of the word's length, at least one.
    package static func nearest(
        to word: ByteString, among candidates: some Sequence<ByteString>
    ) -> String? {
        guard word.utf8.count <= longest else { return nil }
        let lowered = Array(word.string.lowercased().unicodeScalars)
        let allowed = max(1, lowered.count / 3)
        var best: (word: ByteString, distance: Int)?
        for candidate in candidates {
            // One that is much longer is not near. By its bytes first, for it may be of any length.
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

    /// The same for words of our own.
    package static func nearest(
        to word: String, among candidates: some Sequence<String>
    ) -> String? {
        nearest(to: ByteString(word), among: candidates.lazy.map { ByteString($0) })
    }

    /// Damerau's restricted edit distance: insertions, deletions, substitutions and swaps of
    /// neighbours count one each.
    ///
    /// Of scalars, whose comparison takes the same time for any two; a character may be made of any number of them.
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
