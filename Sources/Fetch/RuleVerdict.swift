/// What the rules say of an address or a host.
package enum RuleVerdict: Sendable, Equatable {
    case allowed
    /// The kind of address, or the rule, for people: `private, embedded in 6to4`, `downloads.denyHosts contains
    /// *.example.org`.
    case denied(String)
}
