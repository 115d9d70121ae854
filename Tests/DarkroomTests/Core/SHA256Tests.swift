import Testing

@testable import DarkroomCore

/// The examples of FIPS 180-4 as NIST publishes them.
struct SHA256Tests {
    static let twoBlocks = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"

    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (twoBlocks, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
    ])
    func knownAnswer(text: String, expected: String) {
        #expect(SHA256Digest.hex(of: text.utf8) == expected)
    }

    @Test func aMillionLettersInPieces() {
        var digest = SHA256Digest()
        var left = 1_000_000
        var piece = 1
        while left > 0 {
            let count = min(piece, left)
            digest.update([UInt8](repeating: UInt8(ascii: "a"), count: count))
            left -= count
            piece = piece * 3 % 4099
        }
        #expect(
            digest.hex() == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    @Test func mayBeAskedInBetween() {
        var digest = SHA256Digest()
        digest.update("ab".utf8)
        _ = digest.hex()
        digest.update("c".utf8)
        #expect(digest.hex() == SHA256Digest.hex(of: "abc".utf8))
    }
}
