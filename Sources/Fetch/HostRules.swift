import DarkroomCore

/// Which hosts may be requested, by name: `downloads.allowHosts` and `downloads.denyHosts`.
///
/// A denied host is always denied. If any hosts are allowed by name, all others are denied. The addresses of the names
/// are always checked as well (`AddressRules`).
package struct HostRules: Sendable, Equatable {
    package var allow: [HostPattern]
    package var deny: [HostPattern]

    package init(allow: [HostPattern] = [], deny: [HostPattern] = []) {
        self.allow = allow
        self.deny = deny
    }

    /// The rule that does not allow a host: `downloads.denyHosts contains *.example.org`; nil if it is allowed.
    package func refusal(of host: HostName) -> String? {
        if let rule = deny.first(where: { $0.matches(host) }) {
            return "downloads.denyHosts contains \(rule)"
        }
        let isAllowed = allow.isEmpty || allow.contains { $0.matches(host) }
        return isAllowed ? nil : "downloads.allowHosts does not contain it"
    }
}

/// A host, or all names beneath a domain. It is never a regular expression, because dots would match any character.
package enum HostPattern: Sendable, Hashable, CustomStringConvertible {
    case exact(HostName)
    /// `*.example.org` means every name that ends in `.example.org`, with any number of labels before it, but not
    /// `example.org` itself. The text includes the dot: `.example.org`.
    case beneath(ByteString)

    package init(_ text: String) throws(TextProblem) {
        let isBeneath = ByteString(text).hasPrefix("*.")
        let host = Substring(isBeneath ? text.utf8.dropFirst(2) : text.utf8[...])
        guard !host.utf8.contains(UInt8(ascii: "*")) else {
            throw TextProblem(
                "\"\(text)\": * is allowed only at the beginning, before a dot: *.example.org")
        }
        guard host.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw TextProblem("\"\(text)\": write an international name in its ASCII form, xn--…")
        }
        // An IPv6 address may be written without its brackets, which are for URLs.
        let bracketed: ByteString = IPAddress(host)?.family == .v6 ? "[\(host)]" : ByteString(host)
        if let problem = URLAuthority.problem(ofHost: bracketed) {
            throw TextProblem("\"\(text)\": \(problem)")
        }
        switch HostName(bracketed) {
        case .name(let name) where isBeneath: self = .beneath(".\(name)")
        case .address where isBeneath:
            throw TextProblem("\"\(text)\": an address has no names beneath it")
        case let whole: self = .exact(whole)
        }
    }

    package func matches(_ host: HostName) -> Bool {
        switch (self, host) {
        case (.exact(let pattern), _): pattern == host
        case (.beneath(let suffix), .name(let name)):
            // The name has a label before the dot.
            name.utf8.count > suffix.utf8.count && name.hasSuffix(suffix)
        case (.beneath, .address): false
        }
    }

    package var description: String {
        switch self {
        case .exact(let host): "\(host)"
        case .beneath(let suffix): "*\(suffix)"
        }
    }
}
