import Testing

@testable import DarkroomCore
@testable import DarkroomFixtures

/// The message catalog, which `journalctl -x` shows, against the events.
struct CatalogTests {
    /// None missing, none too many, none twice, and in the same order, so that people find their way.
    @Test func explainsEachEvent() throws {
        #expect(try JournalCatalog.entries().map(\.id) == Event.allCases.map(\.rawValue))
    }

    @Test func saysWhatItIsAndWhereMoreIs() throws {
        for entry in try JournalCatalog.entries() {
            #expect(entry.headers.keys.sorted() == ["Defined-By", "Documentation", "Subject"])
            #expect(entry.headers["Defined-By"] == "Darkroom")
            #expect(entry.headers["Documentation"] == "man:darkroomd(8)")
            #expect(entry.headers["Subject"]?.isEmpty == false)
            #expect(entry.text.contains { !$0.isEmpty }, "\(entry.id)")
            // As wide as a terminal, also where a record has replaced a reference by something short.
            #expect(entry.text.allSatisfy { $0.count <= 80 }, "\(entry.id)")
        }
        let subjects = try JournalCatalog.entries().compactMap { $0.headers["Subject"] }
        #expect(Set(subjects).count == subjects.count)
    }

    /// A field that a record does not have would be left standing as @NAME@.
    @Test func refersToFieldsThatEachRecordHas() throws {
        var count = 0
        for entry in try JournalCatalog.entries() {
            let event = try #require(Event(rawValue: entry.id))
            let names = Set(event.form.always.map(\.name))
            for reference in entry.references {
                count += 1
                #expect(names.contains(reference), "\(event): \(reference)")
            }
        }
        #expect(count > 50)
    }
}
