import CDarkroomPixels
import DarkroomCore
import Foundation

/// How the values of a picture become those of another colour space. Prepared once; many threads may use it at once.
///
/// Rows are of gray or RGB, with or without alpha, which stays; 8 or 16 bits.
final class ColourConversion: Sendable {
    private enum Method: Sendable {
        case space(Prepared)
        /// Of gray values, for 8 and for 16 bits.
        case gray(narrow: [UInt8], wide: [UInt16])
        /// What colours at equal distances become, see `darkroom_convert_table`.
        case table([UInt16], steps: Int)
    }

    private let method: Method

    /// The rule that makes sharing safe: the memory is filled when it is made, and not changed afterwards.
    private final class Prepared: @unchecked Sendable {
        let space: OpaquePointer
        init(_ space: OpaquePointer) { self.space = space }
        deinit { free(UnsafeMutableRawPointer(space)) }
    }

    /// From a space with curves and a matrix to another one with sRGB's curves; nil if the matrix has numbers that no
    /// pair of usable spaces has.
    init?(from source: RGBSpace, to target: RGBSpace) {
        guard let back = target.matrix.inverse else { return nil }
        let matrix = (back * source.matrix).rows.flatMap { $0 }
        let space = source.curves[0].withUnsafeBufferPointer { red in
            source.curves[1].withUnsafeBufferPointer { green in
                source.curves[2].withUnsafeBufferPointer { blue in
                    [red.baseAddress, green.baseAddress, blue.baseAddress].withUnsafeBufferPointer {
                        darkroom_space_new($0.baseAddress, red.count, matrix)
                    }
                }
            }
        }
        guard let space else { return nil }
        method = .space(Prepared(space))
    }

    /// From gray of one curve to gray of another one.
    init(fromGray curve: [Double], to target: [Double]) {
        func value(_ share: Double, _ most: Double) -> Double {
            (target.value(ofLight: curve.interpolated(at: share)) * most).rounded()
        }
        method = .gray(
            narrow: (0...255).map { UInt8(value(Double($0) / 255, 255)) },
            wide: (0...65535).map { UInt16(value(Double($0) / 65535, 65535)) })
    }

    /// By a table of RGB.
    init(table: [UInt16], steps: Int) {
        precondition(table.count == steps * steps * steps * 3)
        method = .table(table, steps: steps)
    }

    /// Converts pixels in place.
    ///
    /// - Parameter layout: of the rows.
    func apply(_ start: UnsafeMutableRawPointer, pixels: Int, _ layout: PixelLayout) {
        let (channels, depth) = (Int32(layout.channels), Int32(layout.depth))
        switch method {
        case .space(let prepared):
            darkroom_convert_space(start, pixels, channels, depth, prepared.space)
        case .gray(let narrow, let wide):
            narrow.withUnsafeBytes { narrow in
                wide.withUnsafeBytes { wide in
                    darkroom_map(
                        start, pixels, channels, depth, 0, 1,
                        depth == 8 ? narrow.baseAddress : wide.baseAddress)
                }
            }
        case .table(let table, let steps):
            let step = layout.channels
            table.withUnsafeBufferPointer {
                darkroom_convert_table(
                    start, step, start, step, pixels, 3, depth, $0.baseAddress, UInt32(steps))
            }
        }
    }
}

extension RGBSpace {
    /// The value of light, from 0 to 1, by sRGB's curve. (IEC 61966-2-1)
    static func encoded(_ light: Double) -> Double {
        light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055
    }

    /// The inverse.
    static func light(of value: Double) -> Double {
        value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4)
    }

    /// Whether no value of 8 bits differs by half a step, and no colour by a thousandth. The profiles for sRGB of many
    /// programs differ by that.
    func isNearly(_ other: RGBSpace) -> Bool {
        let points = zip(matrix.rows.joined(), other.matrix.rows.joined())
        guard points.allSatisfy({ abs($0 - $1) < 0.001 }) else { return false }
        return zip(curves, other.curves).allSatisfy(Self.isNearly)
    }

    /// The same for curves.
    static func isNearly(_ curve: [Double], _ other: [Double]) -> Bool {
        zip(curve, other).allSatisfy { abs(encoded($0) - encoded($1)) < 0.5 / 255 }
    }
}
