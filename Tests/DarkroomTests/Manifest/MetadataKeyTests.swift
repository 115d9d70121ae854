import Testing

@testable import DarkroomManifest
@testable import DarkroomPicture

/// What is taken and what is refused as `output.metadata`.
struct MetadataKeyTests {
    private static let good = [
        #""none""#, #""all""#, #""copyright""#, #"["none"]"#, #"["all", "-gps"]"#,
        #"["-gps", "exif", "xmp"]"#, #"["copyright", "iptc"]"#,
    ]

    /// A value, and the message about it.
    private static let bad = pairs(
        #"""
        true ⇒ ‘metadata’ must be none, all, copyright, exif, iptc, xmp or -gps, found
        "some"
            ‘metadata’ must be none, all, copyright, exif, iptc, xmp or -gps, found ‘some’
        "-gps" ⇒ ‘metadata’ must say what is kept beside ‘-gps’
        ["-gps"] ⇒ ‘metadata’ must say what is kept beside ‘-gps’
        [] ⇒ ‘metadata’ must not be empty
        ["none", "exif"] ⇒ ‘metadata’ must not have other words beside ‘none’
        ["exif", "gps"] ⇒ each of ‘metadata’ must be
        "all", "exif": true ⇒ ‘metadata’ and ‘exif’ cannot stand together
        """#)

    private static func text(_ value: String) -> String {
        #"{"output": {"metadata": \#(value)}, "images": [{"source": "a"}]}"#
    }

    @Test(arguments: good) func isTaken(value: String) throws {
        #expect(problems(Self.text(value)).isEmpty)
    }

    @Test(arguments: bad) func isRefused(value: String, words: String) throws {
        let found = problems(Self.text(value))
        #expect(found.count == 1)
        #expect(found.first?.message.hasPrefix(words) == true, "\(found.map(\.message))")
    }
}
