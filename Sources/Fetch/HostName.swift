import DarkroomCore

/// A URL's host in the one spelling that rules compare: a name in small letters without the dot at its
/// end, or an address, however it was written.
package enum HostName: Sendable, Hashable, CustomStringConvertible {
    case address(IPAddress)
    case name(ByteString)

    /// From a host as a URL or libcurl gives it: IPv6 with or without brackets, international names in
    /// ASCII (`xn--…`). A zone is left out. Judges nothing: `URLAuthority` does.
    package init(_ text: ByteString) {
        var text = text.utf8[...]
        if text.first == UInt8(ascii: "["), text.last == UInt8(ascii: "]") {
            text = text.dropFirst().dropLast().prefix { $0 != UInt8(ascii: "%") }
        } else if text.last == UInt8(ascii: ".") {
            // The dot that says that a name is whole. libcurl takes it off before it resolves.
            text = text.dropLast()
        }
        if let address = IPAddress(numericHost: Substring(text)) {
            self = .address(address)
        } else {
            // Of ASCII only: names in other letters are not compared.
            self = .name(ByteString(text).asciiLowercased)
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
        case .name(let name): name.string
        }
    }
}
