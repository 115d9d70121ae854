import Foundation
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomFetch

/// Downloads that go wrong, each with its own code.
@Suite(.tags(.concurrency)) struct TransferFailureTests {
    /// Limits that would let each of these run for longer than a test may, except the one that ends
    /// it.
    @Test(arguments: [
        (MisbehavingOrigin.Behaviour.truncatedChunks, FetchError.Code.truncated, true),
        (.endless, .tooLarge, false), (.endlessPage, .httpStatus, false),
        (.garbage, .badResponse, false), (.toFTP, .unsupportedScheme, false),
    ])
    func names(
        behaviour: MisbehavingOrigin.Behaviour, code: FetchError.Code, isTransient: Bool
    ) async throws {
        let origin = try MisbehavingOrigin()
        let fixture = try EngineFixture(limits: TransferLimits(bytes: 1 << 20))
        let error = try #require(
            try await fixture.fetch(origin.url(behaviour) + "?token=secret").failure)
        #expect(error.kind == code)
        #expect(error.isTransient == isTransient)
        #expect(error.message.hasPrefix("\(origin.url(behaviour))?…"))
        #expect(!error.message.contains("secret"))
        #expect(!error.message.contains("\u{1B}"))
    }

    @Test func showsAContentTypeWithoutControls() async throws {
        let origin = try MisbehavingOrigin()
        let report = try await EngineFixture().fetch(origin.url(.wildType)).get()
        let message =
            "\(origin.url(.wildType)): the server answered with an HTML page, not a picture"
        #expect(throws: FetchError(.htmlPage, message)) { try report.pictureKind() }
    }

    static let ends: [(TransferLimits, FetchError.Code)] = [
        (TransferLimits(total: .milliseconds(50)), .timeout),
        (TransferLimits(stall: .seconds(1)), .stalled),
    ]

    @Test(arguments: [MisbehavingOrigin.Behaviour.stalled, .silent], ends)
    func endsAtALimit(
        behaviour: MisbehavingOrigin.Behaviour, end: (limits: TransferLimits, code: FetchError.Code)
    ) async throws {
        let origin = try MisbehavingOrigin()
        let error = try await EngineFixture(limits: end.limits).fetch(origin.url(behaviour)).failure
        #expect(error?.kind == end.code && error?.isTransient == true)
    }

    /// A listener whose queue of connections is full answers no further one.
    @Test func endsAConnectionThatIsNotMade() async throws {
        let fixture = try EngineFixture(limits: TransferLimits(connect: .milliseconds(50)))
        let listener = try DeafListener()
        let error = try await fixture.fetch("http://127.0.0.1:\(listener.port)/a.png").failure
        #expect(error?.kind == .timeout)
    }

    @Test func tellsARefusedConnection() async throws {
        let port = try unusedPort()
        let error = try await EngineFixture().fetch("http://127.0.0.1:\(port)/a.png").failure
        #expect(error?.kind == .connectFailed)
        #expect(error?.isTransient == true)
    }

    @Test func tellsAnUnknownHost() async throws {
        let error = try await EngineFixture().fetch("http://ann:secret@picture.invalid/a").failure
        let message = "http://picture.invalid/a: the host name has no address"
        #expect(error == FetchError(.resolveFailed, message, isTransient: true))
    }

    @Test func tellsAServerWithoutTLS() async throws {
        let origin = try NginxOrigin(documentRoot: "/nonexistent")
        let error = try await EngineFixture().fetch("https://127.0.0.1:\(origin.port)/").failure
        #expect(error?.kind == .tlsFailed)
    }
}
