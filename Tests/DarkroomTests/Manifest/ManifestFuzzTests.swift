import Foundation
import TestPictures
import Testing

@testable import DarkroomManifest

/// Good manifests with some bytes changed: they are read or rejected, and nothing else happens.
struct ManifestFuzzTests {
    private static let json = """
        {"priority": "high", "filters": ["mono", {"sepia": {"intensity": 0.5}}], "images": [
          "https://example.org/a%20b.png?x#y", {"name": "é\\ud83d\\ude00", "from": "a b", "after": []},
          {"name": "c", "source": "c.jpg", "filters": [{"resize": {"width": 8e2, "fit": "fill"}}]}]}
        """
    private static let yaml = """
        %YAML 1.2
        ---
        priority: high  # at once
        filters: &f [mono, {sepia: {intensity: 0.5}}]
        images:
          a: &a {source: "https://example.org/\\u00e9.png", filters: *f}
          b: {<<: [*a, {after: [a]}], filters: !!seq []}
          'c d':
            source: |-
              c.jpg
            filters:
            - resize: {width: 800, fit: fill}
            - rotate:
                angle: 90
        """
    private static let plist = xml(
        """
        <dict><!-- c --><key>priority</key><string>high</string>
        <key>filters</key><array><dict><key>sepia</key><dict><key>intensity</key><real>0.5</real>
        </dict></dict></array><key>images</key><dict><key>a&amp;b</key><string>x&#38;.png</string>
        <key>c</key><dict><key>from</key><string><![CDATA[a&b]]></string></dict></dict></dict>
        """)

    private static func seeds() throws -> [(ManifestFormat, [UInt8])] {
        let list = try PropertyListSerialization.propertyList(from: Data(plist.utf8), format: nil)
        let binary = try PropertyListSerialization.data(
            fromPropertyList: list, format: .binary, options: 0)
        return [
            (.json, Array(json.utf8)), (.yaml, Array(yaml.utf8)), (.plist, Array(plist.utf8)),
            (.plist, Array(binary)),
        ]
    }

    @Test(arguments: 0..<4)
    func survivesChanges(seed: Int) throws {
        let (format, bytes) = try Self.seeds()[seed]
        #expect(problems(bytes, format).isEmpty)
        var generator = SplitMix64(seed: UInt64(seed) + 1)
        var accepted = 0
        for _ in 0..<5000 {
            var changed = bytes
            for _ in 0...Int.random(in: 0..<4, using: &generator) {
                Self.change(&changed, using: &generator)
            }
            let found = problems(changed, format, limits: ManifestLimits(images: 100))
            accepted += found.isEmpty ? 1 : 0
            #expect(
                found.allSatisfy { ProblemCode(rawValue: $0.code) != nil && !$0.message.isEmpty })
        }
        // Some changes do no harm, and most do.
        #expect((1..<4500).contains(accepted))
    }

    private static func change(_ bytes: inout [UInt8], using generator: inout SplitMix64) {
        guard let index = bytes.indices.randomElement(using: &generator) else { return }
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes[index] ^= 1 << Int.random(in: 0..<8, using: &generator)
        case 2: bytes.remove(at: index)
        case 3: bytes.insert(bytes.randomElement(using: &generator) ?? 0, at: index)
        case 4: bytes.removeSubrange(index..<min(bytes.count, index + 20))
        default:
            let other = Int.random(in: 0..<bytes.count, using: &generator)
            bytes.insert(contentsOf: bytes[other..<min(bytes.count, other + 20)], at: index)
        }
    }
}
