import DarkroomCore
import DarkroomPicture

/// Gives names that are taken a number: `NAME-2`, `NAME-3`, ….
///
/// Behind a name that is too long for its number the end is cut off, so that names which differ only there share
/// their numbers. What is remembered is therefore how far the numbers of a stem are used up that was cut for so many
/// digits: no name is tried twice, and all attempts together are at most as many as the names given and those that
/// were taken.
package struct NameNumbers: Sendable {
    /// What comes before the number and behind it. The number's digits decide what was cut off.
    private struct Family: Hashable {
        let stem: ByteString
        let ending: ByteString
        let digits: Int
    }

    /// The next number to be tried.
    private var next: [Family: Int] = [:]

    package init() {}

    /// A name that is `base` with a number and that is not taken.
    package mutating func name(
        for base: ByteString, isTaken: (ByteString) -> Bool
    ) -> ByteString {
        let ending = Self.ending(of: base)
        let stem = base.string.dropLast(utf8: ending.utf8.count)
        var digits = 1
        while true {
            let room = ImageName.maximumBytes - "-".utf8.count - digits - ending.utf8.count
            let family = Family(
                stem: ByteString(stem.prefix(utf8: room)), ending: ending, digits: digits)
            let numbers = Self.numbers(ofDigits: digits)
            var number = next[family] ?? numbers.lowerBound
            while numbers.contains(number) {
                let name = ByteString("\(family.stem)-\(number)\(ending)")
                number += 1
                if !isTaken(name) {
                    next[family] = number
                    return name
                }
            }
            next[family] = number
            digits += 1
        }
    }

    /// The ending of a picture that a name keeps behind its number.
    private static func ending(of base: ByteString) -> ByteString {
        let known = PictureFormat.allCases.flatMap(\.endings).first(where: base.string.hasEnding)
        return ByteString(base.utf8.suffix(known?.utf8.count ?? 0))
    }

    /// The numbers from 2 on that have so many digits.
    private static func numbers(ofDigits digits: Int) -> Range<Int> {
        var upper = 1
        for _ in 0..<digits { upper *= 10 }
        return max(2, upper / 10)..<upper
    }
}
