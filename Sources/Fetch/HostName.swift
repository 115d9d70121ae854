import DarkroomCore

/// The host of a URL in the normalized form that rules compare: a name in lower case without a final dot, or an
/// address, in whatever notation it was written.
package enum HostName: Sendable, Hashable, CustomStringConvertible {
    case address(IPAddress)
    case name(ByteString)

    /// Reads a host from a URL or from libcurl: IPv6 with or without brackets, international names in ASCII (`xn--…`).
    /// A zone is ignored. `URLAuthority` checks the host, not this type.
    package init(_ text: ByteString) {
        var text = text.utf8[...]
        if text.first == UInt8(ascii: "["), text.last == UInt8(ascii: "]") {
            text = text.dropFirst().dropLast().prefix { $0 != UInt8(ascii: "%") }
        } else if text.last == UInt8(ascii: ".") {
            // The final dot means that the name is complete. libcurl removes it before it resolves the name.
            text = text.dropLast()
        }
        if let address = IPAddress(numericHost: Substring(text)) {
            self = .address(address)
        } else {
            // Only ASCII: international names are not compared in other forms.
            self = .name(ByteString(text).asciiLowercased)
        }
    }

    /// Whether every resolver treats it as this machine (RFC 6761, 6.3).
    var isLocalhost: Bool {
        guard case .name(let name) = self else { return false }
        return name == "localhost" || name.hasSuffix(".localhost")
    }

    /// In the notation of URLs, an IPv6 address in brackets.
    package var description: String {
        switch self {
        case .address(let address) where address.family == .v6: "[\(address)]"
        case .address(let address): "\(address)"
        case .name(let name): name.string
        }
    }
}
