import Testing

@testable import DarkroomFetch

struct CachePolicyTests {
    private let policy = CachePolicy(hasCredentials: false, userAgent: "Darkroom/1")
    /// Sat, 01 Jan 2022 00:00:00 GMT.
    private static let now = 1_640_995_200

    private func answer(_ status: Int = 200, _ lines: [String]) -> ResponseHead {
        var head = ResponseHead(status: HTTPStatus(status))
        for line in lines { head.take(line: Array(line.utf8)) }
        return head
    }

    private func record(_ lines: [String], target: String? = nil, delay: Int = 0) throws
        -> CacheRecord
    {
        policy.record(
            of: answer(200, lines), url: try RemoteURL("http://u:p@a.example/b?secret"),
            target: target, received: Self.now, delay: delay)
    }

    /// What is kept of an answer that came at once.
    private func keeping(
        _ lines: [String], status: Int = 200, isRedirected: Bool = false,
        by policy: CachePolicy? = nil
    ) -> CachePolicy.Keeping {
        (policy ?? self.policy).keeping(
            answer(status, lines), isRedirected: isRedirected, received: Self.now)
    }

    private static let tag = "ETag: \"1\""
    private static let modified = "Last-Modified: Fri, 31 Dec 2021 00:00:00 GMT"
    private static let date = "Date: Sat, 01 Jan 2022 00:00:00 GMT"

    /// Of a record that someone has made up nothing is reckoned with or sent.
    @Test func tellsWhatCannotBe() throws {
        let good = try record([Self.tag, Self.date])
        #expect(good.isPlausible)
        for number in [Int.min, .max] {
            var record = good
            record.received = number
            #expect(!record.isPlausible)
            record = good
            record.freshness.expires = number
            #expect(!record.isPlausible)
        }
        // An age may be what a server says.
        var record = good
        record.age = .max
        #expect(record.isPlausible && !record.isFresh(now: Self.now))
        record.age = -1
        #expect(!record.isPlausible)
        record = good
        record.validators.entityTag = "\"1\"\r\nX: y"
        #expect(!record.isPlausible)
    }

    // MARK: What is kept

    @Test(arguments: [
        (["Cache-Control: max-age=60"], CachePolicy.Keeping.always),
        (["Cache-Control: s-maxage=60, max-age=0"], .always),
        ([tag], .always), ([modified], .always), (["ETag: W/\"1\""], .always),
        ([date, "Expires: Sat, 01 Jan 2022 00:01:00 GMT"], .always),
        (["Expires: Sat, 01 Jan 2022 00:01:00 GMT"], .always),
        (["Cache-Control: no-cache", tag], .always),
        // Nothing could ever come of these.
        ([], .forWaiters), (["Cache-Control: max-age=0"], .forWaiters),
        (["Cache-Control: no-cache, max-age=60"], .forWaiters), (["Expires: 0"], .forWaiters),
        (["Cache-Control: s-maxage=0, max-age=60"], .forWaiters), (["ETag: 1"], .forWaiters),
        (["Cache-Control: no-store", tag], .never), (["Cache-Control: private", tag], .never),
        (["Cache-Control: private=\"x\", max-age=60"], .never),
        (["Cache-Control: max-age=60", "Cache-Control: no-store"], .never),
        (["Vary: *", tag], .never), (["Vary: accept, *", tag], .never),
        (["Vary: accept", tag], .always),
        (["Content-Encoding: gzip", tag], .never), (["Content-Encoding: identity", tag], .always),
    ])
    func keeps(lines: [String], keeping: CachePolicy.Keeping) {
        #expect(self.keeping(lines) == keeping)
    }

    @Test(arguments: [
        (200, CachePolicy.Keeping.always), (206, .always), (203, .never), (204, .never),
        (301, .never), (404, .never), (500, .never),
    ])
    func keepsByStatus(status: Int, keeping: CachePolicy.Keeping) {
        #expect(self.keeping([Self.tag], status: status) == keeping)
    }

    @Test(arguments: [
        ([tag], CachePolicy.Keeping.never), (["Cache-Control: max-age=60"], .never),
        (["Cache-Control: max-age=60, public"], .always), (["Cache-Control: s-maxage=60"], .always),
        (["Cache-Control: must-revalidate", tag], .always),
        (["Cache-Control: public, private", tag], .never),
    ])
    func keepsWhatWasAskedForWithCredentials(lines: [String], keeping: CachePolicy.Keeping) {
        let policy = CachePolicy(hasCredentials: true, userAgent: "")
        #expect(self.keeping(lines, by: policy) == keeping)
    }

    /// The next transfer begins without the cookies of this one.
    @Test(arguments: [
        ([tag], CachePolicy.Keeping.never), (["Cache-Control: max-age=60", tag], .never),
        (["Cache-Control: public", tag], .always),
        (["Cache-Control: public", tag, "Vary: Cookie"], .never),
        (["Cache-Control: s-maxage=60", tag, "Vary: Accept, cookie"], .never), ([], .never),
    ])
    func keepsWhatWasAskedForWithACookie(lines: [String], keeping: CachePolicy.Keeping) {
        var policy = CachePolicy(hasCredentials: false, userAgent: "")
        #expect(self.keeping(lines, isRedirected: true, by: policy) != .never)
        policy.sentCookies = true
        #expect(self.keeping(lines, isRedirected: true, by: policy) == keeping)
    }

    @Test func redirectedIsKeptForItsValidatorAlone() throws {
        let lines = ["Cache-Control: max-age=60", Self.tag]
        #expect(keeping(Array(lines.prefix(1)), isRedirected: true) == .forWaiters)
        #expect(keeping(lines, isRedirected: true) == .always)
        let record = try record(lines, target: "x")
        #expect(!record.isFresh(now: Self.now))
    }

    @Test func notesNoSecret() throws {
        let record = try record([Self.tag])
        #expect(!record.url.contains("secret"))
        #expect(!record.url.contains("u:p"))
    }

    // MARK: How long it is fresh

    /// The first second at which it is not; nil if it never is.
    @Test(arguments: [
        (["Cache-Control: max-age=60"], 0, 60 as Int?),
        (["Cache-Control: max-age=60, s-maxage=90"], 0, 90),
        (["Cache-Control: max-age=90, s-maxage=60"], 0, 60),
        (["Cache-Control: max-age=60", "Age: 20"], 0, 40),
        (["Cache-Control: max-age=60", "Age: 20"], 5, 35),
        (["Cache-Control: max-age=60", "Age: 60"], 0, nil),
        (["Cache-Control: max-age=60"], 100, nil),
        // The origin's clock is ten seconds behind, or what we have is ten seconds old: the same to us.
        (["Cache-Control: max-age=60", "Date: Fri, 31 Dec 2021 23:59:50 GMT"], 0, 50),
        (["Cache-Control: max-age=60", "Date: Fri, 31 Dec 2021 23:59:50 GMT", "Age: 3"], 0, 50),
        (["Cache-Control: max-age=60", "Date: Sat, 01 Jan 2022 00:00:10 GMT"], 0, 60),
        ([date, "Expires: Sat, 01 Jan 2022 00:01:00 GMT"], 0, 60),
        (["Expires: Sat, 01 Jan 2022 00:01:00 GMT"], 0, 60),
        (["Date: Sat, 01 Jan 2022 00:00:10 GMT", "Expires: Sat, 01 Jan 2022 00:01:00 GMT"], 0, 50),
        ([date, "Expires: Sat, 01 Jan 2022 00:01:00 GMT", "Cache-Control: max-age=5"], 0, 5),
        ([date, "Expires: Fri, 31 Dec 2021 00:00:00 GMT"], 0, nil),
        (["Expires: 0"], 0, nil), ([tag], 0, nil), ([modified], 0, nil), ([], 0, nil),
        (["Cache-Control: no-cache, max-age=60"], 0, nil),
        (["Cache-Control: max-age=60, max-age=30"], 0, 30),
        (["Cache-Control: max-age=-1"], 0, nil), (["Cache-Control: max-age=x"], 0, nil),
    ])
    func isFresh(lines: [String], delay: Int, until: Int?) throws {
        let record = try record(lines, delay: delay)
        guard let until else {
            #expect(!record.isFresh(now: Self.now))
            return
        }
        #expect(record.isFresh(now: Self.now))
        #expect(record.isFresh(now: Self.now + until - 1))
        #expect(!record.isFresh(now: Self.now + until))
    }

    @Test func isNotFreshBeforeItCame() throws {
        let record = try record(["Cache-Control: max-age=60"])
        #expect(!record.isFresh(now: Self.now - 1))
        #expect(!record.isFresh(now: .min))
    }

    @Test(arguments: [Int.max, Int.min, 0])
    func numbersOfAnySizeDoNotTrap(number: Int) throws {
        var record = try record(["Cache-Control: max-age=60"])
        record.age = number
        for lifetime in [Int.max, Int.min, nil] {
            for date in [Int.max, Int.min] {
                record.freshness = CacheRecord.Freshness(
                    lifetime: lifetime, expires: number, date: date)
                _ = record.isFresh(now: .max)
            }
        }
        #expect(
            CacheRecord.initialAge(date: number, age: number, received: 0, delay: number) >= 0)
    }

    // MARK: Versions of ours

    @Test(arguments: ["User-Agent", "Accept", "accept-encoding, origin"])
    func answerThatDependsOnUsIsForThisVersion(vary: String) throws {
        let record = try record(["Vary: \(vary)", Self.tag])
        #expect(policy.matches(record))
        #expect(!CachePolicy(hasCredentials: false, userAgent: "Darkroom/2").matches(record))
    }

    @Test func answerThatDependsOnWhatIsNeverSentIsForAll() throws {
        let record = try record(["Vary: Origin, Cookie", Self.tag])
        #expect(CachePolicy(hasCredentials: false, userAgent: "Darkroom/2").matches(record))
    }

    // MARK: Confirmations

    private func confirm(_ record: CacheRecord, _ lines: [String], target: String? = nil)
        -> CachePolicy.Confirmation
    {
        policy.confirmation(
            of: record, by: answer(304, lines), target: target, received: Self.now + 100, delay: 0)
    }

    @Test func confirmationBeginsItsLifeAnew() throws {
        let record = try record(["Cache-Control: max-age=60", Self.tag])
        #expect(!record.isFresh(now: Self.now + 100))
        guard case .keeps(let new) = confirm(record, [Self.tag]) else {
            Issue.record("it is not kept")
            return
        }
        #expect(new.isFresh(now: Self.now + 159))
        #expect(!new.isFresh(now: Self.now + 160))
    }

    @Test func confirmationReplacesWhatItSays() throws {
        let record = try record(
            ["Cache-Control: max-age=60", Self.tag, Self.modified, Self.date, "Age: 7"])
        let confirmation = confirm(
            record,
            [
                "Cache-Control: no-cache, max-age=5", "ETag: W/\"1\"",
                "Date: Sat, 01 Jan 2022 00:01:40 GMT",
            ])
        var expected = record
        expected.received = Self.now + 100
        expected.age = 0
        expected.freshness.lifetime = 5
        expected.freshness.requiresRevalidation = true
        expected.freshness.date = Self.now + 100
        expected.validators.entityTag = "W/\"1\""
        #expect(confirmation == .keeps(expected))
    }

    @Test(arguments: ["Cache-Control: no-store", "Cache-Control: private", "Vary: *"])
    func confirmationMayForbidKeeping(line: String) throws {
        #expect(confirm(try record([Self.tag]), [line]) == .lets)
    }

    @Test func confirmationOfAnotherAnswerIsNoUse() throws {
        #expect(confirm(try record([Self.tag]), ["ETag: \"2\""]) == .contradicts)
        #expect(confirm(try record([Self.tag]), [Self.tag], target: "x") == .contradicts)
        #expect(confirm(try record([Self.tag], target: "y"), [Self.tag]) == .contradicts)
        #expect(
            confirm(try record([Self.tag], target: "y"), [Self.tag], target: "x") == .contradicts)
        // Weak ones say nothing of bytes.
        #expect(confirm(try record([Self.tag]), ["ETag: W/\"2\""]) != .contradicts)
    }
}
