extension String {
    /// The longest prefix of whole scalars that has at most this number of bytes. Not of characters, because a single
    /// character may be longer than any limit.
    package func prefix(utf8 limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var end = utf8.index(startIndex, offsetBy: limit)
        while end > startIndex, end.samePosition(in: unicodeScalars) == nil {
            end = utf8.index(before: end)
        }
        return String(self[..<end])
    }
}
