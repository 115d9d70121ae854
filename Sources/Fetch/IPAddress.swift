import DarkroomCore
import Glibc

/// An IPv4 or IPv6 address.
///
/// An IPv4-mapped address (`::ffff:192.0.2.1`; RFC 4291, 2.5.5.2) becomes the IPv4 address, because the kernel sends to
/// that. Zones are ignored, because no rule depends on them.
package struct IPAddress: Sendable, Hashable {
    package enum Family: Sendable, Hashable {
        case v4
        case v6

        package var bits: Int { self == .v4 ? 32 : 128 }
    }

    package let family: Family
    /// The address as a number, in network byte order. For IPv4, the low 32 bits.
    package let number: UInt128

    package init(v4 number: UInt32) {
        family = .v4
        self.number = UInt128(number)
    }

    package init(v6 number: UInt128) {
        // ::ffff:0:0/96
        let isMapped = number >> 32 == 0xFFFF
        family = isMapped ? .v4 : .v6
        self.number = isMapped ? number & 0xFFFF_FFFF : number
    }

    /// Reads the usual notation, like inet_pton(3): four decimal numbers, or the notation of RFC 4291 for IPv6, without
    /// brackets and without a zone.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count <= 45, !text.utf8.contains(0) else { return nil }
        let text = String(text)
        var v4 = in_addr()
        var v6 = in6_addr()
        if inet_pton(AF_INET, text, &v4) == 1 {
            self.init(v4: UInt32(bigEndian: v4.s_addr))
        } else if inet_pton(AF_INET6, text, &v6) == 1 {
            self.init(v6: withUnsafeBytes(of: v6) { Self.number(of: $0) })
        } else {
            return nil
        }
    }

    /// Reads any notation that the resolver accepts as an address without asking a server: also `127.1`, `0x7f000001`,
    /// `0177.0.0.1` and `2130706433`, like inet_aton(3).
    package init?(numericHost text: some StringProtocol) {
        if let address = IPAddress(text) {
            self = address
            return
        }
        // inet_aton stops at a space and accepts the text before it.
        let isNumeric = text.utf8.allSatisfy {
            Hexadecimal.value(of: $0.asciiLowercased) != nil || "xX.".utf8.contains($0)
        }
        var v4 = in_addr()
        guard isNumeric, inet_aton(String(text), &v4) == 1 else { return nil }
        self.init(v4: UInt32(bigEndian: v4.s_addr))
    }

    /// Reads the bytes of a `sockaddr_in` or `sockaddr_in6`, with the length of the structure; nil for another family
    /// or too few bytes.
    ///
    /// The bytes must be read in place, because a copy of a `sockaddr` truncates an IPv6 address.
    package init?(socketAddress bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= MemoryLayout<sa_family_t>.size else { return nil }
        switch CInt(bytes.loadUnaligned(as: sa_family_t.self)) {
        case AF_INET where bytes.count >= MemoryLayout<sockaddr_in>.size:
            let address = bytes.loadUnaligned(as: sockaddr_in.self).sin_addr
            self.init(v4: UInt32(bigEndian: address.s_addr))
        case AF_INET6 where bytes.count >= MemoryLayout<sockaddr_in6>.size:
            let address = bytes.loadUnaligned(as: sockaddr_in6.self).sin6_addr
            self.init(v6: withUnsafeBytes(of: address) { Self.number(of: $0) })
        default: return nil
        }
    }

    private static func number(of bytes: UnsafeRawBufferPointer) -> UInt128 {
        bytes.reduce(0) { $0 << 8 | UInt128($1) }
    }
}

extension IPAddress: CustomStringConvertible {
    /// `192.0.2.1`, or IPv6 in the notation of RFC 5952: `2001:db8::1`.
    package var description: String {
        switch family {
        case .v4:
            return (0..<4).map { "\(number >> UInt128(24 - 8 * $0) & 0xFF)" }
                .joined(separator: ".")
        case .v6:
            var address = in6_addr()
            withUnsafeMutableBytes(of: &address) { bytes in
                for index in bytes.indices {
                    bytes[index] = UInt8(truncatingIfNeeded: number >> UInt128(120 - 8 * index))
                }
            }
            return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 46) { buffer in
                guard let text = inet_ntop(AF_INET6, &address, buffer.baseAddress, 46) else {
                    return ""
                }
                return String(cString: text)
            }
        }
    }
}
