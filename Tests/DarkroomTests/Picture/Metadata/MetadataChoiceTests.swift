import Testing

@testable import DarkroomPicture

struct MetadataChoiceTests {
    typealias Word = MetadataChoice.Word

    struct Case: Sendable {
        let words: [Word]
        let items: Set<MetadataChoice.Item>
        var keepsPlaces = true
    }

    private static let everything = Set(MetadataChoice.Item.allCases)

    private static let cases: [Case] = [
        Case(words: [.none], items: []), Case(words: [.all], items: everything),
        Case(words: [.all, .withoutPlaces], items: everything, keepsPlaces: false),
        Case(words: [.withoutPlaces, .copyright], items: [.copyright], keepsPlaces: false),
        Case(words: [.exif, .exif], items: [.exif]),
        Case(words: [.iptc, .xmp], items: [.iptc, .xmp]),
    ]

    @Test(arguments: cases) func wordsMakeAChoice(_ one: Case) {
        #expect(MetadataChoice.mismatch(of: one.words) == nil)
        let choice = MetadataChoice(one.items, keepsPlaces: one.keepsPlaces)
        #expect(MetadataChoice(words: one.words) == choice)
    }

    private static let nonsense: [[Word]] = [
        [], [.none, .all], [.none, .withoutPlaces], [.withoutPlaces],
        [.withoutPlaces, .withoutPlaces],
    ]

    @Test(arguments: nonsense)
    func wordsWithoutAMeaningAreRefused(words: [Word]) {
        #expect(MetadataChoice.mismatch(of: words) != nil)
    }

    @Test func eachItemIsAWordAndOneForOtherPackages() {
        let items = MetadataChoice.Item.allCases.map(\.rawValue)
        #expect(Set(items).isSubset(of: Word.allCases.map(\.rawValue)))
        #expect(PictureOutput.Metadata.allCases.map(\.rawValue) == items)
    }

    @Test func otherPackagesChooseTheSame() {
        let output = PictureOutput.webp().keeping([.copyright, .xmp], places: false)
        #expect(
            output.options.metadata == MetadataChoice([.copyright, .xmp], keepsPlaces: false))
        #expect(PictureOutput.jpeg(keepsExif: true).options.metadata == .exifCopy)
        #expect(PictureOutput.jpeg(keepsExif: true).keeping([]).options.metadata == .none)
    }
}
