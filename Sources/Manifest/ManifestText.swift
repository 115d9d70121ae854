import DarkroomCore

/// How a text stands in a manifest that Darkroom writes.
package enum ManifestText {
    /// In double quotes, with the escapes that JSON and YAML share. YAML does not allow all characters of JSON without
    /// an escape.
    package static func quoted(_ text: ByteString) -> String {
        if text.string.isPrintableASCII(without: "\"\\") { return "\"\(text.string)\"" }
        var quoted = "\""
        for scalar in text.string.unicodeScalars {
            switch scalar {
            case "\"": quoted += "\\\""
            case "\\": quoted += "\\\\"
            case "\n": quoted += "\\n"
            case "\t": quoted += "\\t"
            case "\r": quoted += "\\r"
            case _
            where scalar.isControl || scalar.value == 0xFEFF
                || scalar.value >= 0xFFFE
                    && scalar.value <= 0xFFFF:
                quoted += Hexadecimal.escape(scalar)
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted + "\""
    }

    /// Whether YAML reads it as this text without quotes, if it has only letters, digits and these signs.
    package static func isPlain(_ text: ByteString, signs: String = "-_./") -> Bool {
        guard let first = text.utf8.first, first.isLetter || first == UInt8(ascii: "/"),
            !PlainScalar.isNull(text), PlainScalar.boolean(text) == nil
        else { return false }
        return text.utf8.allSatisfy { $0.isLetterOrDigit || signs.utf8.contains($0) }
    }
}
