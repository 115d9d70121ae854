package import DarkroomCore

/// A colour in sRGB with 8 bits per channel, not multiplied by alpha.
public struct Colour: Sendable, Equatable {
    /// 0 to 255.
    public var red: UInt8
    /// 0 to 255.
    public var green: UInt8
    /// 0 to 255.
    public var blue: UInt8
    /// 0 is transparent, 255 is opaque.
    public var alpha: UInt8

    /// Fully transparent black.
    public static let transparent = Colour(red: 0, green: 0, blue: 0, alpha: 0)

    /// Opaque white.
    public static let white = Colour(red: 255, green: 255, blue: 255)

    /// Opaque black.
    public static let black = Colour(red: 0, green: 0, blue: 0)

    /// A colour. It is opaque unless alpha is given.
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }

    private static let named: [ByteString: Colour] = [
        "transparent": .transparent, "black": .black, "white": .white,
    ]

    /// Reads `transparent`, `black`, `white`, `#rgb`, `#rrggbb` or `#rrggbbaa`.
    package init?(_ text: ByteString) {
        if let named = Self.named[text] {
            self = named
            return
        }
        guard text.utf8.first == UInt8(ascii: "#"), text.utf8.count <= "#rrggbbaa".utf8.count
        else { return nil }
        let digits = text.asciiLowercased.utf8.dropFirst().map(Hexadecimal.value)
        let nibbles = digits.compactMap { $0 }
        guard nibbles.count == digits.count else { return nil }
        switch nibbles.count {
        case 3:
            self.init(red: nibbles[0] * 17, green: nibbles[1] * 17, blue: nibbles[2] * 17)
        case 6, 8:
            let bytes = stride(from: 0, to: nibbles.count, by: 2).map {
                nibbles[$0] << 4 | nibbles[$0 + 1]
            }
            self.init(
                red: bytes[0], green: bytes[1], blue: bytes[2],
                alpha: bytes.count == 4 ? bytes[3] : 255)
        default:
            return nil
        }
    }

    /// `rrggbbaa`, which `init` reads after a `#`.
    var digits: String { Hexadecimal.text(of: [red, green, blue, alpha]) }

    var isGray: Bool { red == green && green == blue }

    /// The bytes of one pixel of this colour. 8 bits are multiplied by 257 to get 16, so white stays white.
    func pixel(isGray: Bool, hasAlpha: Bool, depth: Int) -> [UInt8] {
        let samples = (isGray ? [red] : [red, green, blue]) + (hasAlpha ? [alpha] : [])
        return depth == 8 ? samples : samples.flatMap { [$0, $0] }
    }
}
