/// Decides which addresses may be connected to.
///
/// Everything that is not a global unicast address is denied, unless a network of `allowNetworks` contains it. Denied
/// are the addresses that IANA's registries of special-purpose addresses (RFC 6890 and its updates, as of 2025) do not
/// call globally reachable, multicast, and IPv6 outside of 2000::/3. The few anycast addresses for protocols in the
/// registries (192.0.0.9, 2001:1::1, …) are denied too, because the machine's own network answers them.
///
/// An address that embeds an IPv4 address is handled like this:
/// - IPv4-mapped (`::ffff:0:0/96`) is the IPv4 address itself, in the rules and in `allowNetworks`.
/// - NAT64 (`64:ff9b::/96`, RFC 6052) and 6to4 (`2002::/16`, RFC 3056): the embedded address decides, because a gateway
///   sends there.
/// - ISATAP (an interface identifier of `0:5efe:` or `200:5efe:`, RFC 5214): both addresses must be allowed.
/// - Teredo (`2001::/32`), IPv4-compatible (`::/96`) and local-use NAT64 (`64:ff9b:1::/48`) are denied.
///
/// A network of `allowNetworks` allows addresses in exactly its own notation: `10.0.0.0/8` allows `::ffff:10.0.0.1`,
/// but not `64:ff9b::10.0.0.1`, where another machine may answer.
package struct AddressRules: Sendable, Equatable {
    package var allowNetworks: [IPNetwork]

    package init(allowNetworks: [IPNetwork] = []) { self.allowNetworks = allowNetworks }

    /// The kind of an address that may not be connected to: `private, embedded in 6to4`; nil if it may.
    package func refusal(of address: IPAddress) -> String? {
        allowNetworks.contains { $0.contains(address) } ? nil : Self.special(address)
    }

    /// Why the address is not global unicast; nil if it is.
    private static func special(_ address: IPAddress) -> String? {
        let table = address.family == .v4 ? v4 : v6
        if let block = table.first(where: { $0.network.contains(address) }) {
            guard let wrapped = block.wrapped else { return block.kind }
            return special(wrapped(address)).map { "\($0), embedded in \(block.kind)" }
        }
        guard address.family == .v6 else { return nil }
        // Only 2000::/3 has been assigned as global unicast (RFC 4291, 2.4).
        guard address.number >> 125 == 1 else { return "reserved" }
        return isISATAP(address)
            ? special(lowestBits(of: address)).map { "\($0), embedded in ISATAP" } : nil
    }

    /// A network whose addresses have the same kind.
    private struct Block: Sendable {
        var network: IPNetwork
        var kind: String
        /// Returns the IPv4 address that decides for an address of the block; nil if the block is denied.
        var wrapped: (@Sendable (IPAddress) -> IPAddress)?
    }

    /// The first block that contains an address decides.
    private static let v4: [Block] = [
        v4(0x0000_0000, 32, "unspecified"),
        v4(0x0000_0000, 8, "this network"),
        v4(0x0A00_0000, 8, "private"),
        v4(0x6440_0000, 10, "shared, carrier-grade NAT"),
        v4(0x7F00_0000, 8, "loopback"),
        // The virtual machines of one large provider reach a service of their host there (168.63.129.16). No other
        // machine ever answers, whatever the registries say.
        v4(0xA83F_8110, 32, "cloud platform service"),
        v4(0xA9FE_0000, 16, "link-local"),
        v4(0xAC10_0000, 12, "private"),
        v4(0xC000_0000, 24, "protocol assignments"),
        v4(0xC000_0200, 24, "documentation"),
        v4(0xC058_6300, 24, "6to4 relay"),
        v4(0xC0A8_0000, 16, "private"),
        v4(0xC612_0000, 15, "benchmarking"),
        v4(0xC633_6400, 24, "documentation"),
        v4(0xCB00_7100, 24, "documentation"),
        v4(0xE000_0000, 4, "multicast"),
        v4(0xFFFF_FFFF, 32, "broadcast"),
        v4(0xF000_0000, 4, "reserved"),
    ]

    private static let v6: [Block] = [
        v6(0, 128, "unspecified"),
        v6(1, 128, "loopback"),
        v6(0, 96, "IPv4-compatible"),
        Block(
            network: IPNetwork(base: IPAddress(v6: 0x0064_FF9B << 96), prefix: 96), kind: "NAT64",
            wrapped: lowestBits),
        v6(0x0064_FF9B_0001 << 80, 48, "local-use NAT64"),
        v6(0x0100 << 112, 64, "discard-only"),
        v6(0x2001 << 112, 32, "Teredo"),
        v6(0x2001 << 112, 23, "protocol assignments"),
        v6(0x2001_0DB8 << 96, 32, "documentation"),
        Block(
            network: IPNetwork(base: IPAddress(v6: 0x2002 << 112), prefix: 16), kind: "6to4",
            wrapped: { IPAddress(v4: UInt32(truncatingIfNeeded: $0.number >> 80)) }),
        v6(0x3FFF << 112, 20, "documentation"),
        v6(0x5F00 << 112, 16, "segment routing"),
        v6(0xFC00 << 112, 7, "private, unique-local"),
        v6(0xFE80 << 112, 10, "link-local"),
        v6(0xFEC0 << 112, 10, "private, site-local"),
        v6(0xFF00 << 112, 8, "multicast"),
    ]

    private static func v4(_ number: UInt32, _ prefix: Int, _ kind: String) -> Block {
        Block(network: IPNetwork(base: IPAddress(v4: number), prefix: prefix), kind: kind)
    }

    private static func v6(_ number: UInt128, _ prefix: Int, _ kind: String) -> Block {
        Block(network: IPNetwork(base: IPAddress(v6: number), prefix: prefix), kind: kind)
    }

    @Sendable private static func lowestBits(of address: IPAddress) -> IPAddress {
        IPAddress(v4: UInt32(truncatingIfNeeded: address.number))
    }

    private static func isISATAP(_ address: IPAddress) -> Bool {
        let identifier = UInt32(truncatingIfNeeded: address.number >> 32)
        return identifier & ~0x0200_0000 == 0x0000_5EFE
    }
}
