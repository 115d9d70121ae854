import DarkroomCore

/// Finds a number that is not taken where the numbers from some point on are, up to a point that nobody knows.
enum FreeNumber {
    /// A free number from `first` on: `first` itself, or one whose predecessor is taken.
    ///
    /// Looks in ever wider steps, and then halves the last one: of n numbers that are taken, some 2·log n are looked
    /// at. So it costs little also where what was known of them has been forgotten, and a folder that has 40,000 of
    /// one name is not looked through again for the next one.
    static func search<Failure: Error>(
        from first: Int, isTaken: (Int) throws(Failure) -> Bool
    ) throws(Failure) -> Int {
        guard try isTaken(first) else { return first }
        var taken = first
        var step = 1
        // Longer numbers than these would not fit behind a name.
        while step < 1 << 40, try isTaken(taken + step) {
            taken += step
            step *= 2
        }
        var free = taken + step
        while free - taken > 1 {
            let middle = taken + (free - taken) / 2
            if try isTaken(middle) { taken = middle } else { free = middle }
        }
        return free
    }
}
