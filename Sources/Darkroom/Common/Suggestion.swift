/// Finds the known word nearest to a misspelt one.
package enum Suggestion {
    /// The candidate with the smallest edit distance to `word`, ignoring case, if it is near enough
    /// to be a slip of the finger: at most a third of the word's length, at least one.
    package static func nearest(
        to word: String, among candidates: some Sequence<String>
    ) -> String? {
        // A long word is no slip of the finger, and the distance costs the product of the lengths.
        guard word.utf8.count <= 64 else { return nil }
        let lowered = Array(word.lowercased())
        let allowed = max(1, lowered.count / 3)
        var best: (word: String, distance: Int)?
        for candidate in candidates {
            let distance = editDistance(lowered, Array(candidate.lowercased()))
            if distance <= allowed, distance < best?.distance ?? .max {
                best = (candidate, distance)
            }
        }
        return best?.word
    }

    /// Damerau's restricted edit distance: insertions, deletions, substitutions and swaps of
    /// neighbours count one each.
    private static func editDistance(_ a: [Character], _ b: [Character]) -> Int {
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
