import DarkroomCore

/// The addresses that begin with the same bits: `10.0.0.0/8`, `fd00::/8`.
package struct IPNetwork: Sendable, Hashable, CustomStringConvertible {
    package let base: IPAddress
    /// The number of bits that its addresses have in common.
    package let prefix: Int

    /// A `prefix` beyond the length of the address is limited, and the bits of `base` beyond the prefix become zero.
    package init(base: IPAddress, prefix: Int) {
        let family = base.family
        self.prefix = min(max(prefix, 0), family.bits)
        let number = base.number & Self.mask(self.prefix, family)
        self.base = family == .v4 ? IPAddress(v4: UInt32(number)) : IPAddress(v6: number)
    }

    /// Reads `ADDRESS/PREFIX` (RFC 4632), or an address, which is a network of one address.
    ///
    /// A network of IPv4-mapped addresses (`::ffff:10.0.0.0/104`) becomes the IPv4 network.
    ///
    /// - Throws: the problem, with a correction if there is one.
    package init(_ text: String) throws(TextProblem) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ IPAddress($0) }) else {
            throw TextProblem("\(Self.quoted(text)) has no address before the /")
        }
        let isMapped = address.family == .v4 && parts[0].utf8.contains(UInt8(ascii: ":"))
        let offset = isMapped ? 96 : 0
        guard parts.count == 2 else {
            self.init(base: address, prefix: address.family.bits)
            return
        }
        let digits = parts[1].utf8
        guard !digits.isEmpty, digits.count <= 3,
            digits.allSatisfy(\.isDigit),
            let length = Int(parts[1]), (offset...offset + address.family.bits).contains(length)
        else {
            throw TextProblem(
                "\(Self.quoted(text)): after the / there must be a number from \(offset) to "
                    + "\(offset + address.family.bits)")
        }
        self.init(base: address, prefix: length - offset)
        // 10.1.2.3/8 may mean the network or the single host; this code does not guess.
        guard base == address else {
            throw TextProblem(
                "\(Self.quoted(text)) has bits beyond its prefix: write \(self) for the "
                    + "network, or \(address) for the single address")
        }
    }

    package func contains(_ address: IPAddress) -> Bool {
        address.family == base.family
            && address.number & Self.mask(prefix, base.family) == base.number
    }

    package var description: String { "\(base)/\(prefix)" }

    private static func mask(_ prefix: Int, _ family: IPAddress.Family) -> UInt128 {
        let all = UInt128.max >> UInt128(128 - family.bits)
        // Swift's shifts accept any amount: a shift by all bits gives zero.
        return all & ~(all >> UInt128(prefix))
    }

    private static func quoted(_ text: String) -> String { "\"\(text.prefix(60))\"" }
}
