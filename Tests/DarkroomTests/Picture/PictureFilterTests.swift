import Foundation
import Testing

@testable import DarkroomCore
@testable import DarkroomFixtures
@testable import DarkroomPicture

/// Filters as other packages make them, against the catalog.
struct PictureFilterTests {
    /// A call without the arguments that may be left out, and what it makes.
    static let leastCalls: [(PictureFilter, Filter)] = [
        (.sepia(), .sepia(intensity: 1)), (.mono, .mono), (.grayscale(), .grayscale(amount: 1)),
        (.invert(), .invert(amount: 1)), (.brightness(amount: 2), .brightness(amount: 2)),
        (.contrast(amount: 0.5), .contrast(amount: 0.5)),
        (.saturate(amount: 1.3), .saturate(amount: 1.3)),
        (.hueRotate(angle: -90), .hueRotate(angle: -90)),
        (.opacity(amount: 0), .opacity(amount: 0)),
        (.gamma(2.2), .gamma(2.2)), (.threshold(), .threshold(level: 0.5)),
        (.posterize(levels: 4), .posterize(levels: 4)), (.vignette(), .vignette(Filter.Vignette())),
        (.flatten(), .flatten(background: .white)),
        (.overlay(contentsOf: "a/é.png"), .overlay(Filter.Overlay(from: "a/é.png"))),
        (
            .watermark(contentsOf: "m.png", scale: 0.2),
            .overlay(Filter.Overlay(from: "m.png", gravity: .southeast, scale: 0.2))
        ),
        (.resize(width: 800), .resize(Filter.Resize(width: 800))),
        (
            .thumbnail(width: 3, height: 4),
            .resize(Filter.Resize(width: 3, height: 4, fit: .inside, withoutEnlargement: true))
        ),
        (
            .crop(x: 1, y: 2, width: 3, height: 4),
            .crop(.rectangle(x: 1, y: 2, width: 3, height: 4))
        ),
        (.trim(), .trim(tolerance: 0.04)),
        (.pad(), .pad(Filter.Pad(.margins(top: 0, right: 0, bottom: 0, left: 0)))),
        (.rotate(.threeQuarters), .rotate(.threeQuarters)), (.flip, .flip), (.flop, .flop),
        (.blur(sigma: 2), .blur(sigma: 2)),
        (.sharpen(), .sharpen(sigma: 1, amount: 1, threshold: 0)),
    ]

    /// Calls with all arguments, and the other forms.
    static let wholeCalls: [(PictureFilter, Filter)] = [
        (.sepia(intensity: 0.8), .sepia(intensity: 0.8)),
        (
            .vignette(amount: 0.1, radius: 0.2, softness: 0.3),
            .vignette(Filter.Vignette(amount: 0.1, radius: 0.2, softness: 0.3))
        ),
        (
            .flatten(background: Colour(red: 1, green: 16, blue: 255)),
            .flatten(background: Colour(red: 1, green: 16, blue: 255))
        ),
        (
            .overlay(
                contentsOf: "m", gravity: .northwest, x: -5, y: 7, opacity: 0.25, scale: 0.5),
            .overlay(
                Filter.Overlay(
                    from: "m", gravity: .northwest, x: -5, y: 7, opacity: 0.25, scale: 0.5))
        ),
        (
            .resize(
                width: 8, height: 9, fit: .contain, kernel: .nearest, withoutEnlargement: true,
                linear: true, background: Colour(red: 1, green: 2, blue: 3, alpha: 4)),
            .resize(
                Filter.Resize(
                    width: 8, height: 9, fit: .contain, kernel: .nearest, withoutEnlargement: true,
                    linear: true, background: Colour(red: 1, green: 2, blue: 3, alpha: 4)))
        ),
        (
            .thumbnail(size: 64, fit: .contain, background: .black),
            .resize(Filter.Resize(width: 64, height: 64, fit: .contain, background: .black))
        ),
        (
            .crop(width: 3, height: 4, gravity: .southwest),
            .crop(.gravity(.southwest, width: 3, height: 4))
        ),
        (
            .pad(top: 1, right: 2, bottom: 3, left: 4, background: .white),
            .pad(Filter.Pad(.margins(top: 1, right: 2, bottom: 3, left: 4), background: .white))
        ),
        (
            .pad(width: 8, gravity: .east),
            .pad(Filter.Pad(.atLeast(width: 8, height: nil, .east)))
        ),
        (
            .pad(height: 9, gravity: .north, background: .black),
            .pad(Filter.Pad(.atLeast(width: nil, height: 9, .north), background: .black))
        ),
        (
            .sharpen(sigma: 2, amount: 3, threshold: 0.5),
            .sharpen(sigma: 2, amount: 3, threshold: 0.5)
        ),
    ]

    @Test func makesEveryFilterOfTheCatalog() throws {
        #expect(
            Set(Self.leastCalls.map(\.0.name)) == Set(FilterCatalog.all.map(\.name)))
        for (call, filter) in Self.leastCalls + Self.wholeCalls {
            #expect(try call.checked() == filter)
        }
    }

    /// What a call gives by itself is what the catalog has for a manifest that leaves it out.
    @Test func defaultsAreThoseOfTheCatalog() throws {
        for (call, _) in Self.leastCalls {
            let specification = try #require(
                FilterCatalog.specification(named: ByteString(call.name)))
            for parameter in specification.parameters {
                guard let defaultValue = parameter.defaultValue,
                    let given = call.arguments[parameter.name]
                else { continue }
                if case .text(let text) = defaultValue, parameter.kind == .colour {
                    let colour = try #require(Colour(text))
                    #expect(given == .colour(colour), "\(call.name).\(parameter.name)")
                } else {
                    #expect(given == defaultValue, "\(call.name).\(parameter.name)")
                }
            }
        }
    }

    /// Every parameter can be given by some call.
    @Test func givesEveryParameter() throws {
        let calls = Self.leastCalls + Self.wholeCalls
        for specification in FilterCatalog.all {
            let given = calls.filter { $0.0.name == specification.name }
                .flatMap { $0.0.arguments.keys }
            #expect(
                Set(given) == Set(specification.parameters.map(\.name)), "\(specification.name)")
        }
    }

    static let refusals: [(PictureFilter, String)] = [
        (.sepia(intensity: 1.5), "sepia: intensity must be 0 to 1, not 1.5"),
        (.sepia(intensity: .nan), "sepia: intensity must be 0 to 1, not nan"),
        (.brightness(amount: .infinity), "brightness: amount must be 0 to 100, not inf"),
        (.hueRotate(angle: -3601), "hueRotate: angle must be -3600 to 3600, not -3601"),
        (.gamma(0), "gamma: gamma must be 0.01 to 10, not 0"),
        (.threshold(level: -1), "threshold: level must be 0 to 1, not -1"),
        (.posterize(levels: 1), "posterize: levels must be 2 to 256, not 1"),
        (.resize(), "resize: needs a width, a height or both"),
        (.resize(width: 0), "resize: width must be 1 to 1000000, not 0"),
        (.resize(width: 1, height: .max), "resize: height must be 1 to 1000000, not \(Int.max)"),
        (
            .thumbnail(size: 9, fit: .fill),
            "thumbnail: fit must be inside, cover or contain, not fill"
        ),
        (.crop(x: -1, y: 0, width: 1, height: 1), "crop: x must be 0 to 1000000, not -1"),
        (.crop(width: 1, height: 0, gravity: .east), "crop: height must be 1 to 1000000, not 0"),
        (.pad(left: -1), "pad: left must be 0 to 1000000, not -1"),
        (.pad(gravity: .east), "pad: needs margins, or a width, a height or both"),
        (
            .flatten(background: Colour(red: 0, green: 0, blue: 0, alpha: 254)),
            "flatten: background must be opaque"
        ),
        (
            .overlay(contentsOf: "m", x: .min),
            "overlay: x must be -1000000 to 1000000, not \(Int.min)"
        ),
        (.watermark(contentsOf: "m", opacity: 2), "watermark: opacity must be 0 to 1, not 2"),
        (.blur(sigma: 0), "blur: sigma must be 0.1 to 250, not 0"),
        (.sharpen(amount: 11), "sharpen: amount must be 0 to 10, not 11"),
    ]

    @Test(arguments: refusals) func refusesWhatTheCatalogRefuses(
        filter: PictureFilter, message: String
    ) {
        #expect(throws: PictureError(.invalidArguments, message)) { try filter.checked() }
    }

    /// The comment above each function says the ranges as the catalog has them.
    @Test func commentsHaveTheRanges() throws {
        let source = try Sources.all().filter { $0.file.contains("Model/PictureFilter") }
            .map(\.text).joined()
        for specification in FilterCatalog.all {
            let comments = Self.comments(above: specification.name, in: source)
            #expect(!comments.isEmpty, "\(specification.name)")
            for parameter in specification.parameters {
                let range: String
                switch parameter.kind {
                case .number(let numbers):
                    range = "\(numbers.lowerBound.briefly) to \(numbers.upperBound.briefly)"
                case .integer(let numbers):
                    range = "\(numbers.lowerBound) to \(numbers.upperBound)"
                default: continue
                }
                #expect(
                    comments.contains { $0.contains(" \(parameter.name): \(range)") },
                    "\(specification.name).\(parameter.name): \(range)")
            }
        }
    }

    /// The comments of all public functions of a name.
    private static func comments(above name: String, in source: String) -> [String] {
        var comments: [String] = []
        var lines: [Substring] = []
        for line in source.split(separator: "\n") {
            let code = line.drop { $0 == " " }
            if code.hasPrefix("///") {
                lines.append(code)
                continue
            }
            let isOfName = ["func \(name)(", "let \(name) "].contains {
                code.hasPrefix("public static \($0)")
            }
            if isOfName { comments.append(lines.joined(separator: "\n")) }
            lines = []
        }
        return comments
    }
}
