/// What a station has planned. Each task has at most one time.
struct Agenda<Task: Hashable> {
    private var times: [Task: UInt64] = [:]

    /// Plans a task for a moment, in nanoseconds.
    ///
    /// - Returns: false if it is planned for then or earlier. Otherwise the caller has to call `take` at the moment.
    mutating func plan(_ task: Task, at moment: UInt64) -> Bool {
        if let planned = times[task], planned <= moment { return false }
        times[task] = moment
        return true
    }

    /// Whether a task was to be done at this moment. It is not planned any more then. It may have been done earlier.
    mutating func take(_ task: Task, at moment: UInt64) -> Bool {
        guard times[task] == moment else { return false }
        times[task] = nil
        return true
    }
}
