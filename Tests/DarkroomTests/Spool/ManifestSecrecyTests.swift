import Testing

@testable import DarkroomSpool

@Suite struct ManifestSecrecyTests {
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
        "images: [https:/ann:pw@h/a.png]", "images: [HTTP:ann:pw@h/a.png]", "images: [s3:/ann@h/a]",
    ])
    func takesWhatMayBeASecretForOne(text: String) {
        #expect(ManifestSecrecy.mayHoldSecrets(Array(text.utf8)))
    }

    @Test func takesOtherEncodingsForSecrets() {
        let wide = "images: [a.png]".utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        #expect(ManifestSecrecy.mayHoldSecrets(wide))
    }

    @Test(arguments: [
        "", "\\", "&", "%", "/", "<", "images: [https://h/a%20b.png]", "images: [photo@2x.png]",
        "{\"images\": {\"a\": \"photo@2x.png\", \"b\": \"step:1/c.png\"}}",
        "images: [\"photos/?.jpg\"]", #"{"images": ["https:\/\/h\/\u00e4\u20ac\n\"b.png"]}"#,
        "a: &u https://h/a.png\nimages: [*u]",
        "<!DOCTYPE plist><plist><string>a &amp; b.png</string></plist>",
    ])
    func leavesOtherManifestsToTheGroup(text: String) {
        #expect(!ManifestSecrecy.mayHoldSecrets(Array(text.utf8)))
    }
}
