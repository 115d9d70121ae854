import DarkroomCore

/// Finds a free number if all numbers from a start to an unknown end are taken.
enum FreeNumber {
    /// A free number from `first` on: `first` itself, or a number whose predecessor is taken.
    ///
    /// It searches with increasing steps and then bisects the last step. With n taken numbers, it checks about 2·log n
    /// of them. So it is fast even if nothing is remembered, and a folder with 40,000 files of one name is not scanned
    /// for the next one.
    static func search<Failure: Error>(
        from first: Int, isTaken: (Int) throws(Failure) -> Bool
    ) throws(Failure) -> Int {
        guard try isTaken(first) else { return first }
        var taken = first
        var step = 1
        // Longer numbers would not fit after a name.
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
