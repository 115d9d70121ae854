import Testing

@testable import DarkroomCore

struct QuantityTests {
    private static let sizes: [(Int, String)] = [
        (0, "0"), (1, "1B"), (1000, "1000B"), (1024, "1KiB"), (1536, "1.5KiB"), (1 << 20, "1MiB"),
        (1 << 30, "1GiB"), (1 << 40, "1TiB"), (1 << 50, "1024TiB"), ((1 << 30) + 1, "1073741825B"),
        (3 << 29, "1.5GiB"), (-2048, "-2KiB"), (.max, "\(Int.max)B"), (.min, "-8388608TiB"),
    ]

    @Test(arguments: sizes)
    func writesSizes(bytes: Int, text: String) {
        #expect(Quantity.text(bytes: bytes) == text)
        if bytes >= 0, bytes < 1 << 53 { #expect(Quantity.bytes(text) == bytes) }
    }

    @Test(
        arguments: [
            (0, "0"), (0.1, "100ms"), (0.5, "500ms"), (0.001, "1ms"), (1, "1s"), (1.5, "1500ms"),
            (60, "1min"), (90, "90s"), (300, "5min"), (3600, "1h"), (86400, "1d"),
            (315_360_000, "3650d"), (0.0005, "0.0005s"), (.infinity, "infs"),
        ] as [(Double, String)])
    func writesTimes(seconds: Double, text: String) {
        #expect(Quantity.text(seconds: seconds) == text)
        if seconds.isFinite { #expect(Quantity.seconds(text) == seconds) }
    }

    @Test(
        arguments: [
            ("2m", "2min"), ("30 sec", "30s"), ("1.5hours", "1.5h"), ("3 Days", "3d"),
            ("20msec", "20ms"), ("1w", "7d"), ("2 weeks", "14d"), ("1.5w", "10.5d"),
            ("1y", "365d"), ("1q", nil), ("w", nil), ("m", nil), ("", nil), ("2..5m", nil),
        ] as [(String, String?)])
    func correctsTimes(text: String, corrected: String?) {
        #expect(Quantity.correctedTime(text) == corrected)
        if let corrected { #expect(Quantity.seconds(corrected) != nil) }
    }

    @Test(
        arguments: [
            ("1gb", "1GiB"), ("64 MB", "64MiB"), ("2k", "2KiB"), ("1T", "1TiB"), ("9 bytes", "9B"),
            ("1x", nil), ("GB", nil),
        ] as [(String, String?)])
    func correctsSizes(text: String, corrected: String?) {
        #expect(Quantity.correctedSize(text) == corrected)
        if let corrected { #expect(Quantity.bytes(corrected) != nil) }
    }
}
