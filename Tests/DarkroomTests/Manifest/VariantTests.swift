import Testing

@testable import DarkroomCore
@testable import DarkroomManifest

/// What a manifest with variants means. `ManifestProblemTests` has the errors, `RecipeTests` those of recipes.
struct VariantTests {
    /// Manifests with variants, and after `=` the same with separate images.
    static let manifests: [(String, String)] = texts(
        """
        variants: [{suffix: -400, filters: {resize: 400}}, {suffix: -800, filters: {resize: 800}}]
        images: [a.png]
        =
        images:
          - {name: a-400, source: a.png, filters: {resize: 400}}
          - {name: a-800, source: a.png, filters: {resize: 800}}
        ---
        # The filters of the configuration are for those without any.
        variants: [{suffix: 1, filters: []}, {suffix: 2}]
        images: {a: x, b: {source: y, filters: []}, c: {source: z, filters: flip}}
        =
        images:
          a1: {source: x, filters: []}
          a2: x
          b1: {source: y, filters: []}
          b2: {source: y, filters: []}
          c1: {source: z, filters: flip}
          c2: {source: z, filters: flip}
        ---
        # Those of the image come first.
        filters: [mono, flip]
        variants: [{suffix: 1, filters: sepia}, {suffix: 2}]
        images: {a: x}
        =
        images: {a1: {source: x, filters: [mono, flip, sepia]}, a2: {source: x, filters: [mono, flip]}}
        ---
        images: [{source: x, filters: mono, variants: [{suffix: 1, filters: [flip, sepia]}]}, y]
        filters: []
        =
        images: [{name: x1, source: x, filters: [mono, flip, sepia]}, y]
        filters: []
        ---
        # Each key of an output for itself.
        output: {format: jpeg, quality: 80, exif: true}
        filters: []
        variants: [{suffix: 1, output: {quality: 70}}, {suffix: 2, output: png}]
        images: [x]
        =
        filters: []
        output: {format: jpeg, quality: 80, exif: true}
        images:
          - {name: x1, source: x, output: {quality: 70}}
          - {name: x2, source: x, output: png}
        ---
        # An option that does not belong to the format of this image is ignored, as that of the manifest's output is.
        output: {format: jpeg, quality: 70}
        filters: []
        variants: [{suffix: 1, output: {quality: 70}}]
        images: [{source: x, output: png}]
        =
        output: {format: jpeg, quality: 70}
        filters: []
        images: [{name: x1, source: x, output: png}]
        ---
        # Names.
        filters: []
        variants: [{name: b}, {suffix: ''}]
        images: {a: x}
        =
        filters: []
        images: {b: x, a: x}
        ---
        filters: []
        variants: [{suffix: -4}]
        images: {a.png: x, b.jpg: x, c.jpeg.x: x}
        =
        filters: []
        images: {a-4.png: x, b-4.jpg: x, c.jpeg.x-4: x}
        ---
        filters: []
        variants: [{suffix: -4}, {suffix: -8}]
        images: [a, b/a, c/a]
        =
        filters: []
        images:
          - {name: a-4, source: a}
          - {name: a-8, source: a}
          - {name: a-4-2, source: b/a}
          - {name: a-8-2, source: b/a}
          - {name: a-4-3, source: c/a}
          - {name: a-8-3, source: c/a}
        ---
        # Other images.
        filters: []
        images:
          a: {source: x, variants: [{suffix: 1}, {suffix: 2}]}
          b: {from: a2, after: [a1]}
          c: {source: y, filters: {overlay: a1}}
        =
        filters: []
        images: {a1: x, a2: x, b: {from: a2, after: [a1]}, c: {source: y, filters: {overlay: a1}}}
        ---
        filters: []
        images: {a: x, b: {from: a, after: [c], variants: [{suffix: 1}, {suffix: 2}]}, c: y}
        =
        filters: []
        images: {a: x, b1: {from: a, after: [c]}, b2: {from: a, after: [c]}, c: y}
        ---
        filters: []
        variants: [{suffix: 1, filters: {watermark: {from: logo}}}, {suffix: 2}]
        images: {a: x, logo: {source: l, publish: false}}
        =
        filters: []
        images:
          a1: {source: x, filters: {watermark: {from: logo}}}
          a2: x
          logo: {source: l, publish: false}
        """)

    private static func texts(_ table: String) -> [(String, String)] {
        table.split(separator: "\n---\n").map { entry in
            let texts = entry.split(separator: "\n=\n").map { String($0) }
            return (texts[0], texts[1])
        }
    }

    @Test(arguments: manifests) func areImages(text: String, same: String) throws {
        var found = try read(text, .yaml)
        let variants = found.images.compactMap(\.variant)
        #expect(!variants.isEmpty)
        for index in found.images.indices {
            found.images[index].variant = nil
            found.images[index].variantOf = nil
        }
        let expected = try read(same, .yaml)
        #expect(found == expected)
    }

    /// Which belong together, and how many filters they have in common.
    @Test func knowTheirPlaces() throws {
        let text = """
            filters: [mono, flip]
            images:
              - {source: a, variants: [{suffix: 1, filters: sepia}, {suffix: 2}, {suffix: 3}]}
              - b
              - {source: c, filters: [], variants: [{suffix: 1, filters: sepia}]}
            """
        typealias Variant = Manifest.Image.Variant
        let all = Variant(first: 0, count: 3, commonFilters: 2)
        #expect(
            try read(text, .yaml).images.map(\.variant) == [
                all, all, all, nil, Variant(first: 4, count: 1, commonFilters: 0),
            ])
    }

    /// A suffix may look like a number, in each format.
    @Test(arguments: [
        ("variants: [{suffix: -400}]\nimages: {a: x}", ManifestFormat.yaml, "a-400"),
        ("variants: [{suffix: 007}]\nimages: {a: x}", .yaml, "a007"),
        ("variants: [{suffix: -1.50}]\nimages: {a: x}", .yaml, "a-1.50"),
        (#"{"variants": [{"suffix": -400}], "images": {"a": "x"}}"#, .json, "a-400"),
        (#"{"variants": [{"suffix": "-400"}], "images": {"a": "x"}}"#, .json, "a-400"),
        (
            xml(
                "<dict><key>variants</key><array><dict><key>suffix</key><integer>-400</integer></dict></array>"
                    + "<key>images</key><dict><key>a</key><string>x</string></dict></dict>"),
            .plist, "a-400"
        ),
    ])
    func haveNumbersAsSuffixes(text: String, format: ManifestFormat, name: ByteString) throws {
        #expect(try read(text, format).images.map(\.name) == [name])
    }

    /// A name that comes from the source is cut off so that the suffix has room. A given one is an error.
    @Test func cutOffDerivedNames() throws {
        let long = String(repeating: "a", count: 300)
        let images = try read("variants: [{suffix: -400}]\nimages: [\(long)]", .yaml).images
        #expect(images.map(\.name) == ["\(ByteString(String(repeating: "a", count: 196)))-400"])
        let given = String(repeating: "a", count: 198)
        #expect(
            problems("variants: [{suffix: -400}]\nimages: {\(given): x}", .yaml).map(\.message) == [
                "the name ‘\(String(repeating: "a", count: 80))…’ has 202 bytes; the limit is 200"
            ])
    }

    /// They count as images, and their filters with those of the image.
    @Test func areLimited() throws {
        let text =
            "filters: [mono]\nvariants: [{suffix: 1, filters: [flip, flop]}, {suffix: 2}]\nimages: [a, b]"
        #expect(problems(text, .yaml, limits: ManifestLimits(images: 4, filters: 3)) == [])
        #expect(
            problems(text, .yaml, limits: ManifestLimits(images: 3)).map(summary) == [
                "3:13 too-many-images images[1]"
            ])
        #expect(
            problems(text, .yaml, limits: ManifestLimits(filters: 2)).map(summary) == [
                "3:10 too-many-filters images[0]", "3:13 too-many-filters images[1]",
            ])
    }

    /// Only recipes may have filters, also those of variants.
    @Test func obeyRecipesOnly() throws {
        var book = RecipeBook([
            try Recipe(named: "r", text: "variants: [{suffix: 1, filters: mono}]")
        ])
        book.isOnly = true
        func codes(_ text: String) -> [String] {
            problems(text, .yaml, recipes: book).map(summary)
        }
        #expect(codes("recipe: r\nimages: [a]") == [])
        #expect(codes("variants: [{suffix: 1}]\nimages: [a]") == [])
        #expect(
            codes("variants: [{suffix: 1, filters: mono}]\nimages: [a]") == [
                "1:33 filters-not-allowed variants[0].filters"
            ])
    }

    @Test(
        arguments: pairs(
            #"""
            variants: [] ⇒ 1:11 no-images variants
            variants: [{filters: mono}] ⇒ 1:12 missing-key variants[0]
            variants: [{suffix: 1, filters: {overlay: logo}}]
                1:43 unknown-image variants[0].filters.overlay
            variants: [{suffix: 1, output: {quality: 70}}]
                1:42 conflicting-keys variants[0].output.quality
            """#))
    func areCheckedInRecipes(text: String, problem: String) {
        do throws(ManifestRejection) {
            _ = try Recipe(named: "r", text: text)
            Issue.record("it was accepted")
        } catch {
            #expect(error.problems.map(summary) == [problem])
        }
    }

    /// A source of several pictures.
    @Test func multiplyTheFilesOfAPattern() throws {
        let found = [FoundSources(pattern: "p/*.png", files: ["p/a.png", "p/b.png"])]
        func read(_ variants: String, limit: Int = 10) throws -> Manifest {
            try DarkroomManifestTests.read(
                "variants: \(variants)\nimages: ['p/*.png']", .yaml,
                limits: ManifestLimits(images: limit), finder: .recorded(SourceRecord(found)))
        }
        #expect(
            try read("[{suffix: -1}, {suffix: -2}]", limit: 4).images.map(\.name)
                == ["a-1", "a-2", "b-1", "b-2"])
        for (variants, limit, code) in [
            ("[{suffix: -1}, {suffix: -2}]", 3, "too-many-images"),
            ("[{name: x}]", 10, "conflicting-keys"),
        ] {
            #expect {
                _ = try read(variants, limit: limit)
            } throws: {
                ($0 as? ManifestRejection)?.problems.map(\.code) == [code]
            }
        }
    }

    /// Those of one image are in one shard, and still know each other.
    @Test(arguments: [2, 3, 16])
    func areInOneShard(count: Int) throws {
        let manifest = try read(
            "variants: [{suffix: 1}, {suffix: 2}, {suffix: 3}]\nimages: [\((0..<50).map { "i\($0)x" }.joined(separator: ", "))]",
            .yaml)
        var seen = 0
        for number in 1...count {
            let part = manifest.part(try #require(Shard(number, of: count)))
            seen += part.images.count
            for (index, image) in part.images.enumerated() {
                let variant = try #require(image.variant)
                #expect(variant.first == index / 3 * 3 && variant.count == 3)
                let names = variant.indices.map { part.images[$0].name.string.dropLast() }
                #expect(Set(names.map(String.init)).count == 1)
            }
        }
        #expect(seen == 150)
    }

    /// A million images that share filters and variants share the joined filters.
    @Test func shareTheirFilters() throws {
        let images = (0..<1000).map { "i\($0)" }.joined(separator: ", ")
        let manifest = try read(
            "filters: [mono, flip]\nvariants: [{suffix: -a, filters: sepia}, {suffix: -b, filters: flop}]\nimages: [\(images)]",
            .yaml)
        let places = Set(
            manifest.images.map { $0.filters.withUnsafeBufferPointer { $0.baseAddress } })
        #expect(manifest.images.count == 2000 && places.count == 2)
    }
}
