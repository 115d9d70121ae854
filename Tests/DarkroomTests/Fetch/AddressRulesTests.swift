import Glibc
import Testing

@testable import DarkroomFetch

struct AddressRulesTests {
    static let allowed = [
        "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0",
        "126.255.255.255", "128.0.0.1", "169.253.255.255", "169.255.0.0", "172.15.255.255",
        "172.32.0.0", "192.0.1.0", "192.0.3.0", "192.88.98.1", "192.167.255.255", "192.169.0.0",
        "198.17.255.255", "198.20.0.0", "223.255.255.255", "93.184.215.14",
        // What AS112 and multicast relays have is globally reachable.
        "192.31.196.1", "192.52.193.1", "192.175.48.1",
        "2000::1", "2001:200::1", "2001:4860:4860::8888", "2606:4700:4700::1111", "2620:4f:8000::1",
        "2a00:1450:4001:81c::200e", "3ffe::1",
        // Wrapped ones that are global themselves.
        "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1", "2a00::5efe:8.8.8.8",
    ]

    static let denied = [
        ("0.0.0.0", "unspecified"), ("0.1.2.3", "this network"),
        ("10.0.0.0", "private"), ("10.255.255.255", "private"),
        ("100.64.0.1", "shared, carrier-grade NAT"),
        ("100.100.100.200", "shared, carrier-grade NAT"),
        ("100.127.255.255", "shared, carrier-grade NAT"),
        ("127.0.0.1", "loopback"), ("127.255.255.255", "loopback"),
        ("168.63.129.16", "cloud platform service"),
        ("169.254.169.254", "link-local"), ("169.254.0.0", "link-local"),
        ("172.16.0.1", "private"), ("172.31.255.255", "private"),
        ("192.0.0.1", "protocol assignments"), ("192.0.0.9", "protocol assignments"),
        ("192.0.0.192", "protocol assignments"), ("192.0.2.1", "documentation"),
        ("192.88.99.1", "6to4 relay"), ("192.168.1.1", "private"),
        ("198.18.0.1", "benchmarking"), ("198.19.255.255", "benchmarking"),
        ("198.51.100.1", "documentation"), ("203.0.113.255", "documentation"),
        ("224.0.0.1", "multicast"), ("239.255.255.255", "multicast"),
        ("240.0.0.1", "reserved"), ("255.255.255.254", "reserved"),
        ("255.255.255.255", "broadcast"),
        ("::", "unspecified"), ("::1", "loopback"), ("::2", "IPv4-compatible"),
        ("::8.8.8.8", "IPv4-compatible"), ("::127.0.0.1", "IPv4-compatible"),
        ("::1:0:0", "reserved"), ("64:ff9b:1::1", "local-use NAT64"),
        ("64:ff9b:2::1", "reserved"), ("100::1", "discard-only"), ("100:0:0:1::1", "reserved"),
        ("1fff:ffff::1", "reserved"), ("2001::1", "Teredo"), ("2001:0:ffff::1", "Teredo"),
        ("2001:1::1", "protocol assignments"), ("2001:2::1", "protocol assignments"),
        ("2001:10::1", "protocol assignments"), ("2001:1ff:ffff::1", "protocol assignments"),
        ("2001:db8::1", "documentation"), ("3fff::1", "documentation"),
        ("3fff:fff:ffff::1", "documentation"), ("4000::1", "reserved"),
        ("5f00::1", "segment routing"), ("8000::1", "reserved"),
        ("fc00::1", "private, unique-local"), ("fd00:ec2::254", "private, unique-local"),
        ("fe00::1", "reserved"), ("fe80::1", "link-local"), ("febf::1", "link-local"),
        ("fec0::1", "private, site-local"), ("ff02::1", "multicast"),
        ("::ffff:127.0.0.1", "loopback"), ("::ffff:0:0", "unspecified"),
        ("::ffff:a9fe:a9fe", "link-local"),
        ("64:ff9b::127.0.0.1", "loopback, embedded in NAT64"),
        ("64:ff9b::a00:1", "private, embedded in NAT64"),
        ("2002:7f00:1::1", "loopback, embedded in 6to4"),
        ("2002:c0a8:101::1", "private, embedded in 6to4"),
        ("2002:a9fe:a9fe::", "link-local, embedded in 6to4"),
        ("2a00::5efe:10.0.0.1", "private, embedded in ISATAP"),
        ("2a00::200:5efe:7f00:1", "loopback, embedded in ISATAP"),
    ]

    @Test(arguments: allowed)
    func allows(text: String) throws {
        #expect(AddressRules().refusal(of: try #require(IPAddress(text))) == nil)
    }

    @Test(arguments: denied)
    func denies(text: String, kind: String) throws {
        #expect(AddressRules().refusal(of: try #require(IPAddress(text))) == kind)
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.1.2.3", true), ("10.0.0.0/8", "::ffff:10.1.2.3", true),
        ("::ffff:10.0.0.0/104", "10.1.2.3", true), ("10.0.0.0/8", "11.0.0.0", true),
        ("10.0.0.0/8", "192.168.0.1", false), ("10.0.0.0/8", "64:ff9b::10.0.0.1", false),
        ("10.0.0.0/8", "2002:a00:1::1", false), ("10.0.0.0/8", "::10.0.0.1", false),
        ("64:ff9b::/96", "64:ff9b::10.0.0.1", true), ("0.0.0.0/0", "127.0.0.1", true),
        ("0.0.0.0/0", "::1", false), ("::/0", "::1", true), ("::/0", "127.0.0.1", false),
        ("::/0", "::ffff:127.0.0.1", false), ("127.0.0.1", "127.0.0.1", true),
        ("127.0.0.1", "127.0.0.2", false), ("fe80::/10", "fe80::1", true),
    ])
    func opensByNetwork(network: String, address: String, isAllowed: Bool) throws {
        let rules = AddressRules(allowNetworks: [try IPNetwork(network)])
        let refusal = rules.refusal(of: try #require(IPAddress(address)))
        #expect((refusal == nil) == isAllowed)
    }

    // MARK: Addresses

    @Test(arguments: [
        ("1.2.3.4", "1.2.3.4"), ("255.255.255.255", "255.255.255.255"),
        ("::FFFF:1.2.3.4", "1.2.3.4"), ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"), ("::", "::"),
        ("fe80::1:0:0:2", "fe80::1:0:0:2"),
    ])
    func readsAndPrints(text: String, printed: String) throws {
        let address = try #require(IPAddress(text))
        #expect("\(address)" == printed)
        #expect(IPAddress(printed) == address)
    }

    @Test(arguments: [
        "", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "0x7f.0.0.1", "1.2.3.4 ", " 1.2.3.4",
        "1.2.3.4\0", "::1%lo", "[::1]", ":::", "1::2::3", "g::1", "example.org", "١.٢.٣.٤",
    ])
    func refusesOtherTexts(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test(arguments: [
        ("127.1", "127.0.0.1"), ("127.0.1", "127.0.0.1"), ("2130706433", "127.0.0.1"),
        ("0x7f000001", "127.0.0.1"), ("0X7F.1", "127.0.0.1"), ("017700000001", "127.0.0.1"),
        ("0177.0.0.01", "127.0.0.1"), ("0x7f.0.0.0x1", "127.0.0.1"), ("0", "0.0.0.0"),
        ("::1", "::1"), ("127.0.0.1 x", nil), ("256.1", nil), ("0x100000000", nil), ("08", nil),
        ("1.2.3.4.", nil), ("beef", nil), ("0xg", nil), ("example.org", nil), ("", nil),
    ])
    func readsWhatTheResolverTakes(text: String, printed: String?) {
        #expect(IPAddress(numericHost: text)?.description == printed)
    }

    @Test func readsSocketAddresses() {
        var v4 = sockaddr_in()
        v4.sin_family = sa_family_t(AF_INET)
        v4.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        withUnsafeBytes(of: v4) { bytes in
            #expect(IPAddress(socketAddress: bytes)?.description == "127.0.0.1")
            // As long as a sockaddr says, and not longer than it is.
            #expect(IPAddress(socketAddress: UnsafeRawBufferPointer(rebasing: bytes[..<8])) == nil)
            #expect(IPAddress(socketAddress: UnsafeRawBufferPointer(rebasing: bytes[..<1])) == nil)
        }
        var v6 = sockaddr_in6()
        v6.sin6_family = sa_family_t(AF_INET6)
        _ = withUnsafeMutableBytes(of: &v6.sin6_addr) {
            inet_pton(AF_INET6, "fe80::1", $0.baseAddress)
        }
        withUnsafeBytes(of: v6) { bytes in
            #expect(IPAddress(socketAddress: bytes)?.description == "fe80::1")
            #expect(IPAddress(socketAddress: UnsafeRawBufferPointer(rebasing: bytes[..<16])) == nil)
        }
        var local = sockaddr_un()
        local.sun_family = sa_family_t(AF_UNIX)
        withUnsafeBytes(of: local) { #expect(IPAddress(socketAddress: $0) == nil) }
    }

    // MARK: Networks

    @Test(arguments: [
        ("10.0.0.0/8", "10.0.0.0/8"), ("10.1.2.3", "10.1.2.3/32"), ("::1", "::1/128"),
        ("fd00::/8", "fd00::/8"), ("0.0.0.0/0", "0.0.0.0/0"), ("::/0", "::/0"),
        ("::ffff:10.0.0.0/104", "10.0.0.0/8"), ("::ffff:10.0.0.1", "10.0.0.1/32"),
    ])
    func readsNetworks(text: String, printed: String) throws {
        #expect("\(try IPNetwork(text))" == printed)
    }

    @Test(arguments: [
        ("10.1.2.3/8", "write 10.0.0.0/8 for the network, or 10.1.2.3 for the single address"),
        ("fd00::1/8", "write fd00::/8 for the network, or fd00::1 for the single address"),
        ("::ffff:10.0.0.1/104", "write 10.0.0.0/8 for the network"),
        ("10.0.0.0/33", "a number from 0 to 32"), ("::/129", "a number from 0 to 128"),
        ("::ffff:10.0.0.0/8", "a number from 96 to 128"), ("10.0.0.0/", "a number from 0 to 32"),
        ("10.0.0.0/+8", "a number from 0 to 32"), ("10.0.0.0/255.0.0.0", "a number from 0 to 32"),
        ("10.0.0.0/8/8", "a number from 0 to 32"), ("10/8", "has no address before the /"),
        ("", "has no address"), ("localhost", "has no address"), ("10.0.0.0 /8", "has no address"),
        ("/8", "has no address"), ("fe80::%eth0/64", "has no address"),
    ])
    func refusesNetworks(text: String, words: String) {
        let problem = #expect(throws: TextProblem.self) { try IPNetwork(text) }
        #expect(problem?.message.contains(words) == true)
    }
}
