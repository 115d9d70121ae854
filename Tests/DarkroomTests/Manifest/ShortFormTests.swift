import Testing

@testable import DarkroomManifest

/// Short forms mean the same as their long forms, in every notation.
struct ShortFormTests {
    /// The manifest's settings in JSON: in the short form, and in the long one.
    static let forms: [(String, String)] = pairs(
        #"""
        "output": "jpg" ⇒ "output": {"format": "jpeg"}
        "output": "jpeg" ⇒ "output": {"format": "jpeg"}
        "output": "png" ⇒ "output": {"format": "png"}
        "output": {"format": "jpg", "quality": 90} ⇒ "output": {"format": "jpeg", "quality": 90}
        "filters": "mono" ⇒ "filters": ["mono"]
        "filters": {"mono": null} ⇒ "filters": ["mono"]
        "filters": {"mono": {}} ⇒ "filters": ["mono"]
        "filters": {"resize": {"width": 800}} ⇒ "filters": [{"resize": {"width": 800}}]
        "filters": {"resize": 800} ⇒ "filters": [{"resize": {"width": 800}}]
        "filters": [{"resize": 800}] ⇒ "filters": [{"resize": {"width": 800}}]
        "filters": [{"resize": 800.0}] ⇒ "filters": [{"resize": {"width": 800}}]
        "filters": {"resize": "800x600"} ⇒ "filters": [{"resize": {"width": 800, "height": 600}}]
        "filters": ["mono", {"resize": "1x1000000"}]
            "filters": ["mono", {"resize": {"width": 1, "height": 1000000}}]
        "filters": [{"thumbnail": 200}] ⇒ "filters": [{"thumbnail": {"size": 200, "fit": "inside"}}]
        "filters": {"thumbnail": "200x100"}
            "filters": [{"thumbnail": {"width": 200, "height": 100, "fit": "inside"}}]
        "filters": [{"sepia": 0.8}] ⇒ "filters": [{"sepia": {"intensity": 0.8}}]
        "filters": [{"rotate": 90}] ⇒ "filters": [{"rotate": {"angle": 90}}]
        "filters": [{"posterize": 4}] ⇒ "filters": [{"posterize": {"levels": 4}}]
        "filters": {"blur": 2} ⇒ "filters": [{"blur": {"sigma": 2}}]
        "filters": {"flatten": "#fff"} ⇒ "filters": [{"flatten": {"background": "white"}}]
        "filters": {"watermark": "logo"} ⇒ "filters": [{"watermark": {"from": "logo"}}]
        "filters": [{"overlay": "logo"}] ⇒ "filters": [{"overlay": {"from": "logo"}}]
        """#)

    /// Settings that are refused, and what is said of them.
    static let refused: [(String, String)] = pairs(
        #"""
        "output": "gif" ⇒ 1:78 unknown-value output
        "output": "JPG" ⇒ 1:78 unknown-value output → jpeg
        "output": "" ⇒ 1:78 unknown-value output
        "filters": "resize" ⇒ 1:79 wrong-type filters
        "filters": "mnoo" ⇒ 1:79 wrong-type filters
        "filters": {} ⇒ 1:79 wrong-type filters
        "filters": {"mono": {}, "flip": {}} ⇒ 1:79 wrong-type filters
        "filters": {"solarize": 3} ⇒ 1:80 unknown-filter filters.solarize
        "filters": {"sepia": {"intensity": 2}} ⇒ 1:103 out-of-range filters.sepia.intensity
        "filters": {"sepia": 2} ⇒ 1:89 out-of-range filters.sepia
        "filters": [{"sepia": 2}] ⇒ 1:90 out-of-range filters[0].sepia
        "filters": [{"sepia": "0.8"}] ⇒ 1:90 wrong-type filters[0].sepia
        "filters": [{"sepia": true}] ⇒ 1:90 wrong-type filters[0].sepia
        "filters": [{"mono": 1}] ⇒ 1:89 wrong-type filters[0].mono
        "filters": [{"resize": 0}] ⇒ 1:91 out-of-range filters[0].resize
        "filters": [{"resize": 1.5}] ⇒ 1:91 out-of-range filters[0].resize
        "filters": [{"resize": "0x600"}] ⇒ 1:91 out-of-range filters[0].resize
        "filters": [{"resize": "800x1000001"}] ⇒ 1:91 out-of-range filters[0].resize
        "filters": [{"resize": "800"}] ⇒ 1:91 wrong-type filters[0].resize
        "filters": [{"resize": "800x"}] ⇒ 1:91 wrong-type filters[0].resize
        "filters": [{"resize": "x600"}] ⇒ 1:91 wrong-type filters[0].resize
        "filters": [{"resize": "800x600x2"}] ⇒ 1:91 wrong-type filters[0].resize
        "filters": [{"resize": "+8x6"}] ⇒ 1:91 wrong-type filters[0].resize
        "filters": [{"resize": "08x6"}] ⇒ 1:91 wrong-type filters[0].resize
        "filters": [{"resize": "99999999999999999999x6"}] ⇒ 1:91 wrong-type filters[0].resize
        "filters": [{"rotate": 45}] ⇒ 1:91 out-of-range filters[0].rotate
        "filters": [{"thumbnail": 0}] ⇒ 1:94 out-of-range filters[0].thumbnail
        "filters": [{"thumbnail": "200"}] ⇒ 1:94 wrong-type filters[0].thumbnail
        "filters": [{"sharpen": 2}] ⇒ 1:92 wrong-type filters[0].sharpen
        "filters": [{"pad": 8}] ⇒ 1:88 wrong-type filters[0].pad
        "filters": [{"crop": "8x6"}] ⇒ 1:89 wrong-type filters[0].crop
        "filters": [{"flatten": "red"}] ⇒ 1:92 unknown-value filters[0].flatten
        "filters": [{"flatten": "transparent"}] ⇒ 1:92 invalid-arguments filters[0].flatten
        "filters": [{"watermark": 7}] ⇒ 1:94 wrong-type filters[0].watermark
        "filters": [{"watermark": "lgo"}] ⇒ 1:94 unknown-image filters[0].watermark → logo
        "filters": [{"watermark": "a"}] ⇒ 1:94 cycle filters[0].watermark
        """#)

    static func manifest(_ settings: String) -> String {
        #"{"images": {"a": "a.png", "logo": {"source": "b", "filters": []}}, \#(settings)}"#
    }

    @Test(arguments: forms)
    func meansTheLongForm(short: String, long: String) throws {
        let expected = try read(Self.manifest(long))
        #expect(try read(Self.manifest(short)) == expected)
        // YAML is a superset of JSON.
        #expect(try read(Self.manifest(short), .yaml) == expected)
    }

    /// Without quotes, as people write YAML.
    @Test(arguments: [
        ("output: jpg", #""output": {"format": "jpeg"}"#),
        ("filters: mono", #""filters": ["mono"]"#),
        ("filters: {mono: }", #""filters": ["mono"]"#),
        ("filters:\n  resize: 800x600", #""filters": [{"resize": {"width": 800, "height": 600}}]"#),
        ("filters: [{sepia: .5}]", #""filters": [{"sepia": {"intensity": 0.5}}]"#),
        ("filters: [{overlay: logo}]", #""filters": [{"overlay": {"from": "logo"}}]"#),
    ]) func isReadInYAML(short: String, long: String) throws {
        let text = "images: {a: a.png, logo: {source: b, filters: []}}\n\(short)\n"
        #expect(try read(text, .yaml) == read(Self.manifest(long)))
    }

    @Test func isReadInAPropertyList() throws {
        let text = xml(
            """
            <dict><key>images</key><dict><key>a</key><string>a.png</string></dict>
            <key>filters</key><dict><key>resize</key><integer>800</integer></dict>
            <key>output</key><string>jpg</string></dict>
            """)
        #expect(
            try read(text, .plist)
                == read(
                    #"{"images": {"a": "a.png"}, "filters": [{"resize": {"width": 800}}], "output": {"format": "jpeg"}}"#
                ))
    }

    @Test(arguments: refused)
    func isRefused(form: String, problem: String) {
        #expect(problems(Self.manifest(form)).map(summary) == [problem])
    }

    /// An image's own settings have the same forms, and images that share a map by an alias share the filters.
    @Test func isReadInImages() throws {
        let text =
            "images:\n- {source: a, filters: &f {resize: 8}, output: jpg}\n- {source: b, filters: *f}\n"
        let images = try read(text, .yaml).images
        #expect(images.map(\.filters) == [[.resize(.init(width: 8))], [.resize(.init(width: 8))]])
        #expect(images.map(\.output.format) == [.jpeg, .png])
        let addresses = images.map { image in image.filters.withUnsafeBufferPointer(\.baseAddress) }
        #expect(addresses[0] == addresses[1])
    }

    /// The configuration's filters have the same forms.
    @Test func isReadInTheConfiguration() throws {
        #expect(try FilterList.read(yaml: Array("sepia: 0.5".utf8)) == [.sepia(intensity: 0.5)])
        #expect(try FilterList.read(yaml: Array("mono".utf8)) == [.mono])
    }
}
