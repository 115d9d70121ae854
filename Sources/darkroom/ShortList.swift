import DarkroomCore

/// The first of many things, such as `a.png, b.png and 5 more`: what a run and a merge say must stay readable.
enum ShortList {
    /// The number of names, shards or failed images that are shown.
    static let length = 10

    /// The first names of a list.
    ///
    /// - Parameter count: how many there are, if the list has not all of them.
    static func text(_ names: [String], of count: Int? = nil) -> String {
        let rest = (count ?? names.count) - length
        return names.prefix(length).map { FileName($0).text }.joined(separator: ", ")
            + (rest > 0 ? " and \(rest) more" : "")
    }

    /// Tells of the files of earlier runs that have no place in this one.
    ///
    /// - Parameters:
    ///   - stale: those whose images fail now.
    ///   - away: those whose sources cannot be looked for.
    ///   - gone: those that no image has any more.
    static func tellOfFormer(stale: [String], away: [String], gone: [String]) {
        tell(stale, "stays, although its image fails now", "stay, although their images fail now")
        let cause = "cannot be looked for: is a file system not mounted?"
        tell(
            away, "stays, because its source \(cause)", "stay, because their sources \(cause)",
            end: "")
        tell(gone, "has no image any more", "have no image any more")
    }

    private static func tell(
        _ names: [String], _ one: String, _ several: String, end: String = ":"
    ) {
        guard !names.isEmpty else { return }
        Console.complain(
            "\(Words.count(names.count, "file")) of an earlier run \(names.count == 1 ? one : several)\(end) \(text(names))"
        )
    }
}
