import Testing

@testable import DarkroomCore

struct UnitsTests {
    private static let sizes: [(Int, String)] = [
        (0, "0 bytes"), (1, "1 byte"), (1023, "1023 bytes"), (1024, "1 KiB"), (1025, "1025 bytes"),
        (1536, "1536 bytes"), (10_239, "10239 bytes"), (10_241, "10241 bytes (10.0 KiB)"),
        (64 << 10, "64 KiB"), (64 << 20, "64 MiB"), (1 << 30, "1 GiB"), (3 << 29, "1536 MiB"),
        (10_239 << 10, "10239 KiB"), (1_290_052 << 10, "1290052 KiB (1.2 GiB)"),
        ((256 << 20) + 1, "268435457 bytes (256.0 MiB)"), (1_500_000, "1500000 bytes (1.4 MiB)"),
        (1 << 40, "1 TiB"), (1 << 50, "1 PiB"), (1 << 60, "1024 PiB"),
        (.max, "9223372036854775807 bytes (8192.0 PiB)"),
    ]

    @Test(arguments: sizes)
    func writesBytes(count: Int, text: String) {
        #expect(Units.bytes(count) == text)
        #expect(Units.bytes(UInt64(count)) == text)
    }

    @Test(arguments: [(315_360_000_000, "3650d"), (90_000, "90s"), (1500, "1500ms")])
    func writesTimes(milliseconds: Int, text: String) {
        #expect(Units.time(.milliseconds(milliseconds)) == text)
    }
}
