import DarkroomCore
import Foundation
import Testing

struct HumanTextTests {
    @Test(arguments: [
        (0, "0s"), (59.9, "59s"), (60, "1min"), (3599, "59min"), (3600, "1h"), (172_799, "47h"),
        (172_800, "2d"),
        (-5, "0s"), (.infinity, "0s"), (1e300, "9223372036854775807d"),
    ])
    func ages(seconds: Double, text: String) { #expect(HumanText.age(seconds) == text) }

    @Test(arguments: [
        (0, "0 s"), (0.2, "1 s"), (9.5, "10 s"), (12, "10 s"), (57.4, "55 s"), (58, "1 min"),
        (150, "3 min"),
        (3569, "59 min"), (3600, "1 h"), (7800, "2 h 10 min"), (200_000, "2 days"), (.nan, "0 s"),
        (-1, "0 s"),
    ])
    func estimates(seconds: Double, text: String) { #expect(HumanText.estimate(seconds) == text) }

    @Test(arguments: [
        (0, "0 bytes"), (1, "1 byte"), (1023, "1023 bytes"), (1024, "1.0 KiB"), (10_189, "10 KiB"),
        (1_048_060, "1023 KiB"), (1_048_064, "1.0 MiB"), (36e6, "34 MiB"), (.nan, "0 bytes"),
    ])
    func sizes(bytes: Double, text: String) { #expect(HumanText.bytes(bytes) == text) }

    @Test(arguments: [
        (0, "0.0"), (0.042, "0.04"), (0.999, "1.0"), (3.21, "3.2"), (9.96, "10"), (120.4, "120"),
    ])
    func rates(value: Double, text: String) { #expect(HumanText.rate(value) == text) }

    @Test func usersWithoutANameAreNumbers() {
        #expect(HumanText.user(0) == "root")
        #expect(HumanText.user(4_000_000_123) == "4000000123")
        #expect(HumanText.user(nil) == "-")
    }

    @Test func timesAreInAZone() throws {
        let zone = try #require(TimeZone(secondsFromGMT: 5400))
        #expect(HumanText.time("2026-11-22T23:10:05.999Z", in: zone) == "2026-11-23 00:40:05")
        #expect(HumanText.time("soon\n", in: zone) == "soon\\n")
    }
}
