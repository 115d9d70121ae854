import Foundation

/// What a colour profile (ICC.1:2022) says of a space whose channels have a curve each, and RGB a matrix: nearly all
/// profiles of cameras, telephones and monitors. Others, which have tables, are left to lcms2 in a confined process.
///
/// Every offset and count is checked against the bytes. It holds no more than the sampled curves.
struct ICCProfile {
    /// The light of the values at equal distances, from 0 to 1, for each channel.
    let curves: [[Double]]
    /// From light to XYZ of the connection space (D50), by rows; nil for gray.
    let matrix: Matrix3?

    /// XYZ of the connection space's white, D50 (7.2.16).
    static let white = [0.9642, 1, 0.8249]

    /// How many values are sampled of a curve.
    static let samples = 4096

    /// nil if it is a profile with tables, or broken.
    init?(_ bytes: [UInt8]) {
        let reader = Reader(bytes: bytes)
        // ICC.1:2022, 7.2: the header has 128 bytes; the space is at 16, the connection space at 20.
        guard bytes.count >= 132, let space = reader.name(16), reader.name(20) == "XYZ ",
            let tags = reader.tags
        else { return nil }
        // A table comes before curves and a matrix, if a profile has both (8.10.2).
        guard tags["A2B0"] == nil, tags["A2B1"] == nil, tags["D2B1"] == nil, tags["D2B0"] == nil
        else { return nil }
        func curve(_ name: String) -> [Double]? { tags[name].flatMap(reader.curve) }
        switch space {
        case "GRAY":
            guard let gray = curve("kTRC") else { return nil }
            curves = [gray]
            matrix = nil
        case "RGB ":
            guard let red = curve("rTRC"), let green = curve("gTRC"), let blue = curve("bTRC"),
                let columns = Self.columns(reader, tags)
            else { return nil }
            curves = [red, green, blue]
            matrix = columns
        default: return nil
        }
    }

    private static func columns(_ reader: Reader, _ tags: [String: Range<Int>]) -> Matrix3? {
        let columns = ["rXYZ", "gXYZ", "bXYZ"].compactMap { tags[$0].flatMap(reader.xyz) }
        guard columns.count == 3 else { return nil }
        return Matrix3(rows: (0..<3).map { row in columns.map { $0[row] } })
    }
}

/// Reads the parts of a profile, all numbers with the most significant byte first.
private struct Reader {
    let bytes: [UInt8]

    func number(_ place: Int, _ count: Int = 4) -> Int? {
        guard place >= 0, place <= bytes.count - count else { return nil }
        return bytes[place..<place + count].reduce(0) { $0 << 8 | Int($1) }
    }

    func name(_ place: Int) -> String? {
        guard place >= 0, place <= bytes.count - 4 else { return nil }
        return String(decoding: bytes[place..<place + 4], as: UTF8.self)
    }

    /// s15Fixed16Number.
    func fixed(_ place: Int) -> Double? {
        number(place).map { Double(Int32(truncatingIfNeeded: $0)) / 65536 }
    }

    /// The ranges of the tags that lie in the profile, by their names; the first of several. nil if there are more than
    /// any profile has.
    var tags: [String: Range<Int>]? {
        guard let count = number(128), count <= 200 else { return nil }
        var tags: [String: Range<Int>] = [:]
        for index in 0..<count {
            let place = 132 + 12 * index
            guard let name = name(place), let offset = number(place + 4),
                let size = number(place + 8), size >= 8, offset <= bytes.count - size
            else { return nil }
            if tags[name] == nil { tags[name] = offset..<offset + size }
        }
        return tags
    }

    /// XYZType.
    func xyz(_ tag: Range<Int>) -> [Double]? {
        guard name(tag.lowerBound) == "XYZ ", tag.count >= 20 else { return nil }
        return (0..<3).compactMap { fixed(tag.lowerBound + 8 + 4 * $0) }
    }

    /// curveType or parametricCurveType, sampled. nil if it goes down, or is no curve of light.
    func curve(_ tag: Range<Int>) -> [Double]? {
        let start = tag.lowerBound
        let function: (Double) -> Double
        switch name(start) {
        case "curv":
            guard let count = number(start + 8), count >= 0, tag.count >= 12 + 2 * count else {
                return nil
            }
            switch count {
            case 0: function = { $0 }
            case 1:
                guard let raw = number(start + 12, 2), raw > 0 else { return nil }
                let gamma = Double(raw) / 256
                function = { pow($0, gamma) }
            default:
                func value(_ index: Int) -> Double {
                    Double(number(start + 12 + 2 * index, 2) ?? 0) / 65535
                }
                // Sorted as it is stored: more points than samples must not hide that it goes down.
                for index in 1..<count where value(index) < value(index - 1) { return nil }
                function = { at in
                    let place = at * Double(count - 1)
                    let index = min(count - 2, Int(place))
                    let (low, high) = (value(index), value(index + 1))
                    return low + (high - low) * (place - Double(index))
                }
            }
        case "para":
            guard let made = parametric(tag) else { return nil }
            function = made
        default: return nil
        }
        let last = Double(ICCProfile.samples - 1)
        let samples = (0..<ICCProfile.samples).map { min(1, max(0, function(Double($0) / last))) }
        let isSound =
            samples.allSatisfy(\.isFinite) && zip(samples, samples.dropFirst()).allSatisfy(<=)
        return isSound && samples[ICCProfile.samples - 1] > samples[0] ? samples : nil
    }

    /// The functions of 10.18.
    private func parametric(_ tag: Range<Int>) -> ((Double) -> Double)? {
        let start = tag.lowerBound
        guard let kind = number(start + 8, 2), (0...4).contains(kind) else { return nil }
        let count = [1, 3, 4, 5, 7][kind]
        guard tag.count >= 12 + 4 * count else { return nil }
        let p = (0..<count).compactMap { fixed(start + 12 + 4 * $0) }
        guard p.count == count else { return nil }
        let g = p[0]
        switch kind {
        case 0: return { pow($0, g) }
        case 1: return { $0 >= -p[2] / p[1] ? pow(p[1] * $0 + p[2], g) : 0 }
        case 2: return { $0 >= -p[2] / p[1] ? pow(p[1] * $0 + p[2], g) + p[3] : p[3] }
        case 3: return { $0 >= p[4] ? pow(p[1] * $0 + p[2], g) : p[3] * $0 }
        default: return { $0 >= p[4] ? pow(p[1] * $0 + p[2], g) + p[5] : p[3] * $0 + p[6] }
        }
    }
}

extension [Double] {
    /// Between the two elements beside this place, from 0 at the first to 1 at the last.
    func interpolated(at value: Double) -> Double {
        let place = value * Double(count - 1)
        let index = Swift.min(count - 2, Int(place))
        return self[index] + (self[index + 1] - self[index]) * (place - Double(index))
    }

    /// Of a rising curve the other way round: the place of this light, from 0 at the first to 1 at the last.
    func value(ofLight light: Double) -> Double {
        var (low, high) = (0, count - 1)
        while high - low > 1 {
            let middle = (low + high) / 2
            if self[middle] <= light { low = middle } else { high = middle }
        }
        let rise = self[high] - self[low]
        let part = rise > 0 ? Swift.min(1, Swift.max(0, (light - self[low]) / rise)) : 0
        return (Double(low) + part) / Double(count - 1)
    }
}
