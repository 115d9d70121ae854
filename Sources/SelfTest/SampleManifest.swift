import DarkroomCore
import DarkroomManifest

/// A manifest of the self-tests. It may be submitted many times, each time with another name, and must have the same
/// result each time.
package struct SampleManifest: Sendable {
    /// The beginning of its name. A full stop and a number follow.
    package let kind: String
    package let format: ManifestFormat
    package let text: String
    /// How many of its images are filtered and how many fail; nil if it is rejected.
    package let outcome: (filtered: Int, failed: Int)?
    /// Whether a cancellation follows it. Then any of its images may be cancelled.
    package var isCancelled = false
    package var hasPage: Bool { text.contains("\"page\": true") }
    /// Pictures that are submitted in one folder with it.
    package var pictures: [FileName] = []
    /// Whether it is larger than `limit`, so that its entry in the outbox has no copy of it.
    package var isTooLarge: Bool { text.utf8.count > Self.limit }

    package func name(_ number: Int) -> FileName {
        FileName(pictures.isEmpty ? "\(id(number)).\(format.rawValue)" : id(number))
    }

    package func id(_ number: Int) -> String { "\(kind).\(number)" }
}

extension SampleManifest {
    /// `manifests.maxBytes` of the tests' daemons.
    package static let limit = 100_000

    package static let tooLarge = SampleManifest(
        kind: "long", format: .yaml,
        text: String(repeating: "# nothing\n", count: limit / 10 + 1), outcome: nil)

    /// Images made from others whose outputs do not contain their exact pixels.
    package static let marked = SampleManifest(
        kind: "marked", format: .yaml,
        text: """
            images:
              mark: {source: alpha.png, output: {format: jpeg}}
              a: {source: large.png, filters: [{watermark: {from: mark}}]}
              b: {from: mark, filters: [flip], output: {format: jpeg}}
              c: {source: deep.png, filters: [{overlay: {from: b}}]}

            """,
        outcome: (4, 0))

    /// Pictures in a folder with the manifest: by a relative path, and by an absolute one that exists nowhere else.
    package static let folder = SampleManifest(
        kind: "folder", format: .json,
        text: #"{"images": {"a": "small.png", "b": "/nowhere/gray.png", "c": {"from": "a"}}}"#,
        outcome: (3, 0), pictures: ["small.png", "nowhere/gray.png"])

    /// Variants of images, which are filtered together. One fails for each image, and one waits for another.
    package static let sizes = SampleManifest(
        kind: "sizes", format: .yaml,
        text: """
            filters: [flop]
            variants:
              - {suffix: -30, filters: {resize: 30}}
              - {suffix: -20, filters: {resize: 20}, output: {format: jpeg}}
              - {suffix: -cut, filters: {crop: {x: 0, y: 0, width: 300, height: 300}}}
              - {suffix: "", filters: [mono, {overlay: small}]}
            images:
              large: large.png
              alpha: alpha.png
              small: {source: small.png, filters: {resize: 9}, variants: [{suffix: ""}]}
              again: {from: large-20, filters: [], variants: [{suffix: 1}, {suffix: 2, filters: invert}]}

            """,
        outcome: (9, 2))

    /// Outputs in folders, with names that depend on their bytes. Two images have the same one.
    package static let named = SampleManifest(
        kind: "named", format: .yaml,
        text: """
            output: {name: "{width}/{stem}-{sha8}.{ext}"}
            filters: []
            images:
              one: small.png
              two: small.png
              three: {source: gray.png, filters: [flip], output: {format: jpeg}}
              four: {from: one, filters: [mono], output: {name: "deep/er/{name}"}}

            """,
        outcome: (4, 0))

    /// One image, for tests in which every system call counts.
    package static let single = SampleManifest(
        kind: "single", format: .json, text: #"{"images": ["small.png"]}"#, outcome: (1, 0))

    /// Two images. One is made from the other.
    package static let pair = SampleManifest(
        kind: "pair", format: .json,
        text: #"{"images": {"a": "gray.png", "b": {"from": "a", "filters": ["invert"]}}}"#,
        outcome: (2, 0))

    /// A source with a user, a password and a query, which fails without a network: the answer has a redacted copy.
    package static let secret = SampleManifest(
        kind: "secret", format: .json,
        text: """
            {"images": {"a": "small.png",
             "b": "none://ann:\(password)@host/b.png?token=\(password)"}}

            """,
        outcome: (1, 1))
    package static let password = "top5ecret"

    /// The same in a folder with its picture.
    package static let secretFolder = SampleManifest(
        kind: "secret-folder", format: .json, text: secret.text, outcome: (1, 1),
        pictures: ["small.png"])

    package static let rejected = SampleManifest(
        kind: "صور", format: .json, text: #"{"images": ["small.png"], "prioritaet": "high"}"#,
        outcome: nil)

    /// Its work takes so long that a cancellation finds unfinished images.
    package static let cancelled = SampleManifest(
        kind: "stopped", format: .yaml,
        text: """
            filters: [{blur: {sigma: 3}}, {resize: {width: 200}}]
            images:
              one: large.png
              two: {from: one}
              three: {from: two}
              four: {source: large.png, after: [one]}
              five: {source: large.png, after: [four]}

            """,
        outcome: (5, 0), isCancelled: true)

    /// Some images fail, and fail again when they are retried. It gets a page, a new one for each retry.
    package static let failing = SampleManifest(
        kind: "größe", format: .json,
        text: """
            {"page": true, "images": {"good": "small.png", "missing": "nowhere.png", "words": "words.png",
             "cut": "cut.png", "orphan": {"from": "cut"},
             "late": {"source": "gray.png", "after": ["cut"]}}}

            """,
        outcome: (2, 4))

    /// All kinds: formats, chains, overlays, priorities, pictures that fail, names in several scripts.
    package static let all = [
        single, pair, rejected, tooLarge, cancelled, failing, folder, sizes, named, secret,
        secretFolder,
        SampleManifest(
            kind: "plain", format: .json,
            text: #"{"images": ["small.png", "alpha.png", "gray.png"]}"#, outcome: (3, 0)),
        SampleManifest(
            kind: "chain", format: .yaml,
            text: """
                images:
                  a: {source: small.png, filters: [mono]}
                  b: {from: a, filters: [{resize: {width: 20}}]}
                  c: {source: alpha.png, filters: [{overlay: {from: b}}, flip]}
                  d: {source: gray.png, after: [c], output: {format: jpeg}}

                """,
            outcome: (4, 0)),
        marked,
        SampleManifest(
            kind: "снимки", format: .yaml,
            text: """
                priority: veryHigh
                qualityOfService: userInitiated
                images:
                  глубина: {source: deep.png, filters: [{contrast: {amount: 1.4}}]}
                  даль: {source: large.png, filters: [{blur: {sigma: 2}}]}

                """,
            outcome: (2, 0)),
        SampleManifest(
            kind: "写真", format: .plist,
            text: """
                <?xml version="1.0" encoding="UTF-8"?>
                <plist version="1.0"><dict>
                <key>月</key><string>gray.png</string>
                <key>星</key><string>small.png</string>
                </dict></plist>

                """,
            outcome: (2, 0)),
        SampleManifest(
            kind: "wide", format: .json,
            text: """
                {"priority": "low", "filters": ["sepia"], "images": [
                \((0..<16).map { wideImage($0) }.joined(separator: ",\n"))]}

                """,
            outcome: (16, 0)),
    ]

    private static func wideImage(_ number: Int) -> String {
        let source = ["small.png", "gray.png", "alpha.png", "deep.png"][number % 4]
        let format = number % 3 == 0 ? "jpeg" : "png"
        return
            #"{"name": "w\#(number)", "source": "\#(source)", "output": {"format": "\#(format)"}}"#
    }
}
