extension String {
    /// The text as one word of a command line for a shell, for messages that tell what to type.
    package var shellQuoted: String {
        let isPlain =
            !isEmpty && !hasPrefix("-")
            && utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
                    UInt8(ascii: "."), UInt8(ascii: "/"), UInt8(ascii: ","), UInt8(ascii: ":"),
                    UInt8(ascii: "@"), UInt8(ascii: "+"), UInt8(ascii: "%"), UInt8(ascii: "="):
                    true
                // Letters of other scripts have no meaning to a shell.
                default: byte >= 0x80
                }
            }
        return isPlain ? visible : visible.singleQuoted
    }

    /// The text between single quotes, between which a shell expands nothing.
    package var singleQuoted: String { "'\(replacing("'", with: "'\\''"))'" }
}
