/// Weights as integers of 16 bits, for kernels that sum bytes exactly.
///
/// Their unit is 2^-shift, with as large a shift as 16 bits and the caller allow. Rounding changes a sum of 1 by a few
/// units. The largest weight is corrected by these, so that an even colour stays unchanged.
struct IntegerWeights {
    private(set) var values: [Int16]
    let shift: Int

    /// This leaves room below 2^15 for the units by which the largest weight is corrected: at most half the number of
    /// weights.
    private static let largest: Float = 31_000

    /// - Parameters:
    ///   - weights: groups of weights, one after the other, each with a sum of 1.
    ///   - offsets: the beginning of each group, and the end of the last one.
    ///   - largestShift: with a larger shift, sums would not fit into 32 bits.
    init(_ weights: [Float], groups offsets: [Int], largestShift: Int) {
        self.init(rounding: weights, largestShift: largestShift)
        for (start, end) in zip(offsets, offsets.dropFirst()) {
            let group = start..<end
            let sum = group.reduce(0) { $0 + Int(values[$1]) }
            guard let heaviest = group.max(by: { values[$0] < values[$1] }) else { continue }
            values[heaviest] += Int16(1 << shift - sum)
        }
    }

    /// For a symmetric kernel, given by its centre and one side.
    init(symmetric weights: [Float], largestShift: Int) {
        self.init(rounding: weights, largestShift: largestShift)
        let sides = values.dropFirst().reduce(0) { $0 + 2 * Int($1) }
        values[0] = Int16(1 << shift - sides)
    }

    private init(rounding weights: [Float], largestShift: Int) {
        let heaviest = weights.reduce(0) { max($0, abs($1)) }
        var shift = largestShift
        while heaviest * Float(1 << shift) > Self.largest { shift -= 1 }
        let unit = Float(1 << shift)
        values = weights.map { Int16(($0 * unit).rounded()) }
        self.shift = shift
    }
}
