import Testing

@testable import DarkroomFetch

struct CacheControlTests {
    @Test func readsDirectives() {
        let text =
            "NO-STORE, no-cache , private,public,max-age=60,s-maxage=\"30\", must-revalidate, immutable"
        var expected = CacheControl()
        expected.noStore = true
        expected.noCache = true
        expected.isPrivate = true
        expected.isPublic = true
        expected.maxAge = 60
        expected.sharedMaxAge = 30
        expected.mustRevalidate = true
        expected.immutable = true
        #expect(CacheControl(text.utf8) == expected)
    }

    @Test(arguments: [
        "", " ", ",", ", ,\t,", "x", "x=1", "x=\"no-store\"", "x=\"a, no-store\"",
        "stale-while-revalidate=60", "no-storex", "x=\"\\\", no-store\"", "x=,y=",
    ])
    func passesOverWhatItDoesNotKnow(text: String) {
        #expect(CacheControl(text.utf8) == CacheControl())
    }

    @Test(arguments: [
        ("max-age=0", 0), ("max-age=\"5\"", 5), ("max-age=5, max-age=3", 3),
        ("max-age=3, max-age=5", 3), ("max-age=5, max-age=x", 0), ("max-age", 0), ("max-age=", 0),
        ("max-age=-1", 0), ("max-age=1.5", 0), ("max-age=99999999999999999999", 1 << 31),
        ("Max-Age=7", 7), ("max-age=2147483649", 1 << 31),
    ])
    func readsTimes(text: String, seconds: Int) {
        #expect(CacheControl(text.utf8).maxAge == seconds)
    }

    @Test(arguments: [
        "no-store", "x=\"", "max-age=1, x=\"a", "x=\"a\\", "max-age =1", "a b", "=", "\"no-cache\"",
        "max-age=1;no-cache", "x=\"a\"b", "no-store=1", "é",
    ])
    func doesNotStoreWhatItCannotRead(text: String) {
        #expect(CacheControl(text.utf8).noStore)
    }

    @Test func countsQualifiedFormsAsPlain() {
        let qualified = CacheControl("no-cache=\"set-cookie, x\", private=\"x\", max-age=5".utf8)
        #expect(qualified == CacheControl("no-cache, private, max-age=5".utf8))
    }

    @Test func addsUpSeveralFields() {
        var several = CacheControl("max-age=5".utf8)
        several.take("no-cache".utf8)
        #expect(several == CacheControl("max-age=5, no-cache".utf8))
    }
}
