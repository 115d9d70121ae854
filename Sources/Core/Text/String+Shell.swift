extension String {
    /// The text as one word of a command line for a shell, for messages that tell what to type.
    package var shellQuoted: String {
        // Letters of other scripts have no meaning to a shell.
        let isPlain =
            !isEmpty && !hasPrefix("-")
            && utf8.allSatisfy {
                $0.isLetterOrDigit || $0 >= 0x80 || "-_./,:@+%=".utf8.contains($0)
            }
        return isPlain ? visible : visible.singleQuoted
    }

    /// The text between single quotes, between which a shell expands nothing.
    package var singleQuoted: String { "'\(replacing("'", with: "'\\''"))'" }
}
