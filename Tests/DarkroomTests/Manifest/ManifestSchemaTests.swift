import Foundation
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomPicture

/// Holds `etc/manifest.schema.json` to the reader and the filter catalogue, and reads the samples.
struct ManifestSchemaTests {
    /// The folder `etc` of the package this file is in.
    private static let etc = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "etc")

    /// The value at a path of keys and indices.
    private static func schema(_ path: any Sendable...) throws -> Any { try schema(at: path) }

    private static func schema(at path: [any Sendable]) throws -> Any {
        let data = try Data(contentsOf: etc.appending(path: "manifest.schema.json"))
        var value = try JSONSerialization.jsonObject(with: data)
        for step in path {
            if let index = step as? Int {
                value = try #require(value as? [Any])[index]
            } else {
                value = try #require((value as? [String: Any])?["\(step)"])
            }
        }
        return value
    }

    private static func keys(_ path: any Sendable...) throws -> Set<ByteString> {
        Set(try #require(try schema(at: path) as? [String: Any]).keys.map { ByteString($0) })
    }

    private static func expect<Value: Equatable>(
        _ expected: Value, _ path: any Sendable...,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(
            try schema(at: path) as? Value == expected, "\(path)", sourceLocation: sourceLocation)
    }

    @Test func hasTheKeysThatTheReaderTakes() throws {
        #expect(try Self.keys("properties") == Set(ManifestReader.keys))
        #expect(try Self.keys("$defs", "image", "properties") == Set(ImageListReader.keys))
        #expect(
            try Self.keys("$defs", "namedImage", "properties")
                == Set(ImageListReader.keysBesideName))
        #expect(try Self.keys("$defs", "variant", "properties") == Set(VariantDraft.keys))
        try Self.expect(VariantDraft.most, "$defs", "variants", "maxItems")
        try Self.expect(Priority.allCases.map(\.rawValue), "properties", "priority", "enum")
        try Self.expect(
            QualityOfServiceName.allCases.map(\.rawValue), "properties", "qualityOfService", "enum")
    }

    @Test func hasTheOptionsOfAnOutput() throws {
        func expect<Value: Equatable>(
            _ expected: Value, _ key: String, _ attribute: String,
            sourceLocation: SourceLocation = #_sourceLocation
        ) throws {
            try Self.expect(
                expected, "$defs", "outputOptions", "properties", key, attribute,
                sourceLocation: sourceLocation)
        }
        let defaultValue = OutputOptions()
        #expect(
            try Self.keys("$defs", "outputOptions", "properties") == Set(ValueReader.outputKeys))
        try Self.expect(
            FormatChoice.words + FormatChoice.aliases.keys.sorted(), "$defs", "format", "enum")
        try Self.expect(defaultValue.format.rawValue, "$defs", "format", "default")
        try expect(OutputOptions.qualities.lowerBound, "quality", "minimum")
        try expect(OutputOptions.qualities.upperBound, "quality", "maximum")
        try expect(defaultValue.quality, "quality", "default")
        let option = ["$defs", "outputOptions", "properties"]
        let sizes = try #require(
            try Self.schema(at: option + ["maxBytes", "anyOf"]) as? [[String: Any]])
        #expect(sizes.first?["minimum"] as? Int == OutputOptions.budgets.lowerBound)
        #expect(sizes.first?["maximum"] as? Int == OutputOptions.budgets.upperBound)
        let ssim = try #require(
            try Self.schema(at: option + ["target", "properties", "ssim"]) as? [String: Any])
        #expect(ssim["minimum"] as? Double == OutputOptions.similarities.lowerBound)
        #expect(ssim["maximum"] as? Double == OutputOptions.similarities.upperBound)
        try expect(defaultValue.progressive, "progressive", "default")
        try expect(defaultValue.metadata == .exifCopy, "exif", "default")
        try expect("none", "metadata", "default")
        try expect(
            type(of: defaultValue.compression).allCases.map(\.rawValue)
                + type(of: defaultValue.tiffCompression).allCases.map(\.rawValue),
            "compression", "enum")
        try expect(defaultValue.lossless, "lossless", "default")
        try expect(OutputOptions.efforts.lowerBound, "effort", "minimum")
        try expect(OutputOptions.efforts.upperBound, "effort", "maximum")
        try expect(type(of: defaultValue.chroma).allCases.map(\.rawValue), "chroma", "enum")
        try expect(defaultValue.chroma.rawValue, "chroma", "default")
        try expect(OutputOption.allDepths, "depth", "enum")
        try Self.expect(true, "$defs", "autoOrient", "default")
        try Self.expect(false, "$defs", "strict", "default")
        try Self.expect(DamagedRule.allCases.map(\.rawValue), "$defs", "damaged", "enum")
        try Self.expect(DamagedRule.fail.rawValue, "$defs", "damaged", "default")
    }

    @Test func hasTheCataloguesFilters() throws {
        let filters = try #require(
            try Self.schema("$defs", "filter", "oneOf", 1, "properties") as? [String: Any])
        #expect(Set(filters.keys) == Set(FilterCatalog.all.map(\.name)))
        let bare = try #require(try Self.schema("$defs", "filter", "oneOf", 0, "enum") as? [String])
        #expect(bare == FilterCatalog.all.filter(Self.standsAlone).map(\.name))
    }

    /// Problems that the schema cannot express: they concern several images, keys that are given twice, or the
    /// length of a whole.
    private static let inexpressible: Set<String> = [
        "syntax", "duplicate-key", "duplicate-name", "unknown-image", "cycle", "too-many-images",
        "too-many-filters", "too-large", "too-deep",
    ]

    /// Checks that the schema accepts a JSON manifest if the reader does.
    private static func compare(
        _ text: String, _ schema: JSONSchema, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        // The map of two spellings of é has equal keys for Foundation, and JSON has no infinite numbers.
        guard !text.contains("e\u{301}"), !text.contains("e999") else { return }
        let codes = Set(problems(text).map(\.code))
        guard codes.isDisjoint(with: inexpressible) else { return }
        // An option may conflict with a format that another output has, or none.
        if codes == ["conflicting-keys"], text.contains("output"),
            !text.contains(#""format""#) || text.ranges(of: "output").count > 1
        {
            return
        }
        #expect(
            try schema.accepts(text) == codes.isEmpty, "\(text): \(codes)",
            sourceLocation: sourceLocation)
    }

    @Test func acceptsWhatTheReaderAccepts() throws {
        let schema = try JSONSchema(file: "manifest.schema.json")
        for (text, _) in ManifestProblemTests.manifests { try Self.compare(text, schema) }
        for (text, _) in ManifestProblemTests.messages { try Self.compare(text, schema) }
        for (list, _) in ManifestProblemTests.filterLists {
            try Self.compare(#"{"images": ["a"], "filters": \#(list)}"#, schema)
        }
        for (form, _) in ShortFormTests.forms {
            try Self.compare(ShortFormTests.manifest(form), schema)
        }
        for (form, _) in ShortFormTests.refused {
            try Self.compare(ShortFormTests.manifest(form), schema)
        }
    }

    /// Every filter with every kind of value in place of its parameters.
    @Test(arguments: FilterCatalog.all.map(\.name))
    func acceptsTheValuesThatTheReaderAccepts(filter name: String) throws {
        let schema = try JSONSchema(file: "manifest.schema.json")
        let values = [
            "null", "true", "0", "1", "-1", "0.5", "2", "90", "90.5", "300", "800", "800.0",
            "1000000", "1000001", #""""#, #""logo""#, #""800""#, #""800x600""#, #""0x600""#,
            #""1000001x1""#, #""0800x600""#, #""800x""#, #""x600""#, #""white""#, ##""#fff""##,
            #""transparent""#, "[]", "[1]", "{}",
        ]
        for value in values {
            let filters = #"{"\#(name)": \#(value)}"#
            for filters in [filters, "[\(filters)]"] {
                let text =
                    #"{"images": {"a": {"source": "a", "filters": \#(filters)}, "#
                    + #""logo": {"source": "b", "filters": []}}}"#
                try Self.compare(text, schema)
            }
        }
        try Self.compare(#"{"images": ["a"], "filters": "\#(name)"}"#, schema)
    }

    /// Whether a filter can be made without parameters.
    private static func standsAlone(_ filter: FilterSpecification) -> Bool {
        let list = "[\(filter.name)]"
        return (try? FilterList.read(yaml: Array(list.utf8))) != nil
    }

    @Test(arguments: FilterCatalog.all.map(\.name))
    func hasTheParametersOf(filter name: String) throws {
        let filter = try #require(FilterCatalog.specification(named: ByteString(name)))
        let schema = try #require(
            try Self.schema("$defs", "filter", "oneOf", 1, "properties", name) as? [String: Any])
        #expect(schema["description"] is String)
        #expect(schema["additionalProperties"] as? Bool == false)
        #expect(
            (schema["type"] as? [String] ?? [schema["type"] as? String ?? ""])
                == (Self.standsAlone(filter) ? ["object", "null"] : ["object"])
                + Self.shortTypes(filter))
        #expect(
            schema["required"] as? [String] ?? []
                == filter.parameters.filter(\.isRequired).map(\.name))
        let properties = schema["properties"] as? [String: [String: Any]] ?? [:]
        #expect(Set(properties.keys) == Set(filter.parameters.map(\.name)))
        for parameter in filter.parameters {
            let property = try #require(properties[parameter.name])
            #expect(property["description"] is String)
            Self.check(property, parameter)
        }
    }

    /// The types of the values that may replace the parameters.
    private static func shortTypes(_ filter: FilterSpecification) -> [String] {
        if filter.takesSides { return ["integer", "string"] }
        let required = filter.parameters.filter(\.isRequired)
        guard filter.parameters.count == 1 || required.count == 1 else { return [] }
        switch (required.first ?? filter.parameters[0]).kind {
        case .number: return ["number"]
        case .integer, .oneOf: return ["integer"]
        case .choice, .colour, .image: return ["string"]
        case .boolean: return []
        }
    }

    private static func check(_ property: [String: Any], _ parameter: FilterParameter) {
        switch parameter.kind {
        case .number(let range):
            #expect(property["type"] as? String == "number")
            #expect(property["minimum"] as? Double == range.lowerBound)
            #expect(property["maximum"] as? Double == range.upperBound)
        case .integer(let range):
            #expect(property["type"] as? String == "integer")
            #expect(property["minimum"] as? Int == range.lowerBound)
            #expect(property["maximum"] as? Int == range.upperBound)
        case .oneOf(let numbers):
            #expect(property["type"] as? String == "integer")
            #expect(property["enum"] as? [Int] == numbers)
        case .choice(let words):
            #expect(property["enum"] as? [String] == words)
        case .boolean:
            #expect(property["type"] as? String == "boolean")
        case .colour, .image:
            #expect(property["type"] as? String == "string")
        }
        switch parameter.defaultValue {
        case .number(let value): #expect(property["default"] as? Double == value)
        case .integer(let value): #expect(property["default"] as? Int == value)
        case .text(let value): #expect(property["default"] as? String == value.string)
        case .boolean(let value): #expect(property["default"] as? Bool == value)
        case nil: #expect(property["default"] == nil)
        }
    }

    @Test func readsTheSamples() throws {
        let samples = Self.etc.appending(path: "samples")
        let defaultValue: [Filter] = [.sepia(intensity: 0.8)]
        var formats: Set<ManifestFormat> = []
        var words: Set<Substring> = []
        for name in try FileManager.default.contentsOfDirectory(atPath: samples.path()) {
            guard let format = ManifestFormat(fileName: name) else { continue }
            formats.insert(format)
            let bytes = Array(try Data(contentsOf: samples.appending(path: name)))
            _ = try ManifestReader.read(bytes, format: format, defaultFilters: defaultValue)
            words.formUnion(String(decoding: bytes, as: UTF8.self).split { !$0.isLetter })
        }
        #expect(formats == Set(ManifestFormat.allCases))
        // Together they show every filter there is.
        let filters: [String] = FilterCatalog.all.map(\.name)
        let unseen = filters.filter { !words.contains(Substring($0)) }
        #expect(unseen.isEmpty)
    }
}
