import Testing

@testable import DarkroomCore
@testable import DarkroomFetch

struct CacheKeyTests {
    private func key(_ url: ByteString, _ headers: [(name: String, value: String)] = []) throws
        -> CacheKey
    {
        CacheKey(url: try RemoteURL(url), headers: headers)
    }

    @Test func isOfAllThatIsSent() throws {
        let urls: [ByteString] = [
            "http://a.example/b", "https://a.example/b", "http://a.example/B",
            "http://a.example/b?", "http://a.example/b?c", "http://a.example:81/b",
            "http://u@a.example/b", "http://u:p@a.example/b", "http://u:q@a.example/b",
        ]
        #expect(Set(try urls.map { try key($0) }).count == urls.count)
        #expect(try key("http://a.example/b#x") == key("http://a.example/b#y"))
        #expect(try key("http://a.example/b#x") == key("http://a.example/b"))
    }

    @Test func isOfTheHeadersSentToItsOrigin() throws {
        let url: ByteString = "http://a.example/b"
        let lists: [[(name: String, value: String)]] = [
            [], [("a", "b")], [("a", "c")], [("ab", "")], [("", "ab")], [("a", "b"), ("c", "d")],
        ]
        #expect(Set(try lists.map { try key(url, $0) }).count == lists.count)
        #expect(try key(url, [("A", "b")]) == key(url, [("a", "b")]))
    }

    @Test func isItsFilesName() throws {
        let key = try key("http://a.example/b")
        #expect(CacheKey(bytes: key.bytes) == key)
        #expect(key.folder.bytes.count == 2)
        #expect(key.file.bytes.count == 62)
        #expect(CacheKey(folder: key.folder, file: key.file) == key)
    }

    @Test(arguments: [
        "", "..", "x", String(repeating: "0", count: 61), String(repeating: "G", count: 62),
        String(repeating: "A", count: 62),
    ])
    func otherFilesAreNone(name: String) {
        #expect(CacheKey(folder: "00", file: FileName(name)) == nil)
        #expect(CacheKey(folder: "0", file: FileName("0" + name)) == nil)
    }

    @Test(arguments: [
        ("http://a.example/b@c", false), ("http://a@b.example", true),
        ("http://a.example?@", false),
        ("https://a:b@c.example/", true),
    ])
    func tellsUsers(url: ByteString, hasUser: Bool) throws {
        #expect(try RemoteURL(url).hasUser == hasUser)
    }
}
