import Foundation
import TestSupport
import Testing

@testable import DarkroomClient

/// Lists of pictures: `--from`.
struct PictureListTests {
    typealias Row = PictureList.Row

    static let lists: [(text: String, rows: [Row])] = [
        ("a.jpg\nb,c.jpg\n", [Row(source: "a.jpg", line: 1), Row(source: "b,c.jpg", line: 2)]),
        (
            "\u{FEFF}a.jpg\r\n\r\nb.jpg",
            [Row(source: "a.jpg", line: 1), Row(source: "b.jpg", line: 3)]
        ),
        ("a\nb.jpg\0c.jpg\0", [Row(source: "a\nb.jpg", line: 1), Row(source: "c.jpg", line: 2)]),
        ("source\na.jpg\n", [Row(source: "a.jpg", line: 2)]),
        (
            "\u{FEFF}\"Name\", Source ,price\r\nx,a.jpg,1\r\n\r\n,\"b,\"\"c\"\".jpg\",\r\n",
            [
                Row(source: "a.jpg", name: "x", line: 2),
                Row(source: "b,\"c\".jpg", line: 4),
            ]
        ),
        (
            "source,note\na.jpg,\"two\nlines\"\nb.jpg,",
            [Row(source: "a.jpg", line: 2), Row(source: "b.jpg", line: 4)]
        ),
    ]

    @Test(arguments: lists.indices) func isRead(index: Int) throws {
        let list = try PictureList(Array(Self.lists[index].text.utf8), shown: "l")
        #expect(list.rows == Self.lists[index].rows)
    }

    @Test(arguments: [
        ("", "l: it names no picture"),
        ("name,source\n", "l: it names no picture"),
        ("name,source\nx,a\nx,b\n", "l:3: the name ‘x’ is that of line 2"),
        ("name,source\nx/y,a\n", "l:2: the name ‘x/y’ contains a slash"),
        ("name,source\nx,\n", "l:2: it has no source"),
        ("name,source\nx\n", "l:2: 1 field, but the first line names 2"),
        ("name,source\nx,a,b\n", "l:2: 3 fields, but the first line names 2"),
        ("name,source\n\nx,\"a\n", "l:3: a field has no closing quote"),
        ("name,source\nx,\"a\"b\n", "l:2: there is text after the closing quote of a field"),
        (
            "name,source\nx,a\"b\n",
            "l:2: there is a quote within a field; put the field into quotes, and double this one"
        ),
        ("source,source\na,b\n", "l:1: two columns have one name"),
        ("name;source\nx;a\n", "l:1: its columns are divided by a semicolon; save it with commas"),
        ("name\tsource\nx\ta\n", "l:1: its columns are divided by a tab; save it with commas"),
    ]) func isRefused(text: String, message: String) {
        let error = #expect(throws: ClientError.self) {
            try PictureList(Array(text.utf8), shown: "l")
        }
        #expect(error?.message == message)
        #expect(error?.exit == .rejected)
    }

    @Test(
        arguments: [
            ([0x61, 0x0A, 0xFF, 0x0A], "l:2: it is not UTF-8"),
            ([0xFF, 0xFE, 0x61, 0x00], "l: it is UTF-16; save it as UTF-8"),
        ] as [([UInt8], String)]) func otherEncodingsAreRefused(bytes: [UInt8], message: String)
    {
        let error = #expect(throws: ClientError.self) { try PictureList(bytes, shown: "l") }
        #expect(error?.message == message)
    }

    /// With its line, and all at once, not one with each attempt.
    @Test(arguments: [
        "https://example.org/a.png\nno.png\n":
            "l:2: no.png: cannot find it: No such file or directory",
        "x.png\nno.png\ny.png\n":
            "l:1: x.png: cannot find it: No such file or directory; 2 other lines cannot be used either",
    ]) func missingFilesAreNamed(text: String, message: String) throws {
        let scratch = try ScratchDirectory()
        let list = try PictureList(Array(text.utf8), shown: "l")
        let error = #expect(throws: ClientError.self) { try list.pictures(in: scratch.path) }
        #expect(error?.message == message && error?.exit == .missing && error?.remedy == nil)
        let all = try list.pictures(in: scratch.path, mayBeGone: true)
        #expect(all.count == text.split(separator: "\n").count)
    }

    /// A table whose columns have other names.
    @Test(
        arguments: [
            ("name,url\n", "If this is CSV, name the column with the files and URLs ‘source’."),
            ("url;name\n", "If this is CSV, name the column with the files and URLs ‘source’."),
            ("no.png\n", nil),
        ] as [(String, String?)]) func aHeadingIsNoPicture(text: String, remedy: String?) throws
    {
        let scratch = try ScratchDirectory()
        let list = try PictureList(Array(text.utf8), shown: "l")
        let error = #expect(throws: ClientError.self) { try list.pictures(in: scratch.path) }
        #expect(error?.remedy == remedy)
    }
}

/// Folders, sizes and watermarks on the command line.
struct PictureArgumentTests {
    private let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    private func put(_ names: String...) throws {
        for name in names { try scratch.write("x", name) }
    }

    /// Results, hidden files and other files are left out.
    @Test func aFolderMeansItsPictures() throws {
        try put(
            "p/b.jpg", "p/a.png", "p/a/z.jpg", "p/.h/x.jpg", "p/notes.txt", "p/out/r.jpg",
            "p/old/.darkroom/plan.json", "p/old/r.jpg", "p/old/deep/r.jpg")
        let folder = scratch.url.appending(path: "p").path
        var content = try PictureTree(folder).content(without: folder + "/out")
        #expect(
            content.pictures.map(\.source)
                == ["a.png", "a/z.jpg", "b.jpg"].map { "\(folder)/\($0)" })
        #expect(content.remark == "1 file of \(folder) is not a picture: .txt")
        try put(
            "p/a/1.mov", "p/a/2.mov", "p/a/3.mov", "p/plain", "p/new\nline.jpg", "p/out/status.json"
        )
        try FileManager.default.createSymbolicLink(
            atPath: folder + "/gone.jpg", withDestinationPath: "nowhere")
        content = try PictureTree(folder).content(without: folder + "/out")
        #expect(
            content.pictures.map(\.source)
                == ["a.png", "a/z.jpg", "b.jpg", "gone.jpg"].map { "\(folder)/\($0)" })
        #expect(
            content.remark
                == "6 files of \(folder) are not pictures: .mov (3), .txt, new�line.jpg (rename it), plain"
        )
    }

    /// Otherwise the same command could not be repeated: its results would be among its pictures.
    @Test(arguments: ["", "/", "/../p", "/."]) func resultsDoNotGoAmongThePictures(end: String)
        throws
    {
        try put("p/b.jpg")
        let folder = scratch.url.appending(path: "p").path
        let error = #expect(throws: ClientError.self) {
            try PictureTree(folder).content(without: folder + end)
        }
        #expect(error?.code == "results-among-sources")
        #expect(error?.exit == .usage)
        let content = try PictureTree(folder).content(without: folder + "/new")
        #expect(content.pictures.count == 1)
        #expect(content.remark == nil)
    }

    @Test func aFolderWithAManifestIsRefused() throws {
        try put("p/b.jpg", "p/manifest.yaml")
        let folder = scratch.url.appending(path: "p").path
        let error = #expect(throws: ClientError.self) { try PictureTree(folder).content() }
        #expect(error?.code == "has-manifest")
        #expect(error?.remedy?.contains("\(folder)/manifest.yaml") == true)
        try put("p/.darkroom/plan.json")
        let ofRun = #expect(throws: ClientError.self) { try PictureTree(folder).content() }
        #expect(ofRun?.code == "has-manifest")
        #expect(ofRun?.remedy == "Name the pictures that you mean, as in \(folder)/*.jpg")
        try put("q/notes.txt")
        let other = scratch.url.appending(path: "q").path
        let nothing = #expect(throws: ClientError.self) { try PictureTree(other).content() }
        #expect(nothing?.message == "\(other): there is no picture in it")
    }

    @Test(arguments: [
        (
            "400",
            #"[{"suffix": "-400", "filters": {"resize": {"width": 400, "withoutEnlargement": true}}}]"#
        ),
        (
            "40x30, 20",
            #"[{"suffix": "-40x30", "filters": {"resize": {"width": 40, "height": 30, "withoutEnlargement": true}}}, "#
                + #"{"suffix": "-20", "filters": {"resize": {"width": 20, "withoutEnlargement": true}}}]"#
        ),
    ]) func sizesAreVariants(text: String, json: String) throws {
        #expect(ManifestValue.list(try SizeText.list(text).map(\.variant)).inline(.json) == json)
    }

    @Test(arguments: ["", "0", "-4", "400,", "4x", "4x5x6", "1000001", "abc", "4,4"])
    func otherSizesAreRefused(text: String) {
        let error = #expect(throws: ClientError.self) { try SizeText.list(text) }
        #expect(error?.exit == .usage)
    }

    @Test(arguments: [
        ("", "{}"),
        (":scale=0.2,margin=20", #"{"scale": 0.2, "x": 20, "y": 20}"#),
        (
            ":position=top-left,margin=3,opacity=0.5",
            #"{"gravity": "northwest", "opacity": 0.5, "x": 3, "y": 3}"#
        ),
        // Only the edge that it names has a distance.
        (":margin=3,position=north", #"{"gravity": "north", "y": 3}"#),
        (":position=center,margin=3", #"{"gravity": "center"}"#),
        (":x=1,gravity=southEast", #"{"x": 1, "gravity": "southeast"}"#),
    ]) func aWatermarkHasParameters(text: String, json: String) throws {
        try put("l:o.png")
        let watermark = try WatermarkText("\(scratch.path)/l:o.png\(text)")
        #expect(watermark.picture.path == "\(scratch.path)/l:o.png")
        #expect(ManifestValue.map(watermark.parameters).inline(.json) == json)
    }

    @Test(arguments: [
        (":scale=2", "‘scale’ must be from 0.001 to 1, found 2"),
        (":margn=2", "‘watermark’ has no parameter ‘margn’"),
        (":from=a", "the picture stands before the colon"),
    ]) func otherParametersAreRefused(text: String, message: String) throws {
        try put("o.png")
        let argument = "\(scratch.path)/o.png\(text)"
        let error = #expect(throws: ClientError.self) { try WatermarkText(argument) }
        #expect(error?.message == "--watermark \(argument): \(message)")
        #expect(error?.exit == .usage)
    }

    /// A name that somebody has chosen wins over those that follow from files.
    @Test func chosenNamesGetNoNumber() throws {
        try put("a.jpg", "b.jpg")
        let job = PictureJob([
            try PictureSource("a.jpg", in: scratch.path),
            try PictureSource("b.jpg", in: scratch.path).named("a"),
        ])
        let text = try job.manifest().manifest(in: .json)
        #expect(text.contains(#"{"name": "a-2", "source": "\#(scratch.path)/a.jpg"}"#))
        #expect(text.contains(#"{"name": "a", "source": "\#(scratch.path)/b.jpg"}"#))
    }
}
