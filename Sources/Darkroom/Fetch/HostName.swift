/// A URL's host in the one spelling that rules compare: a name in small letters without the dot at its
/// end, or an address, however it was written.
package enum HostName: Sendable, Hashable, CustomStringConvertible {
    case address(IPAddress)
    case name(String)

    /// From a host as a URL or libcurl gives it: IPv6 with or without brackets, international names in
    /// ASCII (`xn--…`). A zone is left out. Judges nothing: `URLAuthority` does.
    package init(_ text: some StringProtocol) {
        var text = text[...]
        if text.first == "[", text.last == "]" {
            text = text.dropFirst().dropLast()
            text = text.prefix { $0 != "%" }
        } else if text.last == "." {
            // The dot that says that a name is whole. libcurl takes it off before it resolves.
            text = text.dropLast()
        }
        if let address = IPAddress(numericHost: text) {
            self = .address(address)
        } else {
            self = .name(Self.smallLetters(text))
        }
    }

    /// Whether every resolver takes it for this machine (RFC 6761, 6.3).
    var isLocalhost: Bool {
        guard case .name(let name) = self else { return false }
        return name == "localhost" || name.hasSuffix(".localhost")
    }

    /// As it stands in a URL, an IPv6 address in brackets.
    package var description: String {
        switch self {
        case .address(let address) where address.family == .v6: "[\(address)]"
        case .address(let address): "\(address)"
        case .name(let name): name
        }
    }

    /// Of ASCII only: names in other letters are not compared.
    private static func smallLetters(_ text: some StringProtocol) -> String {
        String(
            decoding: text.utf8.map {
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0
            }, as: UTF8.self)
    }
}
