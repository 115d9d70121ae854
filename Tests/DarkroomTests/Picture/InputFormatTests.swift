import Testing

@testable import DarkroomPicture

struct InputFormatTests {
    struct Case: CustomTestStringConvertible, Sendable {
        let bytes: [UInt8]
        let kind: InputFormat
        var testDescription: String { "\(kind)" }

        init(_ kind: InputFormat, _ bytes: [UInt8]) {
            self.bytes = bytes + [UInt8](repeating: 0, count: max(0, 64 - bytes.count))
            self.kind = kind
        }

        /// A whole file, not padded to 64 bytes.
        init(_ kind: InputFormat, whole text: String) {
            bytes = Array(text.utf8)
            self.kind = kind
        }

        /// A box of the ISO base media format.
        init(_ kind: InputFormat, brand: String, compatible: String = "") {
            let length = UInt8(16 + compatible.utf8.count)
            self.init(
                kind,
                [0, 0, 0, length] + Array("ftyp\(brand)".utf8) + [0, 0, 0, 0]
                    + Array("\(compatible)avif".utf8))
        }
    }

    static let cases = [
        Case(.png, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]),
        // Line ends changed by a transfer as text, the upper bit lost, UTF-8 made of it.
        Case(.mangledPNG, [0x89, 0x50, 0x4E, 0x47, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]),
        Case(.mangledPNG, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0D, 0x0A, 0x1A, 0x0D, 0x0A, 0]),
        Case(.mangledPNG, [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x1A, 0x0D, 0, 0, 0, 13]),
        Case(.mangledPNG, [0x09, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]),
        Case(.mangledPNG, [0xC2, 0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0]),
        Case(.mangledPNG, whole: "\u{FFFD}PNG\r\n\u{1A}\n\0\0\0\rIHDR"),
        Case(.unknown, [0x88, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13]),
        Case(.mng, [0x8A, 0x4D, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
        Case(.jng, [0x8B, 0x4A, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]),
        Case(.jpeg, [0xFF, 0xD8, 0xFF, 0xE0]),
        Case(.gif, Array("GIF89a".utf8)),
        Case(.gif, Array("GIF87a".utf8)),
        Case(.webp, Array("RIFF".utf8) + [1, 2, 3, 4] + Array("WEBPVP8 ".utf8)),
        Case(.unknown, Array("RIFF".utf8) + [1, 2, 3, 4] + Array("WAVEfmt ".utf8)),
        Case(.tiff, [0x49, 0x49, 0x2A, 0x00]),
        Case(.tiff, [0x4D, 0x4D, 0x00, 0x2A]),
        Case(.tiff, [0x4D, 0x4D, 0x00, 0x2B]),
        Case(.bmp, Array("BM".utf8) + [0x36, 0x10, 0, 0, 0, 0, 0, 0, 0x36, 0, 0, 0, 40]),
        Case(.text, whole: "BMI tables for the year"),
        Case(.avif, brand: "avif"),
        Case(.heic, brand: "heic"),
        // What follows the brands does not count.
        Case(.heic, brand: "mif1", compatible: "mif1heic"),
        Case(.heic, brand: "msf1", compatible: "heic"),
        Case(.avif, brand: "mif1", compatible: "mif1avifmiaf"),
        Case(.cameraRaw, brand: "crx "),
        Case(.cameraRaw, [0x49, 0x49, 0x2A, 0, 16, 0, 0, 0] + Array("CR".utf8) + [2, 0]),
        Case(.cameraRaw, Array("FUJIFILMCCD-RAW 0201".utf8)),
        Case(.video, brand: "isom"),
        Case(.video, brand: "qt  "),
        Case(.video, [0, 0, 0, 8] + Array("wide".utf8)),
        Case(.video, Array("RIFF".utf8) + [1, 2, 3, 4] + Array("AVI LIST".utf8)),
        Case(.video, [0x1A, 0x45, 0xDF, 0xA3]),
        Case(.jpegXL, [0xFF, 0x0A, 0x12]),
        Case(.jpegXL, [0, 0, 0, 0x0C, 0x4A, 0x58, 0x4C, 0x20, 0x0D, 0x0A, 0x87, 0x0A]),
        Case(.jpeg2000, [0, 0, 0, 0x0C, 0x6A, 0x50, 0x20, 0x20, 0x0D, 0x0A, 0x87, 0x0A]),
        Case(.icon, [0, 0, 1, 0, 1, 0]),
        Case(.photoshop, Array("8BPS".utf8)),
        Case(.openEXR, [0x76, 0x2F, 0x31, 0x01]),
        Case(.fits, whole: "SIMPLE  =                    T"),
        Case(.pdf, whole: "%PDF-1.7\n"),
        Case(.postscript, whole: "%!PS-Adobe-3.0"),
        Case(.svg, whole: "<svg xmlns=\"http://www.w3.org/2000/svg\">"),
        Case(.svg, whole: "<?xml version=\"1.0\"?>\n<svg width=\"10\">"),
        Case(.html, whole: "<!DOCTYPE html>\n<html>"),
        Case(.html, whole: "\u{FEFF}  \n<HTML lang=en>"),
        Case(.html, whole: "<!-- nothing found --><html>"),
        Case(.xml, whole: "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>"),
        Case(.xml, whole: "<Error><Code>NoSuchKey</Code></Error>"),
        Case(.json, whole: "{\"error\": \"not found\"}"),
        Case(.json, whole: "[1, 2]"),
        Case(.text, whole: "Not found"),
        Case(.text, whole: "Größe unbekannt"),
        Case(.gzip, [0x1F, 0x8B, 0x08]),
        Case(.zip, [0x50, 0x4B, 0x03, 0x04]),
        Case(.bzip2, Array("BZh9".utf8)),
        Case(.xz, [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00]),
        Case(.zstandard, [0x28, 0xB5, 0x2F, 0xFD]),
        Case(.empty, whole: ""),
        Case(.unknown, [0x00]),
        Case(.unknown, whole: "ELF\u{7F}"),
    ]

    @Test(arguments: cases)
    func isTold(_ example: Case) {
        #expect(InputFormat(prefix: example.bytes) == example.kind)
    }

    @Test func everyKindHasAnExample() {
        let shown = Self.cases.map(\.kind)
        #expect(InputFormat.allCases.filter { !shown.contains($0) } == [])
    }

    @Test func textMayBeCutWithinACharacter() {
        #expect(InputFormat(prefix: Array("Maß".utf8).dropLast()) == .text)
    }

    @Test(arguments: [
        (InputFormat.photoshop, PictureError.Code.unsupportedFormat), (.svg, .unsupportedFormat),
        (.pdf, .unsupportedFormat), (.cameraRaw, .unsupportedFormat), (.video, .notAPicture),
        (.html, .notAPicture), (.empty, .notAPicture), (.unknown, .notAPicture),
        (.mangledPNG, .pngSignature),
    ])
    func refusalsHaveCodes(kind: InputFormat, code: PictureError.Code) throws {
        let refusal = try #require(kind.refusal(of: "x.png"))
        #expect(refusal.kind == code)
        #expect(refusal.message.hasPrefix("x.png: this is \(kind.words)"))
        #expect(!refusal.isTransient)
    }

    @Test func refusalsSayWhatToDo() throws {
        let pdf = try #require(InputFormat.pdf.refusal(of: "x.pdf"))
        let pages = "make pictures of its pages, for example with pdftoppm -png"
        let words = "x.pdf: this is a PDF document; \(InputFormat.rule); \(pages)"
        #expect(pdf.message == words)
        let video = try #require(InputFormat.video.refusal(of: "x.mov"))
        let advice = "take a picture from it, for example with ffmpeg -frames:v 1"
        #expect(
            video.message
                == "x.mov: this is a video or a recording of sound, not a picture; \(advice)")
        let refused = InputFormat.allCases.filter { $0.isPicture && !$0.isReadable }
        #expect(refused.filter { $0.remedy == nil } == [.mangledPNG])
    }

    @Test func theTableSaysWhatIsRead() {
        let kinds: [InputFormat] = [
            .png, .jpeg, .gif, .webp, .tiff, .bmp, .avif, .heic, .jpegXL,
        ]
        #expect(InputFormat.allCases.filter(\.isReadable) == kinds)
        #expect(
            InputFormat.rule
                == "only PNG, JPEG, WebP, AVIF, HEIC, TIFF, GIF, BMP and JPEG XL pictures are supported"
        )
        for name in ["a.PNG", "a.webp", "a.HEIC", "a.heif", "a.tif", "a.jxl", "a.dib", "a.CR2"] {
            #expect(PictureFileExtensions.match(name), "\(name)")
        }
        for name in ["IMG_1.MOV", "a.mp4", "a.txt", "png"] {
            #expect(!PictureFileExtensions.match(name), "\(name)")
        }
        #expect(InputFormat.png.refusal(of: "x.png") == nil)
    }
}
