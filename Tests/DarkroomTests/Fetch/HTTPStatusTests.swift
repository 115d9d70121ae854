import Testing

@testable import DarkroomFetch

struct HTTPStatusTests {
    /// Exactly these may be answered otherwise on another attempt, and exactly these are a whole body.
    @Test func sortsEveryCode() {
        let transient: Set = [408, 425, 429, 500, 502, 503, 504]
        for code in 0...999 {
            #expect(HTTPStatus(code).isTransient == transient.contains(code))
            #expect(HTTPStatus(code).isWhole == ((200...299).contains(code) && code != 206))
        }
    }

    @Test(arguments: [
        (404, "404 Not Found"), (403, "403 Forbidden"), (410, "410 Gone"), (425, "425 Too Early"),
        (500, "500 Internal Server Error"), (501, "501 Not Implemented"), (502, "502 Bad Gateway"),
        (504, "504 Gateway Timeout"), (599, "599"), (299, "299"), (0, "0"),
    ])
    func saysItself(code: Int, words: String) {
        #expect(HTTPStatus(code).description == words)
    }

    @Test func codesAreOneEach() {
        let codes = FetchError.Code.allCases.map(\.rawValue)
        #expect(Set(codes).count == codes.count)
        let transient = FetchError.Code.allCases.filter(\.isTransient)
        #expect(
            transient == [
                .resolveFailed, .connectFailed, .timeout, .stalled, .truncated, .connectionLost,
                .connectionReset,
            ])
    }
}
