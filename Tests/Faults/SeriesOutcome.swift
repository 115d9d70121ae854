/// What has become of a series: runs in which the first call of a kind fails, then the second, and so on.
protocol SeriesOutcome {
    init()
    /// How many calls have failed.
    var faults: Int { get set }
    var problems: [String] { get set }
}

extension SeriesOutcome {
    /// - Parameter run: one run, with the number of the call and a name; false if the job was done before that call.
    init(ofSeries series: String, run: (Int, String, inout Self) throws -> Bool) {
        self.init()
        for nth in 1...1000 {
            let name = "\(series)-\(nth)"
            do {
                guard try run(nth, name, &self) else { break }
                faults += 1
            } catch {
                problems.append("\(name): \(error)")
                break
            }
        }
        if faults == 0, problems.isEmpty { problems.append("\(series): no call failed") }
    }
}
