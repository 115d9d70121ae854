import DarkroomCore

/// Which hosts may be asked, by name: `downloads.allowHosts` and `downloads.denyHosts`.
///
/// A host that is denied is denied whatever allows it. Where any host is allowed by name, the others are
/// denied. What addresses names resolve to is judged besides (`AddressRules`), always.
package struct HostRules: Sendable, Equatable {
    package var allow: [HostPattern]
    package var deny: [HostPattern]

    package enum Verdict: Sendable, Equatable {
        case allowed
        /// The rule, for people: `downloads.denyHosts has *.example.org`.
        case denied(String)
    }

    package init(allow: [HostPattern] = [], deny: [HostPattern] = []) {
        self.allow = allow
        self.deny = deny
    }

    /// Judges a host as libcurl's URL parser gives it (`HostName.init`).
    package func verdict(host: ByteString) -> Verdict { verdict(HostName(host)) }

    package func verdict(_ host: HostName) -> Verdict {
        if let rule = deny.first(where: { $0.matches(host) }) {
            return .denied("downloads.denyHosts contains \(rule)")
        }
        if allow.isEmpty || allow.contains(where: { $0.matches(host) }) { return .allowed }
        return .denied("downloads.allowHosts does not contain it")
    }
}

/// A host, or all names beneath a domain. Never a regular expression, whose dots match anything.
package enum HostPattern: Sendable, Hashable, CustomStringConvertible {
    case exact(HostName)
    /// `*.example.org` is every name that ends in `.example.org`, however many labels are before it, and
    /// not `example.org` itself. With its dot: `.example.org`.
    case beneath(ByteString)

    /// A text that is no pattern; `message` says why.
    package struct Problem: Error, Sendable, Equatable {
        package let message: String
    }

    package init(_ text: String) throws(Problem) {
        let isBeneath = ByteString(text).hasPrefix("*.")
        let host = Substring(isBeneath ? text.utf8.dropFirst(2) : text.utf8[...])
        guard !host.utf8.contains(UInt8(ascii: "*")) else {
            throw Problem(
                message:
                    "\"\(text)\": * is allowed only at the beginning, before a dot: *.example.org")
        }
        guard host.utf8.allSatisfy({ $0 < 0x80 }) else {
            throw Problem(
                message: "\"\(text)\": write an international name in its ASCII form, xn--…")
        }
        // An IPv6 address may come without its brackets, which are for URLs.
        let bracketed: ByteString =
            IPAddress(host)?.family == .v6 ? "[\(host)]" : ByteString(host)
        if let problem = URLAuthority.problem(ofHost: bracketed) {
            throw Problem(message: "\"\(text)\": \(problem)")
        }
        switch HostName(bracketed) {
        case .name(let name) where isBeneath: self = .beneath(".\(name)")
        case .address where isBeneath:
            throw Problem(message: "\"\(text)\": an address has no names beneath it")
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
