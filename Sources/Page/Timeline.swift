import DarkroomAnswer
import DarkroomCore
import DarkroomSpool

/// The downloads and filters of a batch over time.
///
/// It keeps some bytes for each operation of the batch, and is drawn in lanes of single operations, or as the number of
/// operations at once if there are too many for that.
struct Timeline: Sendable {
    enum Kind: Sendable, CaseIterable { case download, filter }

    /// From its beginning to its end, in milliseconds since 1970.
    struct Operation: Sendable, Equatable {
        var begin: Int
        var end: Int
        let image: Int
        /// What images that may share an operation have in common: their source. nil for an image that shares none.
        let group: Int?
        /// What failed here.
        let isFailed: Bool
        let isRepeated: Bool
    }

    struct Pause: Sendable, Equatable {
        enum Reason: Sendable { case held, idle }

        let begin: Int
        let end: Int
        let reason: Reason
    }

    /// The numbers of a file may have any values; 10,000 years are enough.
    private static let longest = 315_576_000_000_000

    /// In the order of their beginnings.
    private(set) var downloads: [Operation] = []
    private(set) var filters: [Operation] = []
    /// The images that have begun to be filtered.
    private(set) var filteredCount = 0
    private(set) var pauses: [Pause] = []
    /// The times in which no operation ran, whatever the reason was.
    private(set) var gaps: [Pause] = []
    private(set) var begin = 0
    private(set) var end = 0

    var isEmpty: Bool { downloads.isEmpty && filters.isEmpty }

    func operations(_ kind: Kind) -> [Operation] { kind == .download ? downloads : filters }

    mutating func add(_ image: ImageStatus, number: Int) {
        guard let times = image.times else { return }
        let hasFailed = image.state == .failed
        if let begin = times.downloading {
            let end = times.downloaded ?? begin
            downloads.append(
                Operation(
                    begin: begin.milliseconds, end: max(begin, end).milliseconds, image: number,
                    group: image.source?.hashValue, isFailed: hasFailed && times.filtering == nil,
                    isRepeated: (image.download?.attempts ?? 1) > 1))
        }
        if let begin = times.filtering {
            filteredCount += 1
            let length = min(max(0, image.milliseconds.filtering), Self.longest)
            filters.append(
                Operation(
                    begin: begin.milliseconds,
                    end: begin.milliseconds + length,
                    image: number, group: image.source?.hashValue, isFailed: hasFailed,
                    isRepeated: image.attempts > 1))
        }
    }

    /// Sorts the operations, and finds the pauses.
    ///
    /// - Parameter commands: of the batch, for its holds.
    mutating func close(commands: [ControlRecord]) {
        downloads = Self.joined(downloads)
        filters = Self.joined(filters)
        guard let begin = (downloads.prefix(1) + filters.prefix(1)).map(\.begin).min(),
            let end = (downloads + filters).lazy.map(\.end).max()
        else { return }
        self.begin = begin
        self.end = max(end, begin + 1)
        let holds = holds(commands)
        gaps = idleTimes()
        pauses =
            holds
            + gaps.flatMap { idle in
                // What is left of it between the holds.
                holds.reduce([idle]) { rest, hold in
                    rest.flatMap { part in
                        [
                            Pause(
                                begin: part.begin, end: min(part.end, hold.begin), reason: .idle),
                            Pause(
                                begin: max(part.begin, hold.end), end: part.end, reason: .idle),
                        ].filter { $0.end > $0.begin }
                    }
                }
            }
        pauses = pauses.filter { $0.end - $0.begin >= shortestPause }.sorted { $0.begin < $1.begin }
    }

    /// Images that wait for one download, and the variants of a picture, have one operation together. It is counted once.
    private static func joined(_ operations: [Operation]) -> [Operation] {
        var result: [Operation] = []
        result.reserveCapacity(operations.count)
        for operation in operations.sorted(by: {
            ($0.group ?? 0, $0.begin, $0.image) < ($1.group ?? 0, $1.begin, $1.image)
        }) {
            // Their times are noted one after the other.
            if let last = result.last, operation.group != nil, last.group == operation.group,
                operation.begin - last.begin <= 1, abs(operation.end - last.end) <= 2
            {
                result[result.count - 1].end = max(last.end, operation.end)
            } else {
                result.append(operation)
            }
        }
        result.sort { ($0.begin, $0.image) < ($1.begin, $1.image) }
        return result
    }

    /// A shorter time without an operation is no pause, and could not be seen.
    private var shortestPause: Int { max(1, (end - begin) / 50) }

    private func holds(_ commands: [ControlRecord]) -> [Pause] {
        var holds: [Pause] = []
        var since: Int?
        for command in commands {
            guard let time = Moment(command.time)?.milliseconds else { continue }
            if command.command == .hold {
                since = since ?? time
            } else if let start = since {
                holds.append(Pause(begin: start, end: time, reason: .held))
                since = nil
            }
        }
        if let since { holds.append(Pause(begin: since, end: end, reason: .held)) }
        return holds.compactMap { hold in
            let (from, to) = (max(hold.begin, begin), min(hold.end, end))
            return to > from ? Pause(begin: from, end: to, reason: .held) : nil
        }
    }

    /// The times in which no operation ran; at most 50, because shorter ones do not count.
    private func idleTimes() -> [Pause] {
        var idle: [Pause] = []
        var busyUntil = begin
        var (a, b) = (0, 0)
        while a < downloads.count || b < filters.count {
            let takesDownload =
                b == filters.count
                || a < downloads.count && downloads[a].begin <= filters[b].begin
            let next = takesDownload ? downloads[a] : filters[b]
            if takesDownload { a += 1 } else { b += 1 }
            if next.begin - busyUntil >= shortestPause {
                idle.append(Pause(begin: busyUntil, end: next.begin, reason: .idle))
            }
            busyUntil = max(busyUntil, next.end)
        }
        return idle
    }

    // MARK: Lanes

    /// The operations of one kind on as few lanes as possible, so that none is over another one; nil if there would be
    /// more lanes than `most`.
    static func lanes(_ operations: [Operation], most: Int) -> [[Operation]]? {
        var lanes: [[Operation]] = []
        for operation in operations {
            // The times are those of two clocks, rounded, so that an end may seem to be after the next beginning.
            let free = lanes.firstIndex { ($0.last?.end ?? 0) <= operation.begin + 2 }
            if let free {
                lanes[free].append(operation)
            } else if lanes.count < most {
                lanes.append([operation])
            } else {
                return nil
            }
        }
        return lanes
    }

    /// How many operations run at once in each of `count` equal parts of a time, on average.
    static func load(_ operations: [Operation], in scale: TimeScale, count: Int) -> [Double] {
        var busy = [Double](repeating: 0, count: count)
        /// The parts that an operation covers as a whole are counted by their ends, so that a long one costs no more.
        var change = [Double](repeating: 0, count: count + 1)
        for operation in operations {
            let (from, to) = (
                scale.place(operation.begin) * Double(count),
                scale.place(operation.end) * Double(count)
            )
            let (first, last) = (min(Int(from), count - 1), min(Int(to), count - 1))
            if first == last {
                busy[first] += to - from
            } else {
                busy[first] += Double(first + 1) - from
                busy[last] += to - Double(last)
                change[first + 1] += 1
                change[last] -= 1
            }
        }
        var whole = 0.0
        for index in busy.indices {
            whole += change[index]
            busy[index] += whole
        }
        return busy
    }

    static func mostAtOnce(_ operations: [Operation]) -> Int {
        let ends = operations.map(\.end).sorted()
        var ended = 0
        var most = 0
        for (index, operation) in operations.enumerated() {
            while ended < ends.count, ends[ended] <= operation.begin + 2 { ended += 1 }
            most = max(most, index + 1 - ended)
        }
        return most
    }
}
