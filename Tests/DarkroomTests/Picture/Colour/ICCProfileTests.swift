import TestPictures
import Testing

@testable import DarkroomPicture

/// Profiles with curves and a matrix, which the daemon reads itself.
struct ICCProfileTests {
    private static let p3 = PictureColour.Profile.displayP3.bytes

    @Test func readsItsOwnProfile() throws {
        #expect(Self.p3.count <= 600)
        let profile = try #require(ICCProfile(Self.p3))
        let space = try #require(RGBSpace(profile))
        #expect(space.isNearly(.displayP3))
        #expect(!space.isNearly(.sRGB) && !space.isNearly(.adobe))
    }

    /// What has tables is left to lcms2, and what is for inks or broken is no space.
    @Test func leavesOthersAlone() {
        for bytes in [
            ICCProfileMaker.strangeRGB, ICCProfileMaker.strangeInks,
            ICCProfileMaker.profile(space: "RGB "), ICCProfileMaker.profile(space: "GRAY"), [],
        ] {
            #expect(ICCProfile(bytes) == nil)
        }
    }

    /// Gray has one curve: here a gamma, as a number of 8.8 bits.
    @Test func readsGray() throws {
        let gamma: [UInt8] = Array("curv".utf8) + [0, 0, 0, 0, 0, 0, 0, 1, 1, 205, 0, 0]
        let bytes = ICCProfileMaker.profile(space: "GRAY", tag: "kTRC", data: gamma)
        let profile = try #require(ICCProfile(bytes))
        #expect(profile.matrix == nil && profile.curves.count == 1)
        let half = profile.curves[0].interpolated(at: 0.5)
        // 0.5 to the power of 461/256.
        #expect(abs(half - 0.28697) < 0.0005)
    }

    /// A profile that ends anywhere, or has any wrong byte, is a space with sound numbers or none.
    @Test func believesNothing() {
        func check(_ bytes: [UInt8]) {
            guard let profile = ICCProfile(bytes) else { return }
            #expect(
                profile.curves.allSatisfy { curve in
                    curve.count == ICCProfile.samples
                        && curve.allSatisfy { (0...1).contains($0) }
                        && zip(curve, curve.dropFirst()).allSatisfy(<=)
                })
            if let space = RGBSpace(profile) {
                _ = ColourConversion(from: space, to: .sRGB)
            }
        }
        for count in 0..<Self.p3.count { check(Array(Self.p3.prefix(count))) }
        var random = SplitMix64(seed: 34)
        for _ in 0..<2000 {
            var bytes = Self.p3
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8(
                    truncatingIfNeeded: random.next())
            }
            check(bytes)
        }
    }
}
