import Testing

@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomPicture

/// What is refused for its form is shown in the form that is right.
struct RightFormTests {
    /// A manifest in YAML, and the end of what is said of it.
    private static let yaml = pairs(
        #"""
        images: [a]\noutput: {format: jpge} ⇒ found ‘jpge’; write ‘format: jpeg’
        images: [a]\noutput: jpge
            ‘output’ must be png, jpeg, webp, avif, tiff, jxl or source, or a map, found ‘jpge’; write ‘output: jpeg’
        images: [a]\noutput: false ⇒ found ‘false’; for no file, write ‘publish: false’ instead
        images: [a]\noutput: heic ⇒ found ‘heic’; darkroom does not write HEIC
        images: [a]\noutput: {format: Gif} ⇒ found ‘Gif’; darkroom does not write GIF
        images: [a]\noutput: best
            ‘output’ must be png, jpeg, webp, avif, tiff, jxl or source, or a map, found ‘best’
        images: [a]\noutput: PNG ⇒ found ‘PNG’; write ‘output: png’
        images: [a]\noutput: [] ⇒ found a list; write ‘output: {format: jpeg}’
        images: [a]\npriority: hi ⇒ high or veryHigh, found ‘hi’
        images: [a]\npriority: hgih ⇒ found ‘hgih’; write ‘priority: high’
        images: [a]\npriority: [high] ⇒ found a list; write ‘priority: high’
        images: [a]\nfilters: monu ⇒ must be a list, found text; write ‘filters: [mono]’
        // A map with one key is a filter, also if its name is misspelt.
        images: [a]\nfilters: {thumbnial: 200} ⇒ unknown filter ‘thumbnial’
        images: [a]\nfilters: momo ⇒ found text; write ‘filters: [mono]’
        images: [a]\nfilters: resize ⇒ ; write ‘filters: [{resize: {width: PIXELS}}]’
        images: [a]\nfilters: blur ⇒ ; write ‘filters: [{blur: {sigma: NUMBER}}]’
        images: [a]\nfilters: 3 ⇒ found a number; write ‘filters: [FILTER]’
        images: [a]\nfilters: {momo: } ⇒ found a map; write ‘filters: [mono]’
        images: [a]\nfilters: {rezise: {width: 800}} ⇒ unknown filter ‘rezise’
        images: [a]\nfilters: [[]] ⇒ found a list; write ‘FILTER’
        images: [a]\nfilters:\n- sepia:\n  intensity: 0.5
            found 2 keys; write ‘{sepia: {intensity: 0.5}}’
        images: [a]\nfilters: [{resize: 800px}] ⇒ found text; write ‘resize: {width: 800}’
        images: [a]\nfilters: [{resize: 800 × 600}] ⇒ ; write ‘resize: {width: 800, height: 600}’
        images: [a]\nfilters: [{thumbnail: 200 px}] ⇒ ; write ‘thumbnail: {size: 200}’
        // A size, and not a hexadecimal number.
        images: [a]\nfilters: [{resize: 0x10}, mono]
            ‘width’ must be an integer from 1 to 1000000, found 0
        images: [a]\nfilters: [{rotate: 90°}] ⇒ ; write ‘rotate: {angle: 90}’
        images: [a]\nfilters: [{flatten: red}] ⇒ ; write ‘flatten: "#ff0000"’
        images: [a]\nfilters: [{mono: true}] ⇒ found true or false; write ‘mono: {}’
        images: [a]\nfilters: [{resize: {width: 8, withoutEnlargement: yes}}]
            found text; write ‘withoutEnlargement: true’
        images: [a]\nfilters: [{resize: {width: "800"}}] ⇒ 1000000, found text; write ‘width: 800’
        images: [a]\nfilters: [{resize: {width: 8, fit: coverr}}] ⇒ ; write ‘fit: cover’
        images: a.png ⇒ found text; write ‘images: [a.png]’
        images: https://u:p@h/a.png?t ⇒ found text; write ‘images: [photo.png]’
        images: 3 ⇒ found a number; write ‘images: [photo.png]’
        [a.png] ⇒ must be a map, found a list; write ‘{images: [photo.png]}’
        images: [[a.png]] ⇒ found a list; write ‘photo.png’
        images: [{source: a, after: b}, {name: b, source: b}] ⇒ ; write ‘after: [b]’
        images: [{source: a, autoOrient: no}] ⇒ ; write ‘autoOrient: false’
        images: [{source: a, autoOrient: 1}] ⇒ ; write ‘autoOrient: true’
        images: [{source: a, publish: no}] ⇒ ; write ‘publish: false’
        images: {a: {source: a, filters: [{overlay: {from: b, scale: 20%}}]}, b: b}
            found text; write ‘scale: 0.2’
        images: {a: {source: a, filters: [{overlay: {from: b, scale: 2}}]}, b: b}
            ‘scale’ must be from 0.001 to 1, found 2
        images: {a: {source: a, filters: [{overlay: {from: b, scale: half}}]}, b: b}
            found text; leave it out, or write ‘scale: NUMBER’
        """#, breaks: true)

    private static let json = pairs(
        #"""
        {"images": ["a"], "output": {"format": "jpe"}} ⇒ found ‘jpe’; write ‘"format": "jpeg"’
        {"images": ["a"], "filters": "monu"} ⇒ ; write ‘"filters": ["mono"]’
        {"images": ["a"], "filters": [{"resize": "800"}]} ⇒ ; write ‘"resize": {"width": 800}’
        {"images": {"a": 1}} ⇒ found a number; write ‘"a": "photo.png"’
        {"images": {"a b": 1}} ⇒ found a number; write ‘"photo.png"’
        {"images": [{"name": 7, "source": "a"}]} ⇒ ; write ‘"name": "7"’
        {"images": ["a"], "output": {"format": "jpeg", "quality": "90"}}
            found text; write ‘"quality": 90’
        {"images": ["a"], "output": {"format": "jpeg", "quality": "best"}}
            found text; leave it out, or write ‘"quality": NUMBER’
        """#)

    static let manifests: [(ManifestFormat, String, String)] =
        yaml.map { (.yaml, $0, $1) } + json.map { (.json, $0, $1) }
        + [
            (
                .plist,
                xml(
                    "<dict><key>images</key><array><string>a</string></array><key>output</key><dict>"
                        + "<key>format</key><string>jpe</string></dict></dict>"),
                "found ‘jpe’; write ‘<key>format</key> <string>jpeg</string>’"
            ),
            (
                .plist,
                xml(
                    "<dict><key>images</key><array><string>a</string></array><key>filters</key>"
                        + "<string>monu</string></dict>"),
                "; write ‘<key>filters</key> <array><string>mono</string></array>’"
            ),
        ]

    /// What was written for the filters of a manifest, and the end of what is said of it.
    static let filters: [(String, String)] = pairs(
        #"""
        [{resize: {width: "800px"}}] ⇒ found text; write ‘width: 800’
        [{resize: {width: 800 px}}] ⇒ found text; write ‘width: 800’
        [{resize: {width: wide}}] ⇒ found text; leave it out, or write ‘width: PIXELS’
        [{resize: {width: 8, height: auto}}] ⇒ found text; leave it out, or write ‘height: PIXELS’
        [{resize: {width: 8, height: }}] ⇒ found nothing; leave it out, or write ‘height: PIXELS’
        [{crop: {width: "0", height: 1, gravity: center}}] ⇒ found text; write ‘width: PIXELS’
        [{sepia: {intensity: 80%}}] ⇒ found text; write ‘intensity: 0.8’
        [{sepia: {intensity: strong}}] ⇒ found text; leave it out, or write ‘intensity: NUMBER’
        [{resize: {width: 50%}}] ⇒ found text; leave it out, or write ‘width: PIXELS’
        [{rotate: {angle: 90°}}] ⇒ found text; write ‘angle: 90’
        [{rotate: {angle: left}}] ⇒ found text; write ‘angle: DEGREES’
        [{resize: {width: 8, linear: maybe}}] ⇒ must be true or false, found text
        [{resize: "800"}] ⇒ found text; write ‘resize: {width: 800}’
        [{resize: 800 x 600 px}] ⇒ ; write ‘resize: {width: 800, height: 600}’
        [{resize: [800, 600]}] ⇒ found a list; write ‘resize: {width: 800, height: 600}’
        [{resize: large}] ⇒ ; write ‘resize: {width: PIXELS}’
        [{thumbnail: 200 x 100}] ⇒ ; write ‘thumbnail: {width: 200, height: 100}’
        [{crop: 200x100}] ⇒ ; write ‘crop: {width: 200, height: 100, gravity: center}’
        [{blur: "2"}] ⇒ ; write ‘blur: {sigma: 2}’
        [{sepia: "0.8"}] ⇒ ; write ‘sepia: {intensity: 0.8}’
        [{sepia: 80%}] ⇒ ; write ‘sepia: {intensity: 0.8}’
        [{flatten: transparent}] ⇒ ‘background’ of ‘flatten’ must be opaque
        mono, sepia ⇒ ; write ‘filters: [mono, sepia]’
        sepia, mono ⇒ ; write ‘filters: [sepia, mono]’
        sepia 0.8 ⇒ ; write ‘filters: [{sepia: {intensity: 0.8}}]’
        fancy ⇒ ; write ‘filters: [FILTER]’
        {resize: {width: "800"}, sepia: 0.8}
            ; write ‘filters: [{resize: {width: 800}}, {sepia: {intensity: 0.8}}]’
        {sepia: , intensity: 0.8} ⇒ ; write ‘filters: [{sepia: {intensity: 0.8}}]’
        [{resize: {width: 8}, sepia: 0.8}]
            ; write an item for each: ‘{resize: {width: 8}}’, ‘{sepia: {intensity: 0.8}}’
        [{name: sepia, intensity: 0.8}] ⇒ found 2 keys; write ‘{sepia: {intensity: 0.8}}’
        [{filter: sepia, intensity: 0.8}] ⇒ ; write ‘{sepia: {intensity: 0.8}}’
        [{name: resize, width: 800}] ⇒ ; write ‘{resize: {width: 800}}’
        [{name: resize, params: {width: 800}}] ⇒ ; write ‘{resize: {width: 800}}’
        [{name: sepia}] ⇒ found the key ‘name’; write ‘sepia’
        [{overlay: logo.png}]
            no image has the name ‘logo.png’; ‘from’ takes the name of another image of this manifest: add ‘{name: logo, source: logo.png, filters: []}’ to ‘images’ and write ‘from: logo’
        [{watermark: {from: logo.png}}]
            no image has the name ‘logo.png’; ‘from’ takes the name of another image of this manifest: add ‘{name: logo, source: logo.png, filters: []}’ to ‘images’ and write ‘from: logo’
        [sepia 0.8] ⇒ unknown filter ‘sepia 0.8’; write ‘{sepia: {intensity: 0.8}}’
        [{resize: {width: 8, fit: max}}] ⇒ found ‘max’; write ‘fit: inside’
        [{pad: {top: 8, background: red}}] ⇒ found ‘red’; write ‘background: "#ff0000"’
        """#)

    @Test(arguments: filters)
    func keepsWhatIsWritten(written: String, end: String) {
        let found = problems("images: [a]\nfilters: \(written)", .yaml)
        #expect(found.count == 1, "\(written): \(found)")
        #expect(found.first?.message.hasSuffix(end) == true, "\(found.first?.message ?? "")")
    }

    /// A map of images takes one more by its name.
    @Test func showsAnOverlaysImageAsTheImagesAre() {
        for filter in ["overlay: a/logo.png", "overlay: {from: a/logo.png}"] {
            let found = problems("images: {a: {source: a, filters: [{\(filter)}]}}", .yaml)
            let end =
                "add ‘logo: {source: a/logo.png, filters: []}’ to ‘images’ and write ‘from: logo’"
            #expect(found.first?.message.hasSuffix(end) == true, "\(found)")
        }
    }

    /// A mistake that shows only in a later line.
    @Test(arguments: [
        ("images:\n- a\ncomet\nfilters: []\n", ", in the part that begins at line 3"),
        ("images:\n- a: b: c\n", "; check the indentation of this line"),
    ])
    func saysWhereToLook(text: String, end: String) {
        let found = problems(text, .yaml)
        #expect(found.first?.message.hasSuffix(end) == true, "\(found)")
    }

    @Test(arguments: [
        ("images: [{url: a}]", "source"),
        ("images: [a]\nfilters: [{pad: {top: 1, color: red}}]", "background"),
        ("images: [a]\nfilters: [{resize: {width: 8, max: 8}}]", "width"),
        ("images: [a]\nfilters: [{watermark: {from: a, source: b}}]", "from"),
        ("images: [a]\nfilters: [bw]", "mono"),
        ("images: [a]\nfilters: {thumbnial: 200}", "thumbnail"),
        ("images: [a]\nfilters: {sepai: 0.8}", "sepia"),
    ])
    func suggestsWhatMeansTheSame(text: String, suggestion: String) {
        let found = problems(text, .yaml)
        #expect(found.contains { $0.suggestion == suggestion }, "\(found)")
    }

    /// A form with values in place of its placeholders.
    private static func filled(_ form: String) -> String {
        let values = [
            ("levels: NUMBER", "levels: 2"), ("PIXELS", "100"), ("NUMBER", "1"),
            ("DEGREES", "90"), ("COLOUR", "white"), ("NAME", "logo"), ("FILTER", "mono"),
        ]
        return values.reduce(form) { $0.replacing($1.0, with: $1.1) }
    }

    @Test(arguments: manifests)
    func showsWhatToWrite(format: ManifestFormat, text: String, end: String) {
        let found = problems(text, format)
        #expect(found.count == 1, "\(text): \(found)")
        #expect(found.first?.message.hasSuffix(end) == true, "\(found.first?.message ?? "")")
    }

    /// Whatever stands in place of a filter's parameters: it is a short form, or what is shown makes a filter. A value
    /// of the right type that is out of range has no other form.
    @Test(
        arguments: FilterCatalog.all.map(\.name),
        [
            "3", "0.5", "800", "90", "-7", "true", "white", "southeast", "[1]", "\"\"", "logo",
            "8x6", "80%",
        ])
    func whatIsShownMakesAFilter(name: String, value: String) throws {
        let found = problems("images: [a]\nfilters: [{\(name): \(value)}]", .yaml)
        guard let problem = found.first else { return }
        let message = problem.message
        if ["out-of-range", "unknown-image", "invalid-arguments"].contains(problem.code) { return }
        if !message.contains("write ‘"), problem.code == "unknown-value" { return }
        let form = Self.filled(
            String(try #require(message.split(separator: "write ‘").last).dropLast()))
        let logo = "images: {logo: {source: a, filters: []}, "
        let shown = problems(logo + "b: {source: b, filters: [{\(form)}]}}", .yaml)
        let mayBeMissing = shown.allSatisfy { $0.code == "unknown-image" }
        #expect(mayBeMissing, "\(form): \(shown)")
    }

    @Test(arguments: FilterCatalog.all.map(\.name))
    func aNameAloneIsShownAsAFilter(name: String) throws {
        let found = problems("images: [a]\nfilters: \(name)", .yaml)
        guard let message = found.first?.message else {
            #expect(FilterCatalog.specification(named: ByteString(name))?.standsAlone == true)
            return
        }
        let form = Self.filled(
            String(try #require(message.split(separator: "write ‘").last).dropLast()))
        let shown = problems(
            "images: {logo: {source: a, filters: []}, b: {source: b, \(form)}}", .yaml)
        #expect(shown == [], "\(form)")
    }
}
