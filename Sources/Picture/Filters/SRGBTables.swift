/// The transfer function of sRGB (IEC 61966-2-1) for all samples of a depth, in both directions.
final class SRGBTables: Sendable {
    /// The linear light, from 0 to 1, of each sample.
    let light: [Float]
    /// thresholds[k] is the least light that becomes sample k, which is the light of k − ½.
    let thresholds: [Float]
    /// starts[i] is the sample for the light i / (count − 1).
    let starts: [UInt16]

    static func sRGB(depth: Int) -> SRGBTables { depth == 8 ? eight : sixteen }

    // The number of cells decides only how many thresholds are compared for a sample.
    private static let eight = SRGBTables(depth: 8, cells: 4096)
    private static let sixteen = SRGBTables(depth: 16, cells: 65536)

    private init(depth: Int, cells: Int) {
        let count = 1 << depth
        let scale = Double(count - 1)
        light = (0..<count).map { Float(RGBSpace.light(of: Double($0) / scale)) }
        let thresholds = (0..<count).map {
            $0 == 0 ? 0 : Float(RGBSpace.light(of: (Double($0) - 0.5) / scale))
        }
        self.thresholds = thresholds
        var sample = 0
        starts = (0...cells).map { cell in
            let light = Float(cell) / Float(cells)
            while sample < count - 1, light >= thresholds[sample + 1] { sample += 1 }
            return UInt16(sample)
        }
    }
}
