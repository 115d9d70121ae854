import Testing

@testable import DarkroomSpool

struct ManifestSecrecyTests {
    /// Each form in which a user, a password or a query can stand in a manifest.
    @Test(arguments: [
        #"{"images": ["https://ann:pw@h/a.png"]}"#, #"{"images": ["https:\/\/h\/a.png?token=1"]}"#,
        "images: [https://h/a.png?token=1]", "images: [https://ann%40h:pw/a.png]",
        #"images: ["https://ann:pw\u0040h/a.png"]"#, #"images: ["https://h/a.png\x3ft=1"]"#,
        #"images: ["https://ann\U00000040h/a.png"]"#, "images: [\"https:/\\\n/ann@h/a\"]",
        "images: [\"https:/\\\r\n/ann@h/a\"]", "a: &u https://ann@h/a.png\nimages: [*u]",
        "<plist><string>https://ann&#64;h/a.png</string></plist>",
        "<plist><string>https:/<![CDATA[/ann@h/a.png]]></string></plist>",
        "images:\n  - ann@h: 1 # later: http://", "bplist00\0https",
        #"{"images": ["https://h/a.png#key"]}"#, "images: [https://ann:pw%2540h/a.png]",
        "images: [\"https:/\\\u{85}/ann@h/a\"]", "images: [\"http\\\u{2028}s:h\"]",
        "images: [\"http\\\u{2029}s:h\"]",
        "images: [https:/ann:pw@h/a.png]", "images: [HTTP:ann:pw@h/a.png]", "images: [s3:/ann@h/a]",
    ])
    func takesWhatMayBeASecretForOne(text: String) {
        #expect(ManifestSecrecy.of(Array(text.utf8)) == .perhaps)
    }

    @Test func takesOtherEncodingsForSecrets() {
        let wide = "images: [a.png]".utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        #expect(ManifestSecrecy.of(wide) == .perhaps)
    }

    @Test(arguments: [
        "", "\\", "&", "%", "/", "<", "images: [https://h/a%20b.png]", "images: [photo@2x.png]",
        "{\"images\": {\"a\": \"photo@2x.png\", \"b\": \"step:1/c.png\"}}",
        "images: [\"photos/?.jpg\"]", #"{"images": ["https:\/\/h\/\u00e4\u20ac\n\"b.png"]}"#,
        "a: &u https://h/a.png\nimages: [*u]",
        "<!DOCTYPE plist><plist><string>a &amp; b.png</string></plist>",
        "<?xml version=\"1.0\"?>\n<!DOCTYPE plist \"http://h/a.dtd\">\n<plist/>",
        "# of https://h/a.png\nimages: [https://h/a.png] # one",
        "{a: \"#fff\", b: https://h/a.png}",
    ])
    func leavesOtherManifestsToTheGroup(text: String) {
        #expect(ManifestSecrecy.of(Array(text.utf8)) != .perhaps)
    }

    /// Without the scheme of a URL, only its source tells whether it is one.
    @Test(
        arguments: [
            ("images: [ann:pw@h/a.png]", .marks), ("images: [h/a.png?key]", .marks),
            ("images: [photo@2x.png]", .marks), ("images: [h/a.png#key]", .marks),
            ("images: [a.png] # why", .none), ("{\"color\": \"#fff\"}", .none),
            ("images: [https://h/a.png?key]", .perhaps),
        ] as [(String, ManifestSecrecy)])
    func marksAloneAreLookedAt(text: String, secrecy: ManifestSecrecy) {
        #expect(ManifestSecrecy.of(Array(text.utf8)) == secrecy)
    }
}
