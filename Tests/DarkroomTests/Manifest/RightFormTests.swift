import Testing

@testable import DarkroomBatch
@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomPicture

/// What is refused for its form is shown in the form that is right.
@Suite struct RightFormTests {
    /// A manifest, and the end of what is said of it.
    static let manifests: [(ManifestFormat, String, String)] = [
        (.yaml, "images: [a]\noutput: {format: jpg}", "found ‘jpg’; write ‘format: jpeg’"),
        (
            .json, #"{"images": ["a"], "output": {"format": "jpg"}}"#,
            #"found ‘jpg’; write ‘"format": "jpeg"’"#
        ),
        (
            .plist,
            xml(
                "<dict><key>images</key><array><string>a</string></array><key>output</key><dict>"
                    + "<key>format</key><string>jpg</string></dict></dict>"),
            "found ‘jpg’; write ‘<key>format</key> <string>jpeg</string>’"
        ),
        (.yaml, "images: [a]\noutput: jpg", "found text; write ‘output: {format: jpeg}’"),
        (.yaml, "images: [a]\noutput: png", "found text; write ‘output: {format: png}’"),
        (.yaml, "images: [a]\noutput: []", "found a list; write ‘output: {format: jpeg}’"),
        (.yaml, "images: [a]\npriority: hi", "high or veryHigh, found ‘hi’"),
        (.yaml, "images: [a]\npriority: hgih", "found ‘hgih’; write ‘priority: high’"),
        (.yaml, "images: [a]\npriority: [high]", "found a list; write ‘priority: veryLow’"),

        (
            .yaml, "images: [a]\nfilters: mono",
            "must be a list, found text; write ‘filters: [mono]’"
        ),
        (.json, #"{"images": ["a"], "filters": "mono"}"#, #"; write ‘"filters": ["mono"]’"#),
        (
            .plist,
            xml(
                "<dict><key>images</key><array><string>a</string></array><key>filters</key>"
                    + "<string>mono</string></dict>"),
            "; write ‘<key>filters</key> <array><string>mono</string></array>’"
        ),
        (.yaml, "images: [a]\nfilters: momo", "found text; write ‘filters: [mono]’"),
        (.yaml, "images: [a]\nfilters: resize", "; write ‘filters: [{resize: {width: 100}}]’"),
        (.yaml, "images: [a]\nfilters: blur", "; write ‘filters: [{blur: {sigma: 1}}]’"),
        (.yaml, "images: [a]\nfilters: 3", "found a number; write ‘filters: [mono]’"),
        (.yaml, "images: [a]\nfilters: {mono: }", "found a map; write ‘filters: [mono]’"),
        (
            .yaml, "images: [a]\nfilters: {resize: {width: 800}}",
            "found a map; write ‘filters: [{resize: {width: 800}}]’"
        ),
        (
            .yaml, "images: [a]\nfilters: {resize: 800}",
            "found a map; write ‘filters: [{resize: {width: 800}}]’"
        ),
        (.yaml, "images: [a]\nfilters: [[]]", "found a list; write ‘mono’"),
        (
            .yaml, "images: [a]\nfilters:\n- sepia:\n  intensity: 0.5",
            "found 2 keys; write ‘{sepia: {intensity: 0.5}}’"
        ),

        (
            .yaml, "images: [a]\nfilters: [{resize: 800}]",
            "found a number; write ‘resize: {width: 800}’"
        ),
        (
            .json, #"{"images": ["a"], "filters": [{"resize": 800}]}"#,
            #"; write ‘"resize": {"width": 800}’"#
        ),
        (.yaml, "images: [a]\nfilters: [{resize: 800x600}]", "; write ‘resize: {width: 100}’"),
        (.yaml, "images: [a]\nfilters: [{thumbnail: 200}]", "; write ‘thumbnail: {size: 200}’"),
        (.yaml, "images: [a]\nfilters: [{sepia: 0.8}]", "; write ‘sepia: {intensity: 0.8}’"),
        (.yaml, "images: [a]\nfilters: [{rotate: 90}]", "; write ‘rotate: {angle: 90}’"),
        (
            .yaml, "images: [a]\nfilters: [{flatten: \"#fff\"}]",
            "; write ‘flatten: {background: \"#fff\"}’"
        ),
        (.yaml, "images: [a]\nfilters: [{watermark: logo}]", "; write ‘watermark: {from: logo}’"),
        (.yaml, "images: [a]\nfilters: [{mono: true}]", "found true or false; write ‘mono: {}’"),
        (
            .yaml, "images: [a]\nfilters: [{resize: {width: 8, withoutEnlargement: yes}}]",
            "found text; write ‘withoutEnlargement: true’"
        ),
        (
            .yaml, "images: [a]\nfilters: [{resize: {width: \"800\"}}]",
            "1000000, found text; write ‘width: 800’"
        ),
        (
            .yaml, "images: [a]\nfilters: [{resize: {width: 8, fit: coverr}}]",
            "; write ‘fit: cover’"
        ),

        (.yaml, "images: a.png", "found text; write ‘images: [a.png]’"),
        (.yaml, "images: https://u:p@h/a.png?t", "found text; write ‘images: [photo.png]’"),
        (.yaml, "images: 3", "found a number; write ‘images: [photo.png]’"),
        (.yaml, "[a.png]", "must be a map, found a list; write ‘{images: [photo.png]}’"),
        (.yaml, "images: [[a.png]]", "found a list; write ‘photo.png’"),
        (.json, #"{"images": {"a": 1}}"#, #"found a number; write ‘"a": "photo.png"’"#),
        (.json, #"{"images": {"a b": 1}}"#, #"found a number; write ‘"photo.png"’"#),
        (.json, #"{"images": [{"name": 7, "source": "a"}]}"#, #"; write ‘"name": "7"’"#),
        (.yaml, "images: [{source: a, after: b}, {name: b, source: b}]", "; write ‘after: [b]’"),
        (.yaml, "images: [{source: a, autoOrient: no}]", "; write ‘autoOrient: false’"),
        (.yaml, "images: [{source: a, autoOrient: 1}]", "; write ‘autoOrient: true’"),
        (
            .json, #"{"images": ["a"], "output": {"format": "jpeg", "quality": "90"}}"#,
            #"found text; write ‘"quality": 90’"#
        ),
        (
            .json, #"{"images": ["a"], "output": {"format": "jpeg", "quality": "best"}}"#,
            #"found text; write ‘"quality": 85’"#
        ),
    ]

    @Test(arguments: manifests.indices)
    func showsWhatToWrite(row: Int) {
        let (format, text, end) = Self.manifests[row]
        let found = problems(text, format)
        #expect(found.count == 1, "\(text): \(found)")
        #expect(found.first?.message.hasSuffix(end) == true, "\(found.first?.message ?? "")")
    }

    /// Whatever stands in place of a filter's parameters, what is shown makes a filter.
    @Test(
        arguments: FilterCatalog.all.map(\.name),
        ["3", "0.5", "800", "90", "-7", "true", "white", "southeast", "[1]", "\"\"", "logo"])
    func whatIsShownMakesAFilter(name: String, value: String) throws {
        let found = problems("images: [a]\nfilters: [{\(name): \(value)}]", .yaml)
        let message = try #require(found.first).message
        let form = try #require(message.split(separator: "write ‘").last).dropLast()
        let logo = "images: {logo: {source: a, filters: []}, "
        let shown = problems(logo + "b: {source: b, filters: [{\(form)}]}}", .yaml)
        let mayBeMissing = shown.allSatisfy { $0.code == "unknown-image" }
        #expect(mayBeMissing, "\(form): \(shown)")
    }

    @Test(arguments: FilterCatalog.all.map(\.name))
    func aNameAloneIsShownAsAFilter(name: String) throws {
        let found = problems("images: [a]\nfilters: \(name)", .yaml)
        let message = try #require(found.first).message
        let form = try #require(message.split(separator: "write ‘").last).dropLast()
        let shown = problems(
            "images: {logo: {source: a, filters: []}, b: {source: b, \(form)}}", .yaml)
        #expect(shown == [], "\(form)")
    }
}
