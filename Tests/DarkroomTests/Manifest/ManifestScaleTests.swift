import Testing

@testable import DarkroomManifest
@testable import DarkroomPicture

/// Manifests of 100,000 images: what is quadratic or recurses does not come to an end here.
struct ManifestScaleTests {
    private static let count = 100_000
    private static let filters: [Filter] = [.sepia(intensity: 0.5), .flip]

    private static func expect(_ manifest: Manifest) {
        #expect(manifest.images.count == count)
        for index in [0, 1, 54_321, count - 1] {
            #expect(
                manifest.images[index]
                    == Manifest.Image(
                        name: "image-\(index)", origin: .source("https://example.org/\(index).png"),
                        filters: filters))
        }
    }

    @Test func readsJSON() throws {
        var text = #"{"filters": [{"sepia": {"intensity": 0.5}}, "flip"], "images": ["#
        for index in 0..<Self.count {
            text += index == 0 ? "\n" : ",\n"
            text += #"{"name": "image-\#(index)", "source": "https://example.org/\#(index).png"}"#
        }
        text += "]}"
        Self.expect(try read(text))
    }

    @Test func readsYAML() throws {
        var text = "filters:\n- sepia: {intensity: 0.5}\n- flip\nimages:\n"
        for index in 0..<Self.count {
            text += "- name: image-\(index)\n  source: https://example.org/\(index).png\n"
        }
        Self.expect(try read(text, .yaml))
    }

    @Test func readsYAMLWithAliases() throws {
        var text = "filters: &f [{sepia: {intensity: 0.5}}, flip]\nimages:\n"
        for index in 0..<Self.count {
            text +=
                "  image-\(index): {source: \"https://example.org/\(index).png\", filters: *f}\n"
        }
        Self.expect(try read(text, .yaml))
    }

    @Test func readsAPropertyList() throws {
        // By their bytes, names of one length are in the order of their numbers.
        var text = "<dict>"
        for index in 100_000..<200_000 {
            text += "<key>\(index)</key><string>https://example.org/\(index).png</string>\n"
        }
        let images = try read(xml(text + "</dict>"), .plist).images
        #expect(images.count == Self.count)
        #expect(images[54_321].name == "154321")
        #expect(images[54_321].origin == .source("https://example.org/154321.png"))
    }

    /// Each image waits for the next, the first thus for all.
    @Test func followsALongChain() throws {
        let images = (0..<Self.count - 1).map { #""\#($0)": {"from": "\#($0 + 1)"}"# }
        let text = "{\"images\": {" + images.joined(separator: ",") + ", \"99999\": \"a.png\"}}"
        let manifest = try read(text)
        #expect(
            manifest.images.map(\.origin).dropLast() == (1..<Self.count).map { .image($0) }[...])
        #expect(manifest.images.last?.origin == .source("a.png"))
    }

    @Test func findsALongCycle() {
        let images = (0..<Self.count).map { #""\#($0)": {"from": "\#(($0 + 1) % Self.count)"}"# }
        let found = problems("{\"images\": {" + images.joined(separator: ",") + "}}")
        #expect(found.map(\.code) == ["cycle"])
        #expect(found.first?.path == "images.99999.from")
        #expect(
            found.first?.message
                == "images that wait for each other: "
                + (0..<8).map { "‘\($0)’ → " }.joined() + "… (100000 images) → ‘0’")
    }

    @Test func namesManySourcesOfOneName() throws {
        let images = (0..<Self.count).map { "\"\($0)/a.png\"" }
        let names = try read("{\"images\": [" + images.joined(separator: ",") + "]}").images.map(
            \.name)
        #expect(names.first == "a")
        #expect(names.last == "a-100000")
        #expect(Set(names).count == Self.count)
    }

    @Test func tellsManyUnknownNames() {
        let images = (0..<Self.count).map {
            #"{"name": "image-\#($0)", "source": "a", "after": ["imgae-\#($0)"]}"#
        }
        let found = problems("{\"images\": [" + images.joined(separator: ",\n") + "]}")
        #expect(found.count == 101)
        #expect(found.first?.suggestion == "image-0")
        #expect(found.last?.message == "99900 further problems")
    }
}
