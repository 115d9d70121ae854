/// The values of light: a rising curve, the other way round.
struct InverseCurve {
    private let curve: [Double]

    init(_ curve: [Double]) { self.curve = curve }

    func value(of light: Double) -> Double {
        var (low, high) = (0, curve.count - 1)
        while high - low > 1 {
            let middle = (low + high) / 2
            if curve[middle] <= light { low = middle } else { high = middle }
        }
        let rise = curve[high] - curve[low]
        let part = rise > 0 ? min(1, max(0, (light - curve[low]) / rise)) : 0
        return (Double(low) + part) / Double(curve.count - 1)
    }
}
