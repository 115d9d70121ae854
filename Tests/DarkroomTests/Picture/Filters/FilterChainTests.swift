import TestPictures
import Testing

@testable import DarkroomCore
@testable import DarkroomPicture

/// Any filters of the catalogue, on any picture, end with the rows that they promise or with an error; also those that
/// no one would ask for.
struct FilterChainTests {
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

        /// Arguments that each parameter allows. Those that do not go together are drawn anew.
        mutating func filter(_ specification: FilterSpecification) -> Filter {
            while true {
                var given: [String: FilterArgument] = [:]
                for parameter in specification.parameters
                where parameter.isRequired || whole(0...1) == 0 {
                    given[parameter.name] = argument(parameter.kind)
                }
                if let filter = try? specification.make(FilterArguments(given, for: specification))
                {
                    return filter
                }
            }
        }

        private mutating func argument(_ kind: FilterParameter.Kind) -> FilterArgument {
            switch kind {
            case .number(let range): .number(number(range))
            case .integer(let range): .integer(integer(range))
            case .oneOf(let numbers): .integer(one(of: numbers))
            case .choice(let names): .text(ByteString(one(of: names)))
            case .boolean: .boolean(one(of: [false, true]))
            case .colour: .text(one(of: ["#0909097f", "#09c80900", "#fff", "transparent"]))
            case .image:
                .text(one(of: ["gray 1 1x1", "grayAlpha 16 9x1", "rgb 8 30x7", "rgba 8 5x40"]))
            }
        }

        /// Mostly small; the pictures are, too. The ends now and then.
        private mutating func integer(_ range: ClosedRange<Int>) -> Int {
            let small = max(range.lowerBound, -60)...min(range.upperBound, 60)
            return one(of: [
                whole(small), whole(small), whole(small),
                max(small.lowerBound, min(1, small.upperBound)),
                whole(max(range.lowerBound, -400)...min(range.upperBound, 400)), range.upperBound,
            ])
        }
    }

    /// Each chain has the next filter of the catalogue, and others.
    @Test(arguments: 0..<8)
    func endsWithAllRowsOrAnError(seed: Int) throws {
        var chooser = Chooser(random: SplitMix64(seed: UInt64(seed)))
        var limits = PictureLimits()
        limits.pixels = 20_000
        limits.side = 2_000
        var ended = 0
        for turn in 0..<200 {
            let grid = PixelGrid.noise(
                chooser.whole(1...33), chooser.whole(1...33), channels: chooser.whole(1...4),
                depth: chooser.one(of: [8, 16]), seed: chooser.random.next())
            let next = FilterCatalog.all[(seed * 200 + turn) % FilterCatalog.all.count]
            let others = (0..<chooser.whole(0...3)).map { _ in chooser.one(of: FilterCatalog.all) }
            let filters = ([next] + others).map { chooser.filter($0) }
            do throws(PictureError) {
                _ = try Self.develop(grid, filters, limits)
                ended += 1
            } catch {
                #expect(
                    error.kind == .filterOutside || error.kind == .tooManyPixels,
                    "\(filters): \(error)")
            }
        }
        #expect(ended > 60)
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
