import Testing

@testable import DarkroomFetch

@Suite struct CacheControlTests {
    private func control(_ change: (inout CacheControl) -> Void) -> CacheControl {
        var control = CacheControl()
        change(&control)
        return control
    }

    @Test func readsDirectives() {
        let all = CacheControl(
            "NO-STORE, no-cache , private,public,max-age=60,s-maxage=\"30\", must-revalidate, immutable"
                .utf8)
        #expect(
            all
                == control {
                    $0.noStore = true
                    $0.noCache = true
                    $0.isPrivate = true
                    $0.isPublic = true
                    $0.maxAge = 60
                    $0.sharedMaxAge = 30
                    $0.mustRevalidate = true
                    $0.immutable = true
                })
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
        #expect(
            qualified
                == control {
                    $0.noCache = true
                    $0.isPrivate = true
                    $0.maxAge = 5
                })
    }

    @Test func addsUpSeveralFields() {
        var several = CacheControl("max-age=5".utf8)
        several.take("no-cache".utf8)
        #expect(
            several
                == control {
                    $0.noCache = true
                    $0.maxAge = 5
                })
    }
}
