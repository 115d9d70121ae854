import Testing

@testable import Darkroom

@Suite struct ManifestReaderTests {
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
        #expect(try read(text, format) == Manifest(images: [Self.galaxy]))
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
        let standard: [Filter] = [.mono, .blur(sigma: 2)]
        let resize = Filter.Resize(width: 800, withoutEnlargement: true)
        #expect(
            try read(text)
                == Manifest(
                    images: [
                        .init(name: "one", origin: .source("a/one.png"), filters: standard),
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
