import TestPictures
import Testing

@testable import DarkroomCore
@testable import DarkroomFetch

struct ContentDecoderTests {
    static let content = [UInt8]((0..<5000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) })

    /// Decodes a body that arrives in two pieces.
    static func decode(
        _ body: [UInt8], as name: ByteString, split: Int = 0
    ) throws -> (content: [UInt8], outcome: ContentDecoder.Outcome, isWhole: Bool) {
        let decoder = try #require(ContentDecoder(name))
        var content: [UInt8] = []
        for piece in [body[..<split], body[split...]] {
            let outcome = piece.withUnsafeBytes { bytes in
                decoder.decode(bytes) {
                    content += $0
                    return true
                }
            }
            if outcome != .goesOn { return (content, outcome, decoder.isWhole) }
        }
        return (content, .goesOn, decoder.isWhole)
    }

    static let gzip = TransferAnswerTests.gzip
    /// Of members, the last one empty.
    static let members = gzip(content) + gzip([]) + gzip([1, 2, 3]) + gzip([])
    static let zlib = Deflater.zlib(content, .fixedCodes)

    @Test func decodesPiecesOfAnySize() throws {
        let whole = Self.content + [1, 2, 3]
        for split in 0...Self.members.count {
            let (content, outcome, isWhole) = try Self.decode(
                Self.members, as: "gzip", split: split)
            #expect(content == whole && outcome == .goesOn && isWhole, "split at \(split)")
        }
        // A zlib stream, and the data in it, as some servers send them.
        for stream in [Self.zlib, Array(Self.zlib[2...].dropLast(4))] {
            for split in 0...stream.count {
                let (content, outcome, isWhole) = try Self.decode(
                    stream, as: "deflate", split: split)
                #expect(content == Self.content && outcome == .goesOn && isWhole, "at \(split)")
            }
        }
    }

    /// Only the ends of members are ends.
    @Test func knowsWhetherAnythingIsMissing() throws {
        let first = Self.gzip(Self.content).count
        let second = first + Self.gzip([]).count
        let ends = [0, first, second, second + Self.gzip([1, 2, 3]).count, Self.members.count]
        for count in 0...Self.members.count {
            let result = try Self.decode(Array(Self.members[..<count]), as: "gzip")
            #expect(result.outcome == .goesOn)
            #expect(result.isWhole == ends.contains(count), "\(count) bytes")
        }
        for count in 1..<Self.zlib.count {
            #expect(try !Self.decode(Array(Self.zlib[..<count]), as: "deflate").isWhole)
        }
    }

    @Test(
        arguments: [
            (gzip([7]) + [0], "gzip", .continues), (gzip([7]) + [0x1F, 0], "gzip", .continues),
            (gzip([7]) + Array("<html>".utf8), "x-gzip", .continues),
            (zlib + [0], "deflate", .continues),
            (gzip([7]) + [0x1F, 0x8B, 9, 0], "gzip", .damaged), ([1, 2, 3], "gzip", .damaged),
            (gzip([7]).dropLast() + [9], "gzip", .damaged),
            (zlib.dropLast() + [zlib.last! ^ 1], "deflate", .damaged),
            ([0xFF, 0xFF], "deflate", .damaged),
        ] as [([UInt8], ByteString, ContentDecoder.Outcome)])
    func refuses(body: [UInt8], name: ByteString, outcome: ContentDecoder.Outcome) throws {
        for split in 0...body.count {
            #expect(try Self.decode(body, as: name, split: split).outcome == outcome)
        }
    }

    /// The receiver stops a body that grows, after 64 KiB of it at most.
    @Test func stopsWhenNoMoreIsWanted() throws {
        let decoder = try #require(ContentDecoder("deflate"))
        var received = 0
        let outcome = Deflater.zlib(zeros: 100 << 20).withUnsafeBytes { bytes in
            decoder.decode(bytes) {
                received += $0.count
                return false
            }
        }
        #expect(outcome == .stopped)
        #expect(received <= 64 << 10)
    }
}
