import Foundation
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomFetch
@testable import DarkroomFixtures
@testable import DarkroomManifest
@testable import DarkroomPicture

/// Holds darkroom-manifest(5) against the reader of manifests and the catalogue of filters.
struct ManualManifestTests {
    static let page = Result { try ManualPage("darkroom-manifest.5") }

    @Test(arguments: [
        ("Keys of a manifest", ManifestReader.keys), ("Keys of an image", ImageListReader.keys),
        ("Keys of an output", ValueReader.outputKeys), ("Keys of a variant", VariantDraft.keys),
    ])
    func hasTheKeys(subsection: String, keys: [ByteString]) throws {
        let names = try Self.page.get().items("KEYS", subsection).flatMap(\.names)
        #expect(names.map { ByteString($0) }.sorted() == keys.sorted())
    }

    /// The text of a key names all its words, and the one that stands for it where it is missing.
    @Test func hasTheWordsOfTheKeys() throws {
        let page = try Self.page.get()
        func expect(_ subsection: String, _ key: String, _ words: [String], _ defaultValue: String)
            throws
        {
            let text = try #require(
                page.items("KEYS", subsection).first { $0.names == [key] }
            ).text
            for word in words { #expect(text.contains(word), "\(key): \(word)") }
            #expect(text.contains("\(defaultValue) if not given"), "\(key)")
        }
        func expectOutput(_ key: String, _ words: [String], _ defaultValue: String) throws {
            try expect("Keys of an output", key, words, defaultValue)
        }
        let manifest = try ManifestReader.read(
            Array("{\"images\": [\"a\"]}".utf8), format: .json, defaultFilters: [])
        let output = OutputOptions()
        let range = OutputOptions.qualities
        try expect(
            "Keys of a manifest", "priority", Priority.allCases.map(\.rawValue),
            manifest.priority.rawValue)
        try expect(
            "Keys of a manifest", "qualityOfService", QualityOfServiceName.allCases.map(\.rawValue),
            manifest.qualityOfService.rawValue)
        try expect("Keys of an image", "autoOrient", [], "\(manifest.images[0].autoOrient)")
        try expect(
            "Keys of an image", "damaged", DamagedRule.allCases.map(\.rawValue),
            manifest.images[0].damaged.rawValue)
        try expect("Keys of an image", "strict", [], "\(manifest.images[0].isStrict)")
        try expectOutput(
            "format", OutputFormat.allCases.map(\.rawValue),
            output.format.rawValue)
        try expectOutput(
            "quality",
            ["whole number from \(range.lowerBound) to \(range.upperBound)"], "\(output.quality)")
        try expectOutput("progressive", ["true or false"], "\(output.progressive)")
        try expectOutput(
            "compression",
            type(of: output.compression).allCases.map(\.rawValue), output.compression.rawValue)
        try expectOutput(
            "compression",
            type(of: output.tiffCompression).allCases.map(\.rawValue),
            output.tiffCompression.rawValue)
        try expectOutput("lossless", ["true or false"], "\(output.lossless)")
        try expectOutput(
            "chroma", type(of: output.chroma).allCases.map(\.rawValue),
            output.chroma.rawValue)
        let efforts = OutputOptions.efforts
        for format in OutputOption.effort.formats {
            try expectOutput(
                "effort",
                [
                    "whole number from \(efforts.lowerBound)", "to \(efforts.upperBound)",
                    "\(format.defaultEffort) for \(format.rawValue)",
                ], "")
        }
        let avif = OutputFormat.avif
        try expectOutput("quality", ["\(avif.defaultQuality) for \(avif.rawValue)"], "85")
        try expectOutput(
            "target",
            [
                "from \(OutputOptions.similarities.lowerBound)",
                "to \(Int(OutputOptions.similarities.upperBound))",
            ], "")
        for option in OutputOption.allCases {
            try expectOutput(option.rawValue, option.formats.map(\.rawValue), "")
        }
    }

    @Test func hasTheMostVariants() throws {
        let text = try Repository.text("etc/man/darkroom-manifest.5")
        #expect(text.contains("An image has at most \(VariantDraft.most) variants."))
    }

    @Test func namesEveryFormat() throws {
        let endings = try Self.page.get().items("FORMATS", "").flatMap(\.names)
        #expect(Set(endings.compactMap { ManifestFormat(fileName: "a" + $0) }).count == 3)
        #expect(endings.allSatisfy { ManifestFormat(fileName: "a" + $0) != nil })
    }

    // MARK: Filters

    /// In the catalogue's order.
    @Test func hasEveryFilterAndNoOther() throws {
        let names = try Self.page.get().items("FILTERS").flatMap(\.names)
        #expect(names == FilterCatalog.all.map(\.name))
    }

    @Test(arguments: FilterCatalog.all.map(\.name))
    func hasTheParametersOf(filter name: String) throws {
        let filter = try #require(FilterCatalog.specification(named: ByteString(name)))
        let item = try #require(
            try Self.page.get().items("FILTERS").first { $0.names == [name] })
        #expect(!item.lines.isEmpty)
        #expect(item.children.flatMap(\.names) == filter.parameters.map(\.name))
        for (child, parameter) in zip(item.children, filter.parameters) {
            #expect(child.lines.first == Self.sentence(of: parameter), "\(parameter.name)")
        }
    }

    /// The first sentence of each parameter: kind and range, and what stands for it where it is not given.
    private static func sentence(of parameter: FilterParameter) -> String {
        let kind =
            switch parameter.kind {
            case .number(let range):
                "Number from \(range.lowerBound.briefly) to \(range.upperBound.briefly)"
            case .integer(let range):
                "Whole number from \(range.lowerBound) to \(range.upperBound)"
            case .oneOf(let numbers): Words.list(numbers.map(String.init), "or")
            case .choice(let words):
                words == Filter.Gravity.allCases.map(\.rawValue)
                    ? "Gravity" : Words.list(words, "or")
            case .boolean: "True or false"
            case .colour: "Colour"
            case .image: "Name of an image"
            }
        let defaultValue =
            switch parameter.defaultValue {
            case .number(let value): "\(value.briefly) if not given"
            case .integer(let value): "\(value) if not given"
            case .text(let value): "\(value) if not given"
            case .boolean(let value): "\(value) if not given"
            case nil: parameter.isRequired ? "required" : "optional"
            }
        return "\(kind); \(defaultValue)."
    }

    @Test func explainsGravitiesAndColours() throws {
        let lines = try Self.page.get().lines.joined(separator: " ")
        let gravities = Filter.Gravity.allCases.map(\.rawValue)
        #expect(
            lines.contains(
                ".Cm \(gravities.dropLast().joined(separator: " , ")) or .Cm \(gravities.last ?? "") ;"
            ))
        for (form, colour) in [
            ("transparent", "transparent"), ("black", "black"), ("white", "white"),
            ("#rgb", "#1aF"), ("#rrggbb", "#11aaFF"), ("#rrggbbaa", "#11aaFF80"),
        ] as [(String, ByteString)] {
            #expect(lines.contains(" \(form) "))
            #expect(Colour(colour) != nil)
        }
    }

    @Test func saysTheLimits() throws {
        let text = try Self.page.get().lines.joined(separator: " ")
        let limits = PictureLimits()
        #expect(text.contains("at most \(Document.maximumHeight) deep"))
        #expect(text.contains("A source has at most \(ImageListReader.maximumSource) bytes"))
        #expect(text.contains("1 to \(ImageName.maximumBytes) bytes"))
        #expect(text.contains("a key of a manifest has at most \(Document.maximumKey) bytes"))
        #expect(text.contains("a name has at most \(ImageName.maximumBytes) bytes"))
        #expect(text.contains("redirects to, has at most \(RemoteURL.maximumBytes) bytes"))
        #expect(RemoteURL.maximumBytes == ImageListReader.maximumSource)
        #expect(
            text.contains("the host of a URL has at most \(URLAuthority.maximumHost) characters"))
        #expect(text.contains("has at most \(limits.side) pixels"))
        #expect(limits.wholePictureBytes == 1 << 30 && text.contains("may take 1 GiB"))
        #expect(text.contains("a list of \(ProblemList.maximum):"))
    }

    // MARK: Problems and examples

    @Test func hasEveryProblemAndNoOther() throws {
        let names = try Self.page.get().items("PROBLEMS").flatMap(\.names)
        #expect(names == ProblemCode.allCases.map(\.rawValue))
    }

    @Test func itsManifestsAreGood() throws {
        let examples = try Self.page.get().examples("manifest")
        let formats = examples.compactMap { ManifestFormat(fileName: $0.words[0]) }
        #expect(Set(formats) == Set(ManifestFormat.allCases))
        for (example, format) in zip(examples, formats) {
            _ = try ManifestReader.read(
                Array(example.text.utf8), format: format, defaultFilters: [])
        }
    }

    @Test func itsBadManifestHasTheProblemsShown() throws {
        let page = try Self.page.get()
        let bad = try #require(page.examples("invalid").first)
        let shown = try #require(page.examples("problems").first)
        let format = try #require(ManifestFormat(fileName: bad.words[0]))
        let problems = try JSONDecoder().decode(
            [ManifestProblem].self, from: Data(shown.text.utf8))
        let rejection = #expect(throws: ManifestRejection.self) {
            try ManifestReader.read(Array(bad.text.utf8), format: format, defaultFilters: [])
        }
        #expect(rejection?.problems == problems)
    }
}
