import Foundation
import Testing

@testable import DarkroomAnswer
@testable import DarkroomClient
@testable import DarkroomCore

struct NotificationTests {
    // MARK: Pauses and tries

    @Test(
        arguments: [
            (1, nil, 1.0), (2, nil, 2), (3, nil, 4), (9, nil, 256), (10, nil, 300),
            (1000, nil, 300),
            (1, 0, 1), (1, 30, 30), (5, 3, 16), (10, 400, 400), (1, 1e9, 3600),
        ] as [(Int, Double?, Double)])
    func waitsBetweenTries(tries: Int, retryAfter: Double?, pause: Double) {
        #expect(
            NotificationPolicy().pause(afterTries: tries, retryAfter: retryAfter) == pause)
    }

    @Test(arguments: [(0, 1, false), (0, 5000, false), (3, 2, false), (3, 3, true), (3, 4, true)])
    func hasALimit(limit: Int, tries: Int, isOver: Bool) {
        var policy = NotificationPolicy()
        policy.tries = limit
        #expect(policy.isOver(afterTries: tries) == isOver)
    }

    // MARK: The order

    private static func end(_ id: String, _ seconds: Double, retries: Int? = nil) throws -> BatchEnd
    {
        var status = ClientSpool.status(id, .completed, finished: seconds)
        status.retries = retries
        return try #require(BatchEnd(BatchProgress(of: status)))
    }

    @Test func theFirstEndIsNext() throws {
        var queue = NotificationQueue()
        // `time` is how long ago it was.
        for (id, time) in [("c", 10.0), ("b", 20), ("a", 20), ("d", 15)] {
            queue.add(.init(end: try Self.end(id, time)))
        }
        var order: [String] = []
        while let item = queue.first() {
            order.append(item.end.id)
            // One that ended before all others comes late.
            if order.count == 2 { queue.add(.init(end: try Self.end("e", 30))) }
            queue.remove(item.end.id)
        }
        #expect(order == ["a", "b", "e", "d", "c"])
        #expect(queue.count == 0)
    }

    @Test func theFirstEndWaitsBeforeAllOthers() throws {
        var queue = NotificationQueue()
        for (id, time) in [("b", 10.0), ("a", 20)] {
            queue.add(.init(end: try Self.end(id, time)))
        }
        queue.postpone("a", tries: 2, until: 99)
        let first = queue.first()
        #expect(first?.end.id == "a" && first?.tries == 2 && first?.due == 99)
        // A later end of the batch replaces this one.
        queue.add(.init(end: try Self.end("a", 5, retries: 1)))
        #expect(queue.count == 2)
        let second = queue.first()
        #expect(second?.end.id == "b")
        queue.remove("b")
        let third = queue.first()
        #expect(third?.end.id == "a" && third?.tries == 0)
    }

    // MARK: Signatures

    /// RFC 4231, test cases 1, 2 and 6.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0B, count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xAA, count: 131),
            "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ])
    func computesHMACs(key: [UInt8], message: String, digest: String) {
        let bytes = SHA256Digest.hmac(of: Array(message.utf8), key: key)
        #expect(bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == digest)
    }

    /// The same key in both forms gives the same signature.
    @Test func signs() throws {
        let plain = try WebhookKey(Array("0123456789abcdef\n".utf8), name: "key")
        let encoded = try WebhookKey(Array("whsec_MDEyMzQ1Njc4OWFiY2RlZg==\r\n".utf8), name: "key")
        #expect(plain == encoded && "\(plain)" == "a key")
        let body = Array("{}".utf8)
        let expected = SHA256Digest.hmac(
            of: Array("end_1.1700000000.{}".utf8), key: Array("0123456789abcdef".utf8))
        #expect(
            plain.signature(of: body, id: "end_1", time: "1700000000")
                == "v1,\(Data(expected).base64EncodedString())")
    }

    @Test(arguments: [
        ("", "k: the key has 0 bytes, at least 16 are necessary"),
        ("123456789012345\n", "k: the key has 15 bytes, at least 16 are necessary"),
        ("whsec_MTIz", "k: the key has 3 bytes, at least 16 are necessary"),
        ("whsec_!", "k: the text after whsec_ is not Base64"),
        (String(repeating: "k", count: 4097), "k: the key is longer than 4096 bytes"),
    ])
    func refusesKeys(content: String, message: String) {
        let error = #expect(throws: ClientError.self) {
            _ = try WebhookKey(Array(content.utf8), name: "k")
        }
        #expect(error?.message == message && error?.exit == .configuration)
        #expect(
            error?.remedy
                == (message.contains("at least") ? "openssl rand -hex 32 prints a good one." : nil))
    }
}
