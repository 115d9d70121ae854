import Foundation
import Testing

/// Images that fail, among others that do not.
@Suite(.fewAtATime) struct FailureTests {
    @Test func oneOfManyFails() async throws {
        let fixture = try DaemonFixture(pictures: 50)
        let daemon = try await fixture.run()
        let images = (0..<50).map { index in
            (name: "\(index)", source: fixture.url(index == 23 ? "absent.png" : "\(index).png"))
        }
        try fixture.drop("many", images: images)
        let status = try await fixture.spool.finish("many", daemon)

        #expect(status.state == .completedWithErrors)
        #expect(status.counts.filtered == 49 && status.counts.failed == 1)
        let failed = try status.image("23")
        #expect(failed.state == .failed)
        #expect(failed.output == nil)
        let error = try #require(failed.error)
        #expect(error.code == "http-status")
        #expect(error.message.contains("/absent.png") && error.message.contains("404"))
        #expect(!error.isTransient)
        try fixture.checkOutcome(status)
    }

    /// What an origin may serve in place of a picture, and the code of the failure it makes.
    struct Damage: Sendable, CustomTestStringConvertible {
        let code: String
        let bytes: [UInt8]
        /// A word that the message must have.
        let word: String

        var testDescription: String { code + " " + word }
    }

    static let damages: [Damage] = {
        let picture = DaemonFixture.picture
        var checksum = picture
        // IHDR's checksum: the four bytes after the signature, length, type and 13 bytes.
        checksum[29] ^= 0xff
        return [
            Damage(
                code: "html-page", bytes: Array("<!DOCTYPE html><html></html>".utf8),
                word: "HTML"),
            Damage(code: "not-a-picture", bytes: [], word: "empty"),
            Damage(code: "png-crc", bytes: checksum, word: "IHDR"),
            Damage(
                code: "png-truncated", bytes: Array(picture.prefix(picture.count / 2)), word: ""),
            Damage(code: "png-truncated", bytes: Array(picture.prefix(8)), word: ""),
        ]
    }()

    @Test(arguments: damages) func aDamagedPictureFails(damage: Damage) async throws {
        let fixture = try DaemonFixture(pictures: 1)
        try Data(damage.bytes).write(to: fixture.documents.url.appending(path: "damaged.png"))
        let daemon = try await fixture.run()
        try fixture.drop(
            "damage", images: [("good", fixture.url("0.png")), ("bad", fixture.url("damaged.png"))])
        let status = try await fixture.spool.finish("damage", daemon)

        #expect(status.state == .completedWithErrors)
        #expect(try status.image("good").state == .filtered)
        let error = try #require(try status.image("bad").error)
        #expect(error.code == damage.code)
        #expect(damage.word.isEmpty || error.message.contains(damage.word))
        #expect(!error.isTransient)
        #expect(!fixture.spool.exists("outbox/damage/bad.png"))
        try fixture.checkOutcome(status)
    }

    /// Sources that cannot be fetched, and the codes of the failures they make.
    @Test(arguments: [
        ("ftp://127.0.0.1/a.png", "unsupported-scheme", false),
        ("gopher://127.0.0.1/a.png", "unsupported-scheme", false),
        ("data:image/png;base64,iVBORw0KGgo=", "unsupported-scheme", false),
        // Port 1 of the loopback: nobody listens there.
        ("http://127.0.0.1:1/a.png", "connect-failed", true),
    ]) func aSourceThatCannotBeFetchedFails(
        source: String, code: String, transient: Bool
    ) async throws {
        let fixture = try DaemonFixture(pictures: 1)
        let daemon = try await fixture.run(["downloads.retries": "0"])
        try fixture.drop("sources", images: [("bad", source), ("good", fixture.url("0.png"))])
        let status = try await fixture.spool.finish("sources", daemon)
        let error = try #require(try status.image("bad").error)
        #expect(error.code == code)
        #expect(error.isTransient == transient)
        #expect(try status.image("good").state == .filtered)
    }

    @Test func aBatchWhoseEveryImageFailedIsNotCompleted() async throws {
        let fixture = try DaemonFixture(pictures: 0)
        let daemon = try await fixture.run()
        try fixture.drop("all", images: (0..<3).map { ("\($0)", fixture.url("\($0).png")) })
        let status = try await fixture.spool.finish("all", daemon)
        #expect(status.state == .completedWithErrors)
        #expect(status.counts.failed == 3)
        try fixture.checkOutcome(status)
    }

    @Test func aFilterOutsideThePictureFailsItsImageOnly() async throws {
        let fixture = try DaemonFixture(pictures: 1)
        let daemon = try await fixture.run()
        try fixture.drop(
            "crops",
            [
                "images": [
                    [
                        "name": "outside", "source": fixture.url("0.png"),
                        "filters": [["crop": ["x": 72, "y": 0, "width": 9, "height": 10]]],
                    ],
                    [
                        "name": "inside", "source": fixture.url("0.png"),
                        "filters": [["crop": ["x": 72, "y": 0, "width": 8, "height": 10]]],
                    ],
                ]
            ])
        let status = try await fixture.spool.finish("crops", daemon)
        #expect(try status.image("outside").error?.code == "filter-outside")
        #expect(try status.image("inside").output?.width == 8)
        try fixture.checkOutcome(status)
    }
}
