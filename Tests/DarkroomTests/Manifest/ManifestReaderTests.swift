import Testing

@testable import DarkroomManifest
@testable import DarkroomPicture

struct ManifestReaderTests {
    private static let galaxy = Manifest.Image(
        name: "galaxy", origin: .source("https://example.org/galaxy.png"),
        filters: [.sepia(intensity: 0.8)])

    /// Each says the same in another way.
    static let ways: [(ManifestFormat, String)] = [
        (.json, #"{"images": ["https://example.org/galaxy.png"]}"#),
        (.json, #"{"images": {"galaxy": "https://example.org/galaxy.png"}}"#),
        (.json, #"{"images": {"galaxy": {"source": "https://example.org/galaxy.png"}}}"#),
        (
            .json,
            #"{"images": [{"name": "galaxy", "source": "https://example.org/galaxy.png"}]}"#
        ),
        (.json, #"{"images": [{"source": "https://example.org/galaxy.png"}]}"#),
        (.json, "\u{FEFF}{\"images\": [\"https:\\/\\/example.org\\u002fgalaxy.png\"]}\r\n"),
        (.yaml, "images:\n- https://example.org/galaxy.png\n"),
        (.yaml, "\u{FEFF}images: {galaxy: 'https://example.org/galaxy.png'}"),
        (
            .yaml,
            "%YAML 1.2\n---\nimages:\n  - name: galaxy\n    source: https://example.org/galaxy.png\n...\n"
        ),
        (
            .plist,
            xml("<dict><key>galaxy</key><string>https://example.org/galaxy.png</string></dict>")
        ),
        (
            .plist,
            xml(
                "<dict><key>images</key><array><string>https://example.org/galaxy.png</string></array></dict>"
            )
        ),
    ]

    @Test(arguments: ways)
    func readsOneImage(format: ManifestFormat, text: String) throws {
        #expect(
            try read(text, format) == Manifest(images: [Self.galaxy], usesDefaultFilters: true))
    }

    /// The manifest's `output`, an image's, and what that makes for the image.
    static let outputs: [(String, String, OutputOptions)] = [
        ("{}", "{}", OutputOptions()),
        (#"{"compression": "small"}"#, "{}", OutputOptions(compression: .small)),
        ("{}", #"{"compression": "fast"}"#, OutputOptions(compression: .fast)),
        (
            #"{"format": "jpeg", "quality": 70, "progressive": true}"#, "{}",
            OutputOptions(format: .jpeg, quality: 70, progressive: true)
        ),
        (
            #"{"format": "jpeg", "quality": 70, "progressive": true}"#, #"{"quality": 100.0}"#,
            OutputOptions(format: .jpeg, quality: 100, progressive: true)
        ),
        (
            #"{"exif": true}"#, #"{"format": "jpeg"}"#,
            OutputOptions(format: .jpeg, metadata: .exifCopy)
        ),
        (#"{"exif": true}"#, #"{"exif": false}"#, OutputOptions()),
        (#"{"metadata": "all"}"#, #"{"exif": false}"#, OutputOptions()),
        (#"{"metadata": "all"}"#, #"{"exif": true}"#, OutputOptions(metadata: .exifCopy)),
        (
            #"{"exif": true}"#, #"{"metadata": ["copyright", "-gps"]}"#,
            OutputOptions(metadata: MetadataChoice([.copyright], keepsPlaces: false))
        ),
        (#"{"metadata": ["xmp"]}"#, "{}", OutputOptions(metadata: MetadataChoice([.xmp]))),
        (#"{"metadata": ["xmp"]}"#, #"{"metadata": "none"}"#, OutputOptions()),
        (
            #"{"format": "jpeg", "maxBytes": "200KiB"}"#, #"{"target": {"ssim": 0.98}}"#,
            OutputOptions(format: .jpeg, maxBytes: 204_800, ssim: 0.98)
        ),
        (
            #"{"format": "webp", "maxBytes": 5e3}"#, #"{"maxBytes": "1.5 MiB"}"#,
            OutputOptions(format: .webp, maxBytes: 1_572_864)
        ),
        // What does not fit the image's own format, or has no loss, is of no consequence.
        (
            #"{"format": "webp", "maxBytes": 5000}"#, #"{"lossless": true}"#,
            OutputOptions(format: .webp, lossless: true, maxBytes: 5000)
        ),
        (
            #"{"format": "jpeg", "quality": 70}"#, #"{"format": "png", "compression": "small"}"#,
            OutputOptions(format: .png, quality: 70, compression: .small)
        ),
        (
            #"{"compression": "fast"}"#, #"{"format": "jpeg", "quality": 1}"#,
            OutputOptions(format: .jpeg, quality: 1, compression: .fast)
        ),
    ]

    @Test(arguments: outputs)
    func outputsAreReplacedKeyByKey(
        defaultValue: String, own: String, options: OutputOptions
    ) throws {
        let text = #"{"output": \#(defaultValue), "images": [{"source": "a", "output": \#(own)}]}"#
        #expect(try read(text).images[0].output == options)
    }

    @Test func outputsAreNamedAfterTheirFormats() throws {
        let text = """
            images:
              plain: a
              kept.PNG: b
              photo: {source: c, output: &jpeg {format: jpeg}}
              kept.jpg: {source: d, output: *jpeg}
              kept.JPEG: {source: e, output: *jpeg}
              kept.png: {from: kept.jpg, output: *jpeg}
              other.jpg: {from: photo, autoOrient: false}
            """
        let manifest = try read(text, .yaml)
        #expect(
            manifest.images.map(\.outputFile) == [
                "plain.png", "kept.PNG", "photo.jpg", "kept.jpg", "kept.JPEG", "kept.png.jpg",
                "other.jpg.png",
            ])
        #expect(manifest.images[5].origin == .image(3) && manifest.images[6].origin == .image(2))
        #expect(manifest.images.map(\.autoOrient) == Array(repeating: true, count: 6) + [false])
        let all = try read(
            #"{"autoOrient": false, "images": ["a", {"source": "b", "autoOrient": true}]}"#)
        #expect(all.images.map(\.autoOrient) == [false, true])
        let pages = try read(
            #"{"images": [{"source": "a", "page": 3, "variants": [{"suffix": "-x"}]}, "b"]}"#)
        #expect(pages.images.map(\.page) == [3, nil])
        #expect(pages.images.map { $0.steps(within: PictureLimits()).page } == [3, nil])
    }

    /// Damaged pictures fail unless they are to be kept, and warnings are errors where the manifest says so.
    @Test func readsWhatFails() throws {
        let own = #""damaged": "keep", "strict": true"#
        let variants = #""variants": [{"suffix": "-s"}, {"suffix": "-l"}]"#
        let images = try read(
            #"{"images": ["a", {"source": "b", \#(own)}, {"source": "c", \#(own), \#(variants)}]}"#
        ).images
        #expect(images.map(\.damaged) == [.fail, .keep, .keep, .keep])
        #expect(images.map(\.isStrict) == [false, true, true, true])
        let all = try read(
            #"{\#(own), "images": ["a", {"source": "b", "damaged": "fail", "strict": false}]}"#
        ).images
        #expect(all.map(\.damaged) == [.keep, .fail])
        #expect(all.map(\.isStrict) == [true, false])
    }

    /// Names taken from sources make way for each other whatever their formats.
    @Test func derivedNamesAreUnlikeInAllFormats() throws {
        let text = """
            {"images": [
                "x/a.jpg", {"source": "y/a.jpg", "output": {"format": "jpeg"}},
                {"name": "b.jpg", "source": "c", "output": {"format": "jpeg"}},
                {"source": "z/b.jpg", "output": {"format": "jpeg"}}
            ]}
            """
        #expect(
            try read(text).images.map(\.outputFile) == ["a.png", "a-2.jpg", "b.jpg", "b-2.jpg"])
    }

    @Test func readsEverythingAtOnce() throws {
        let text = """
            {
              "priority": "veryHigh", "qualityOfService": "userInitiated",
              "filters": ["mono", {"blur": {"sigma": 2}}],
              "images": [
                "a/one.png",
                {"name": "two", "from": "one", "after": ["three", "one", "three"], "filters": []},
                {"name": "three", "source": "c.jpg",
                 "filters": [{"resize": {"width": 800.0, "withoutEnlargement": true}}, "flip"]}
              ]
            }
            """
        let defaultValue: [Filter] = [.mono, .blur(sigma: 2)]
        let resize = Filter.Resize(width: 800, withoutEnlargement: true)
        #expect(
            try read(text)
                == Manifest(
                    images: [
                        .init(name: "one", origin: .source("a/one.png"), filters: defaultValue),
                        .init(name: "two", origin: .image(0), after: [2]),
                        .init(
                            name: "three", origin: .source("c.jpg"),
                            filters: [.resize(resize), .flip]),
                    ], priority: .veryHigh, qualityOfService: .userInitiated))
    }

    /// Filters as a JSON list, and what is made of them.
    static let filterLists: [(String, [Filter])] = [
        (#"["mono"]"#, [.mono]),
        (#"[{"mono": null}, {"mono": {}}]"#, [.mono, .mono]),
        (#"["sepia"]"#, [.sepia(intensity: 1)]),
        (#"[{"sepia": {"intensity": 0}}]"#, [.sepia(intensity: 0)]),
        (#"[{"sepia": {"intensity": 1e-1}}]"#, [.sepia(intensity: 0.1)]),
        (#"[{"hueRotate": {"angle": -90}}]"#, [.hueRotate(angle: -90)]),
        (#"[{"rotate": {"angle": 2.7e2}}]"#, [.rotate(.threeQuarters)]),
        (
            #"[{"crop": {"x": 0, "y": 1, "width": 2, "height": 3}}]"#,
            [.crop(.rectangle(x: 0, y: 1, width: 2, height: 3))]
        ),
        (
            #"[{"crop": {"gravity": "southeast", "width": 2, "height": 3}}]"#,
            [.crop(.gravity(.southeast, width: 2, height: 3))]
        ),
        (
            ##"[{"resize": {"height": 5, "fit": "contain", "background": "#fff"}}]"##,
            [
                .resize(
                    .init(
                        height: 5, fit: .contain,
                        background: Colour(red: 255, green: 255, blue: 255)))
            ]
        ),
        (
            #"[{"sharpen": {"threshold": 0.5}}]"#,
            [.sharpen(sigma: 1, amount: 1, threshold: 0.5)]
        ),
        ("[]", []),
    ]

    @Test(arguments: filterLists)
    func readsFilters(list: String, expected: [Filter]) throws {
        let manifest = try read(#"{"images": [{"source": "a.png", "filters": \#(list)}]}"#)
        #expect(manifest.images.first?.filters == expected)
        // YAML is a superset of JSON, and the configuration's list goes the same way.
        #expect(try FilterList.read(yaml: Array(list.utf8)) == expected)
    }

    @Test func takesTheConfigurationsFiltersOnlyWhereThereAreNoOthers() throws {
        let images = #""images": [{"source": "a"}, {"source": "b", "filters": ["flop"]}]"#
        #expect(
            try read("{\(images)}").images.map(\.filters) == [[.sepia(intensity: 0.8)], [.flop]])
        #expect(
            try read(#"{"filters": ["flip"], \#(images)}"#).images.map(\.filters)
                == [[.flip], [.flop]])
        #expect(try read(#"{"filters": [], \#(images)}"#).images.map(\.filters) == [[], [.flop]])
    }

    @Test func sharesOneListOfFilters() throws {
        let text = "images:\n- {source: a, filters: &f [mono, flip]}\n- {source: b, filters: *f}\n"
        let images = try read(text, .yaml).images
        let addresses = images.map { image in image.filters.withUnsafeBufferPointer(\.baseAddress) }
        #expect(images.map(\.filters) == [[.mono, .flip], [.mono, .flip]])
        #expect(addresses[0] == addresses[1])
    }
}
