import Testing

@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomPicture

/// `output.name`: which paths outputs get.
struct OutputNameTests {
    private static let images = """
        images:
          - a/beach.jpg
          - b/beach.jpg
          - {name: hero.webp, source: "https://h/x/y%2Fz.png?q=1"}
          - {name: late, from: hero.webp}
        """

    /// As outputs of 40 by 30 pixels would have them.
    private static func paths(_ manifest: Manifest) -> [String] {
        manifest.images.map {
            $0.outputFile(width: 40, height: 30, sha256: "0123456789abcdef")
        }
    }

    private static func paths(_ text: String) throws -> [String] {
        paths(try read(text, .yaml))
    }

    /// A template, and the paths of the images above.
    @Test(arguments: [
        ("{name}", ["beach", "beach-2", "hero", "late"].map { "\($0).webp" }),
        ("{name}.{ext}", ["beach", "beach-2", "hero", "late"].map { "\($0).webp" }),
        ("x{name}.WEBP", ["beach", "beach-2", "hero", "late"].map { "x\($0).WEBP" }),
        ("{name}.png", ["beach", "beach-2", "hero", "late"].map { "\($0).png.webp" }),
        (
            "{name}-{width}x{height}",
            ["beach", "beach-2", "hero", "late"].map { "\($0)-40x30.webp" }
        ),
        ("{folder}/{stem}.{ext}", ["a/beach.webp", "b/beach.webp", "y_z.webp", "late.webp"]),
        (
            "{folder}-{stem}.{sha8}.{ext}",
            ["a-beach", "b-beach", "-y_z", "-late"].map { "\($0).01234567.webp" }
        ),
        ("img/{index}-{sha8}.webp", (1...4).map { "img/\($0)-01234567.webp" }),
        ("{width}/{folder}/{index}", ["40/a/1", "40/b/2", "40/3", "40/4"].map { "\($0).webp" }),
        ("{index}{{{ext}}}", (1...4).map { "\($0){webp}.webp" }),
        ("{variant}.{index}", (1...4).map { "_.\($0).webp" }),
        ("page/{index}.{ext}", (1...4).map { "_page/\($0).webp" }),
        ("Status.JSON/{index}", (1...4).map { "_Status.JSON/\($0).webp" }),
        ("manifest.{index}", (1...4).map { "_manifest.\($0).webp" }),
        ("x/manifest.{index}", (1...4).map { "x/manifest.\($0).webp" }),
    ]) func followsItsTemplate(template: String, paths: [String]) throws {
        let output = "output: {format: webp, name: \"\(template)\"}\n"
        let manifest = try read(output + Self.images, .yaml)
        #expect(Self.paths(manifest) == paths)
        // Images keep their names.
        #expect(
            manifest.images.map(\.name.string) == ["beach", "beach-2", "hero.webp", "late"])
        // The bytes do not depend on it.
        let plain = try read("output: {format: webp}\n" + Self.images, .yaml)
        #expect(manifest.allSettingsSHA256() == plain.allSettingsSHA256())
        #expect(paths.allSatisfy(OutputPath.isValid))
    }

    /// A source, a template, and the path: no value leads out of the folder, hides a file or takes the place of one of
    /// Darkroom's.
    @Test(arguments: [
        ("https://h/..%2F..%2Fetc.png", "{stem}.{ext}", "_._.._etc.png"),
        ("https://h/%2Estatus.json", "{stem}.{ext}", "_status.json.png"),
        ("https://h/%00%0A.png", "{stem}.{ext}", "__.png"),
        ("https://h/a/b/c.png", "{folder}/{stem}", "c.png"),
        ("../../x.png", "{folder}/{stem}", "_./_./x.png"),
        ("/srv/a/x.png", "{folder}/{stem}", "srv/a/x.png"),
        ("./a//b/x.png", "{folder}/{stem}", "a/b/x.png"),
        (".git/x.png", "{folder}/{stem}", "_git/x.png"),
        ("page/x.png", "{folder}/{stem}", "_page/x.png"),
        ("status.json/x.png", "{folder}/{stem}", "_status.json/x.png"),
        ("a/sizes.json/x.png", "{folder}/{stem}", "a/sizes.json/x.png"),
        ("manifest.png", "{stem}", "_manifest.png"),
        ("a/b/x.png", "{folder}{stem}", "a-bx.png"),
        ("a/b/x.png", "{folder}", "a-b.png"),
        ("x.png", "{folder}", "_.png"),
        ("ann:pw@h/a/x.png", "{folder}/{stem}", "image.png"),
        ("a\u{301}/x.png", "{folder}/{stem}", "a\u{301}/x.png"),
    ]) func valuesAreHarmless(source: String, template: String, path: String) throws {
        let found = try Self.paths(
            "{output: {name: \"\(template)\"}, images: [\"\(source)\"]}")
        #expect(found == [path])
        #expect(OutputPath.isValid(path))
    }

    /// A name has at most 240 bytes, whatever its values are.
    @Test(arguments: ["{stem}-{sha8}", "{stem}{stem}.{ext}", "{width}{stem}{folder}", "{folder}/x"])
    func longValuesAreCut(template: String) throws {
        let long = String(repeating: "ä", count: 300)
        let path = try Self.paths(
            "{output: {name: \"\(template)\"}, images: [\(long)/\(long).png]}")[0]
        #expect(OutputPath.components(of: path).allSatisfy { $0.utf8.count <= 240 })
        #expect(path.hasSuffix(".png") && OutputPath.isValid(path))
    }

    /// A text that is no template: the code of its problem, its message, and the suggestion.
    @Test(
        arguments: [
            (
                "{nmae}.png", "unknown-value",
                "has the unknown placeholder ‘{nmae}’; did you mean ‘{name}’?", "{name}"
            ),
            (
                "{Width}", "unknown-value",
                "has the unknown placeholder ‘{Width}’; did you mean ‘{width}’?", "{width}"
            ),
            (
                "{date}", "unknown-value",
                "has the unknown placeholder ‘{date}’; there are {name}, {stem}, {folder}, {variant}, {index}, {ext}, {width}, {height} and {sha8}",
                nil
            ),
            ("", "bad-name", "is empty", nil),
            ("a{name", "bad-name", "has a ‘{’ alone; write ‘{{’ for a brace", nil),
            ("a}", "bad-name", "has a ‘}’ alone; write ‘}}’ for a brace", nil),
            ("/a", "bad-name", "has a slash without a name before or after it", nil),
            ("a/", "bad-name", "has a slash without a name before or after it", nil),
            ("a//b", "bad-name", "has a slash without a name before or after it", nil),
            ("a/../b", "bad-name", "has a part that begins with a dot", nil),
            (".{name}", "bad-name", "has a part that begins with a dot", nil),
            ("a\\u0001", "bad-name", "contains a control character", nil),
            ("a\\u202E", "bad-name", "contains a control character", nil),
            (
                String(repeating: "x", count: 151), "bad-name",
                "has a part of 151 bytes; the limit is 150", nil
            ),
            (
                String(repeating: "x/", count: 500) + "x", "bad-name",
                "has 1001 bytes; the limit is 1000", nil
            ),
        ] as [(String, String, String, String?)])
    func tellsWhatIsWrong(
        template: String, code: String, message: String, suggestion: String?
    ) throws {
        let found = problems("{\"output\": {\"name\": \"\(template)\"}, \"images\": [\"a\"]}")
        let problem = try #require(found.first)
        #expect(found.count == 1)
        #expect(problem.code == code && problem.path == "output.name")
        #expect(problem.line == 1 && problem.column == 21)
        #expect(problem.message.hasSuffix("’ \(message)"), "\(problem.message)")
        #expect(problem.suggestion == suggestion)
    }

    @Test func tooManyFolders() {
        let deep = String(repeating: "f/", count: 33)
        let found = problems("{output: {name: \"\(deep){name}\"}, images: [a]}", .yaml)
        #expect(
            found.map(\.message) == ["the path of its output has 33 folders; the limit is 32"])
    }

    /// A manifest, and the images that would have the output of another one.
    @Test(
        arguments: cases(
            #"""
            {output: {name: same}, images: [a, b]} ⇒ images[1]
            {output: {name: '{stem}'}, images: [a/x, b/x, c/y]} ⇒ images[1]
            {output: {name: '{folder}/{stem}'}, images: [a/x, b/x, c/y]}
            // Only the outputs will tell.
            {output: {name: '{stem}-{width}'}, images: [a/x, b/x]}
            {output: {name: '{sha8}'}, images: [a/x, b/x]}
            {output: {name: '{stem}'}, images: [x], variants: [{suffix: -1}, {suffix: -2}]}
                images[0]
            {output: {name: '{stem}{variant}'}, images: [x], variants: [{suffix: -1}, {suffix: -2}]}
            images: {a: {source: x, output: {name: b}}, b: y} ⇒ images.b
            images: {a: {source: x, output: {name: b}, publish: false}, b: y}
            images: {a: {source: x, output: {name: d.png/x}}, d: y} ⇒ images.a
            images: {a: {source: x, output: {name: d/x}}, d: y}
            """#)) func noTwoHaveOneFile(text: String, places: [String])
    {
        let found = problems(text, .yaml)
        #expect(found.map(\.path) == places, "\(found)")
        #expect(found.allSatisfy { $0.code == "duplicate-name" })
    }

    /// Variants of an image have one number, with the digits of the last one, and the template of the nearest output.
    @Test func numbersAndVariants() throws {
        let sources = (1...10).map { "s\($0)" }.joined(separator: ", ")
        let text = """
            output: {name: "{index}{variant}.{ext}"}
            variants: [{suffix: -a}, {suffix: -b, output: {format: jpeg, name: "b/{index}"}}]
            images: [\(sources), {source: z, output: {name: "z/{name}"}}]
            """
        let manifest = try read(text, .yaml)
        let paths = Self.paths(manifest)
        #expect(Array(paths[..<4]) == ["01-a.png", "b/01.jpg", "02-a.png", "b/02.jpg"])
        #expect(Array(paths[20...]) == ["z/z-a.png", "b/11.jpg"])
        #expect(manifest.images[0].variantOf == "s1" && manifest.images[21].variantOf == "z")
    }

    /// Whose variants they are, also where names have numbers, pages or names of their own.
    @Test(arguments: [
        ("images: [a/x, b/x.png, c/y]", ["x", "x", "x-2", "x-2", "y", "y"]),
        ("images: {p.png: x}", ["p.png", "p.png"]),
        ("images: [{source: x, variants: [{name: big}, {suffix: ''}]}]", ["x", "x"]),
    ]) func variantsKnowTheirImage(images: String, names: [String]) throws {
        let manifest = try read("variants: [{suffix: -1}, {suffix: -2}]\n\(images)", .yaml)
        #expect(manifest.images.map { $0.variantOf?.string ?? "" } == names)
    }

    @Test func aRecipeHasOne() throws {
        let recipe = try Recipe(
            named: "web", text: "output: {format: webp, name: \"{name}-{sha8}.{ext}\"}")
        let manifest = try read(
            "recipe: web\nimages: [a, {source: b, output: jpeg}]", .yaml,
            recipes: RecipeBook([recipe]))
        #expect(Self.paths(manifest) == ["a-01234567.webp", "b-01234567.jpg"])
        #expect(manifest.images[0].outputFile == "a-{sha8}.webp")
        #expect(!manifest.images[0].isFileKnown)
        #expect(throws: ManifestRejection.self) {
            try Recipe(named: "web", text: "output: {name: \"{nam}\"}")
        }
    }

    /// The folders of pictures within a folder of the command line are in their templates.
    @Test(arguments: [
        ("{folder}/{stem}.{ext}", ["a", "{b}"], "a/{{b}}/{stem}.{ext}"),
        ("{folder}/{stem}.{ext}", [], "{stem}.{ext}"),
        ("x-{folder}-{{}}", ["a", "b"], "x-a-b-{{}}"), ("{folder}", ["a"], "a"),
    ]) func foldersAreWrittenIntoATemplate(template: String, folders: [String], result: String)
        throws
    {
        #expect(try NameTemplate(template).with(folders: folders) == result)
        _ = try NameTemplate(result)
    }
}
