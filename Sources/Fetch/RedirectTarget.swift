import DarkroomCore

/// The target of a redirect as a server has written it (Location), in a form that can be parsed.
enum RedirectTarget {
    /// Escapes spaces and bytes beyond ASCII in path, query and fragment, as browsers do it. The bytes need not be UTF-8:
    /// the server gets those that it has sent.
    ///
    /// The host is left as it is, for the rules that judge it. nil if it is not UTF-8, or if there is a NUL.
    static func text(_ bytes: ArraySlice<UInt8>) -> ByteString? {
        guard !bytes.contains(0) else { return nil }
        let beginning = bytes[..<endOfAuthority(bytes)]
        guard let written = ByteString(validating: beginning) else { return nil }
        return ByteString(written.string + PercentEncoding.reference(bytes[beginning.endIndex...]))
    }

    private static func isOfScheme(_ byte: UInt8) -> Bool {
        byte.isLetterOrDigit || "+-.".utf8.contains(byte)
    }

    /// The end of `http://host` or `//host`; the start of a reference without a host.
    private static func endOfAuthority(_ bytes: ArraySlice<UInt8>) -> Int {
        var rest = bytes[...]
        if let colon = rest.firstIndex(where: { !isOfScheme($0) }),
            rest[colon] == UInt8(ascii: ":")
        {
            rest = rest[(colon + 1)...]
        }
        guard rest.starts(with: "//".utf8) else { return bytes.startIndex }
        return rest.dropFirst(2).firstIndex { "/?#".utf8.contains($0) } ?? bytes.endIndex
    }
}
