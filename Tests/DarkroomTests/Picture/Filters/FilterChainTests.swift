import TestSupport
import Testing

@testable import DarkroomBatch
@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomManifest
@testable import DarkroomPicture

/// Any filters on any picture end with the rows that they promise, or with an error; also those that no
/// one would ask for.
@Suite struct FilterChainTests {
    private struct Chooser {
        var random: SplitMix64

        mutating func whole(_ range: ClosedRange<Int>) -> Int {
            range.lowerBound + Int(random.next() % UInt64(range.count))
        }

        mutating func number(_ range: ClosedRange<Double>) -> Double {
            let share = Double(random.next() >> 11) * 0x1p-53
            // The ends more often than they would be met.
            switch whole(0...9) {
            case 0: return range.lowerBound
            case 1: return range.upperBound
            default: return range.lowerBound + share * (range.upperBound - range.lowerBound)
            }
        }

        mutating func one<Choices: Collection>(of choices: Choices) -> Choices.Element {
            choices[choices.index(choices.startIndex, offsetBy: whole(0...choices.count - 1))]
        }

        /// A side of a result, mostly small.
        mutating func side() -> Int { one(of: [1, 2, whole(1...40), whole(1...400)]) }

        mutating func colour() -> Colour {
            Colour(red: 9, green: one(of: [9, 200]), blue: 9, alpha: one(of: [0, 7, 255]))
        }

        mutating func filter() -> Filter {
            switch whole(0...22) {
            case 0: .sepia(intensity: number(0...1))
            case 1: .mono
            case 2: .grayscale(amount: number(0...1))
            case 3: .invert(amount: number(0...1))
            case 4: .contrast(amount: number(0...10))
            case 5: .saturate(amount: number(0...10))
            case 6: .hueRotate(angle: number(-360...360))
            case 7: .opacity(amount: number(0...1))
            case 8: .gamma(number(0.01...10))
            case 9: .threshold(level: number(0...1))
            case 10: .posterize(levels: whole(2...256))
            case 11:
                .vignette(
                    Filter.Vignette(
                        amount: number(0...1), radius: number(0...1), softness: number(0.01...1)))
            case 12: .flatten(background: Colour(red: 1, green: one(of: [1, 2]), blue: 1))
            case 13, 14: overlay()
            case 15: resize()
            case 16: crop()
            case 17: .trim(tolerance: number(0...1))
            case 18: pad()
            case 19: .rotate(one(of: Filter.Rotation.allCases))
            case 20: one(of: [.flip, .flop])
            case 21: .blur(sigma: one(of: [number(0.1...3), number(0.1...40)]))
            default:
                .sharpen(
                    sigma: number(0.1...20), amount: number(0...10), threshold: number(0...1))
            }
        }

        private mutating func overlay() -> Filter {
            .overlay(
                Filter.Overlay(
                    from: one(of: ["gray 1 1x1", "grayAlpha 16 9x1", "rgb 8 30x7", "rgba 8 5x40"]),
                    gravity: one(of: Filter.Gravity.allCases), x: whole(-60...60),
                    y: whole(-60...60), opacity: number(0...1)))
        }

        private mutating func resize() -> Filter {
            let sides = whole(0...2)
            return .resize(
                Filter.Resize(
                    width: sides == 1 ? nil : side(), height: sides == 2 ? nil : side(),
                    fit: one(of: Filter.Fit.allCases), kernel: one(of: Filter.Kernel.allCases),
                    withoutEnlargement: one(of: [false, true]), linear: one(of: [false, true]),
                    background: colour()))
        }

        private mutating func crop() -> Filter {
            let (width, height) = (whole(1...9), whole(1...9))
            return .crop(
                whole(0...1) == 0
                    ? .rectangle(x: whole(0...3), y: whole(0...3), width: width, height: height)
                    : .gravity(one(of: Filter.Gravity.allCases), width: width, height: height))
        }

        private mutating func pad() -> Filter {
            .pad(
                Filter.Pad(
                    whole(0...1) == 0
                        ? .margins(
                            top: whole(0...9), right: whole(0...9), bottom: whole(0...9),
                            left: whole(0...9))
                        : .atLeast(
                            width: one(of: [nil, side()]), height: side(),
                            one(of: Filter.Gravity.allCases)), background: colour()))
        }
    }

    @Test(arguments: 0..<8)
    func endsWithAllRowsOrAnError(seed: Int) throws {
        var chooser = Chooser(random: SplitMix64(seed: UInt64(seed)))
        var limits = PictureLimits()
        limits.pixels = 20_000
        limits.side = 2_000
        var ended = 0
        for _ in 0..<60 {
            let grid = PixelGrid.noise(
                chooser.whole(1...33), chooser.whole(1...33), channels: chooser.whole(1...4),
                depth: chooser.one(of: [8, 16]), seed: chooser.random.next())
            let filters = (0..<chooser.whole(1...4)).map { _ in chooser.filter() }
            do throws(PictureError) {
                _ = try Self.develop(grid, filters, limits)
                ended += 1
            } catch {
                #expect(
                    error.kind == .filterOutside || error.kind == .tooManyPixels,
                    "\(filters): \(error)")
            }
        }
        #expect(ended > 20)
    }

    private static func develop(
        _ grid: PixelGrid, _ filters: [Filter], _ limits: PictureLimits
    ) throws(PictureError) -> PixelGrid {
        do {
            return try grid.developed(by: filters, limits: limits)
        } catch let error as PictureError {
            throw error
        } catch {
            throw PictureError(.readFailed, "\(filters): \(error)")
        }
    }
}
