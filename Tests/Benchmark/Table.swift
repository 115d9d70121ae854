import Foundation

/// A job's results as a table in Markdown: a picture a line.
struct Table {
    private let job: String
    private let programs: [String]
    private var lines: [String] = []

    init(job: String, programs: [String]) {
        self.job = job
        self.programs = programs
    }

    static func begin(_ heads: String...) { begin(heads) }

    static func begin(_ heads: [String]) {
        Swift.print("| " + heads.joined(separator: " | ") + " |")
        Swift.print(String(repeating: "|---", count: heads.count) + "|")
    }

    /// - Parameter series: those of the programs in their order, Darkroom first.
    mutating func add(_ picture: String, _ series: [Series]) {
        let own = series[0]
        var cells = [
            picture, Self.milliseconds(own.median), Self.kilobytes(own.bytes),
            Self.mebibytes(own.peak),
        ]
        for peer in series.dropFirst() {
            let ratio = String(format: "%.1f×", peer.median / own.median)
            let size = peer.bytes == 0 ? "" : Self.percent(own.bytes, of: peer.bytes)
            cells.append("\(ratio) \(size) \(Self.mebibytes(peer.peak))")
        }
        lines.append("| " + cells.joined(separator: " | ") + " |")
    }

    func print() {
        Self.begin([job, "ms", "kB", "MiB"] + programs.dropFirst())
        for line in lines { Swift.print(line) }
        Swift.print()
        // A run takes minutes: each table is to be seen when it is there.
        fflush(nil)
    }

    static func milliseconds(_ seconds: Double) -> String {
        String(format: seconds < 0.1 ? "%.1f" : "%.0f", seconds * 1000)
    }

    static func kilobytes(_ bytes: Int) -> String {
        bytes == 0 ? "" : String(format: "%.0f", Double(bytes) / 1000)
    }

    static func mebibytes(_ bytes: Int) -> String {
        String(format: "%.0f", Double(bytes) / 1_048_576)
    }

    /// How much more or less than the other's.
    static func percent(_ own: Int, of other: Int) -> String {
        String(format: "%+.1f %%", (Double(own) / Double(other) - 1) * 100)
    }
}
