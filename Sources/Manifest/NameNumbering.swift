import DarkroomCore
import DarkroomPicture

/// Appends a number to names that exist already: `NAME-2`, `NAME-3`, ….
///
/// If a name is too long for its number, its end is cut off, so names that differ only at the end share their numbers.
/// So this type remembers the next number for each cut stem and each number of digits. No name is tried twice, and the
/// number of all attempts is at most the number of given and existing names.
package struct NameNumbering: Sendable {
    /// The parts before and after the number. The number of digits determines what is cut off.
    private struct Family: Hashable {
        let stem: ByteString
        let ending: ByteString
        let digits: Int
    }

    private var next: [Family: Int] = [:]

    package init() {}

    /// `base` with a number, so that the name does not exist yet.
    package mutating func name(for base: ByteString, isTaken: (ByteString) -> Bool) -> ByteString {
        // The extension of a picture comes after the number.
        let ending = ImageName.ending(of: base)
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

    /// The numbers from 2 on that have this number of digits.
    private static func numbers(ofDigits digits: Int) -> Range<Int> {
        var upper = 1
        for _ in 0..<digits { upper *= 10 }
        return max(2, upper / 10)..<upper
    }
}
