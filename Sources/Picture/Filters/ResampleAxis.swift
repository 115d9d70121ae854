import Glibc

extension Filter.Kernel {
    /// The reach of the kernel on each side, in input pixels if the picture is not reduced.
    var support: Double {
        switch self {
        case .nearest: 0.5
        case .linear: 1
        case .cubic, .mitchell, .lanczos2: 2
        case .lanczos3: 3
        }
    }

    /// The kernel's weight at distance `x` from its centre.
    func weight(_ x: Double) -> Double {
        let x = abs(x)
        guard x < support else { return 0 }
        return switch self {
        case .nearest: 1
        case .linear: 1 - x
        // Keys' family with a = -1/2 (Catmull-Rom), which is Pillow's bicubic.
        case .cubic: Self.cubic(x, b: 0, c: 0.5)
        // The values that Mitchell and Netravali chose.
        case .mitchell: Self.cubic(x, b: 1 / 3, c: 1 / 3)
        case .lanczos2: Self.sinc(x) * Self.sinc(x / 2)
        case .lanczos3: Self.lanczos3(x)
        }
    }

    /// Mitchell and Netravali's two-parameter family of cubics (1988), for 0 ≤ x < 2.
    private static func cubic(_ x: Double, b: Double, c: Double) -> Double {
        if x < 1 {
            return ((12 - 9 * b - 6 * c) * x * x * x + (-18 + 12 * b + 6 * c) * x * x + (6 - 2 * b))
                / 6
        }
        return
            ((-b - 6 * c) * x * x * x + (6 * b + 30 * c) * x * x + (-12 * b - 48 * c) * x
            + (8 * b + 24 * c)) / 6
    }

    /// sinc(x) sinc(x / 3) with one sine: sin(3a) is 3 sin(a) - 4 sin(a)^3.
    private static func lanczos3(_ x: Double) -> Double {
        guard x > 0 else { return 1 }
        let third = .pi * x / 3
        let sine = sin(third)
        return sine * sine * (3 - 4 * sine * sine) / (3 * third * third)
    }

    private static func sinc(_ x: Double) -> Double { x == 0 ? 1 : sin(.pi * x) / (.pi * x) }
}

/// The input pixels, with their weights, from which each output pixel along one axis is made.
///
/// As in Pillow: the centre of output pixel i is at (i + ½)·scale in the input, with scale = input size / scaled size.
/// If the picture is reduced, the kernel is stretched by the scale, so that every input pixel counts. There are no
/// pixels outside the picture: the weights of those inside are scaled to a sum of 1. If the size does not change, the
/// axis is copied, even by a kernel that would blur it.
///
/// The pixels of a picture that was reduced when it was decoded are samples, each of as many stored pixels as the divisor
/// says. The scale is that of the stored pixels: it need not be a whole number of samples. The outermost sample may stand
/// for fewer of them, and its weights are reduced in the same proportion.
struct ResampleAxis {
    /// What the weights depend on.
    struct Key: Equatable {
        let input: PictureSide
        let scaled: Int
        let window: Range<Int>
        let kernel: Filter.Kernel
    }

    private static let recent = RecentValues<Key, ResampleAxis>(most: 4)
    private static let recentIntegers = RecentValues<IntegersKey, IntegerWeights>(most: 4)

    private struct IntegersKey: Equatable {
        let axis: Key
        let largestShift: Int
    }

    /// With so many weights, an axis is not kept: 128 KiB of them.
    private static let mostKept = 32 << 10

    /// The axis of `key`, which may have been made for another picture.
    static func of(_ key: Key) -> ResampleAxis {
        recent.value(for: key, isKept: { $0.weights.count < mostKept }) { ResampleAxis(key) }
    }

    private let key: Key
    /// The first input pixel of each output pixel.
    private(set) var first: [UInt32] = []
    /// The position in `weights` at which each output pixel's weights begin, and the end.
    private(set) var offsets: [Int] = [0]
    private(set) var weights: [Float] = []

    /// - Parameters:
    ///   - window: the output pixels to make, as a part of all `scaled` ones.
    init(input: Int, scaled: Int, window: Range<Int>, kernel: Filter.Kernel) {
        self.init(Key(input: PictureSide(input), scaled: scaled, window: window, kernel: kernel))
    }

    private init(_ key: Key) {
        self.key = key
        let (scaled, window, kernel) = (key.scaled, key.window, key.kernel)
        let (input, unit, rest) = (key.input.samples, key.input.divisor, key.input.rest)
        first.reserveCapacity(window.count)
        offsets.reserveCapacity(window.count + 1)
        if unit == 1, input == scaled {
            for pixel in window { append([1], from: pixel) }
            return
        }
        let scale = Double(key.input.length) / Double(unit * scaled)
        let stretch = max(1, scale)
        let support = kernel.support * stretch
        // After so many pixels the centres are at the same places within input pixels again.
        let divisor = Self.greatestCommonDivisor(key.input.length, unit * scaled)
        let (period, inputPeriod) = (unit * scaled / divisor, key.input.length / divisor)
        // What the first sample lacks at its beginning.
        let lack = rest.sample == 0 ? 1 - rest.share : 0
        for pixel in window {
            let centre = (Double(pixel) + 0.5) * scale + lack
            if repeatTaps(from: count - period, by: inputPeriod, centre, support, of: input) {
                continue
            }
            let start = max(0, Int(centre - support + 0.5))
            let end = min(input, Int(centre + support + 0.5))
            let raw = (start..<end).map { sample in
                let weight = kernel.weight((Double(sample) + 0.5 - centre) / stretch)
                return sample == rest.sample ? weight * rest.share : weight
            }
            let sum = raw.reduce(0, +)
            append(raw.map { Float($0 / sum) }, from: start)
        }
    }

    /// Gives the next output pixel the weights of a former one, if neither is near an edge.
    ///
    /// - Parameter distance: of the two, in input pixels.
    private mutating func repeatTaps(
        from former: Int, by distance: Int, _ centre: Double, _ support: Double, of input: Int
    ) -> Bool {
        guard former >= 0, centre - Double(distance) - support > 1,
            centre + support < Double(input - 1)
        else { return false }
        first.append(first[former] + UInt32(distance))
        // A slice would share the array, and so have each addition copy all of it.
        for place in offsets[former]..<offsets[former + 1] { weights.append(weights[place]) }
        offsets.append(weights.count)
        return true
    }

    private static func greatestCommonDivisor(_ one: Int, _ other: Int) -> Int {
        var (one, other) = (one, other)
        while other != 0 { (one, other) = (other, one % other) }
        return one
    }

    private mutating func append(_ taps: [Float], from start: Int) {
        first.append(UInt32(start))
        weights.append(contentsOf: taps)
        offsets.append(weights.count)
    }

    /// The weights as integers.
    func integers(largestShift: Int) -> IntegerWeights {
        Self.recentIntegers.value(
            for: IntegersKey(axis: key, largestShift: largestShift),
            isKept: { $0.values.count < Self.mostKept },
            make: { IntegerWeights(weights, groups: offsets, largestShift: largestShift) })
    }

    /// The number of output pixels.
    var count: Int { first.count }

    /// The input pixels from which output pixel `index` is made.
    func taps(_ index: Int) -> Range<Int> {
        let start = Int(first[index])
        return start..<start + offsets[index + 1] - offsets[index]
    }

    /// The maximum number of input pixels for one output pixel.
    var longest: Int { (0..<count).reduce(1) { max($0, taps($1).count) } }

    /// For each output pixel of the window, the input pixel that contains its centre.
    static func nearest(input: Int, scaled: Int, window: Range<Int>) -> [UInt32] {
        // floor((i + ½)·input / scaled), with integers
        window.map { UInt32((2 * $0 + 1) * input / (2 * scaled)) }
    }
}
