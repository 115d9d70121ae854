import DarkroomCore

/// How long a finished batch took: the same for every view.
package struct BatchDuration: Sendable, Equatable {
    /// From the moment when its manifest was taken, or when it was reopened the last time, until it had ended.
    package let microseconds: UInt64
    /// The part in which it was in work (`Status.workMilliseconds`); nil if the status does not say it.
    package let work: UInt64?

    /// nil for a batch that has not ended or never began, and if its times are wrong.
    package init?(_ times: Status.Times, _ commands: [ControlRecord]?) {
        guard times.started != nil else { return nil }
        let begin = max(times.received, commands?.reopened ?? "")
        guard let whole = Clock.microseconds(from: begin, to: times.finished) else { return nil }
        microseconds = whole
        work = times.workMilliseconds.map {
            min(UInt64(clamping: $0).saturatingMultiply(1000), whole)
        }
    }

    /// `90 ms`, or `3 h 5 min (2.5 s in work)` if it waited for much of the time.
    package var words: String {
        let all = Words.time(microseconds: microseconds)
        guard let work else { return all }
        let waited = microseconds - work
        guard waited >= 1_000_000, waited >= microseconds / 10 else { return all }
        return "\(all) (\(Words.time(microseconds: work)) in work)"
    }
}

extension [ControlRecord] {
    /// When the batch was reopened the last time; nil if never.
    package var reopened: String? { last { $0.command.form.effect == .reopens }?.time }
}

extension Status {
    /// The milliseconds in which at least one picture was downloaded or filtered, since the manifest was taken or the
    /// batch was reopened the last time. So the time does not count in which the daemon was stopped or paused, or in
    /// which the batch was held or waited for its turn.
    package var workMilliseconds: Int {
        let since = commands?.reopened.flatMap { Moment($0)?.milliseconds } ?? .min
        var operations: [(begin: Int, end: Int)] = []
        for image in images {
            guard let times = image.times else { continue }
            if let begin = times.downloading?.milliseconds, begin >= since {
                operations.append((begin, times.downloaded?.milliseconds ?? begin))
            }
            if let begin = times.filtering?.milliseconds, begin >= since {
                operations.append((begin, begin.saturatingAdd(image.milliseconds.filtering)))
            }
        }
        operations.sort { $0.begin < $1.begin }
        var (sum, counted) = (0, Int.min)
        for operation in operations where operation.end > counted {
            sum = sum.saturatingAdd(operation.end.saturatingSubtract(max(operation.begin, counted)))
            counted = operation.end
        }
        return sum
    }
}
