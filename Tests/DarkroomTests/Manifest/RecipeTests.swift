import Foundation
import TestSupport
import Testing

@testable import DarkroomCore
@testable import DarkroomManifest

/// Recipes, what manifests make of them, and the folder that has them.
struct RecipeTests {
    private static let texts = [
        "web": "# for the web\nfilters: {resize: 800}\noutput: {format: jpeg, quality: 80}\n",
        "small": "output: {compression: small}", "mono": "filters: mono\npriority: low",
        "shown": "page: true", "old": "damaged: keep",
        "none": "{}",
        "sizes":
            "output: jpeg\nvariants: [{suffix: -8, filters: {resize: 8}, output: {quality: 70}}, {suffix: ''}]",
    ]

    private static func book(isOnly: Bool = false) throws -> RecipeBook {
        var book = RecipeBook(try texts.map { try Recipe(named: $0.key, text: $0.value) })
        book.isOnly = isOnly
        return book
    }

    private static func read(_ text: String, isOnly: Bool = false) throws -> Manifest {
        try DarkroomManifestTests.read(
            text, .yaml, defaults: [.flip], recipes: book(isOnly: isOnly))
    }

    // MARK: Manifests

    /// A manifest with recipes, and the same without any.
    @Test(
        arguments: pairs(
            #"""
            recipe: web\nimages: [a]
                filters: [{resize: {width: 800}}]\noutput: {format: jpeg, quality: 80}\nimages: [a]
            recipe: none\nimages: [a] ⇒ images: [a]
            recipe: sizes\nimages: [a, {source: b, output: png}]
                output: jpeg\nvariants: [{suffix: -8, filters: {resize: 8}, output: {quality: 70}}, {suffix: ''}]\nimages: [a, {source: b, output: png}]
            recipe: sizes\nvariants: [{suffix: x}]\nimages: [a]
                output: jpeg\nvariants: [{suffix: x}]\nimages: [a]
            variants: [{suffix: x}]\nimages: [a, {source: b, recipe: sizes}]
                images: [{source: a, variants: [{suffix: x}]}, {source: b, output: jpeg, variants: [{suffix: -8, filters: {resize: 8}, output: {quality: 70}}, {suffix: ''}]}]
            recipe: mono\nimages: [a] ⇒ filters: [mono]\npriority: low\nimages: [a]
            recipe: shown\nimages: [a] ⇒ page: true\nimages: [a]
            recipe: old\nimages: [a, {source: b, damaged: fail}]
                damaged: keep\nimages: [a, {source: b, damaged: fail}]
            images: [a, {source: b, recipe: old}] ⇒ images: [a, {source: b, damaged: keep}]
            recipe: shown\npage: false\nimages: [a] ⇒ page: false\nimages: [a]
            images: [{source: a, recipe: shown}] ⇒ images: [a]
            // What stands beside it replaces it.
            recipe: web\nfilters: sepia\nimages: [a]
                filters: sepia\noutput: {format: jpeg, quality: 80}\nimages: [a]
            recipe: web\noutput: {quality: 90, progressive: true}\nimages: [a]
                filters: {resize: 800}\noutput: {format: jpeg, quality: 90, progressive: true}\nimages: [a]
            recipe: web\noutput: png\nimages: [a]
                filters: {resize: 800}\noutput: {format: png}\nimages: [a]
            recipe: mono\npriority: high\nimages: [a] ⇒ filters: mono\npriority: high\nimages: [a]
            // Of an image: over the manifest's settings, which it replaces one by one.
            filters: blur: 2\noutput: {exif: true}\nimages: [{source: a, recipe: web}, b]
                filters: {blur: 2}\noutput: {exif: true}\nimages: [{source: a, filters: {resize: 800}, output: {format: jpeg, quality: 80}}, b]
            recipe: web\nimages: {a: {source: a, recipe: mono}, b: b}
                filters: {resize: 800}\noutput: {format: jpeg, quality: 80}\nimages: {a: {source: a, filters: mono}, b: b}
            recipe: web\nimages: [{source: a, recipe: mono, filters: [], output: {quality: 7}}]
                output: {format: jpeg, quality: 80}\nimages: [{source: a, filters: [], output: {quality: 7}}]
            // An option that the recipe's format does not have is left out, as for a manifest.
            output: {format: jpeg}\nimages: [{source: a, recipe: small, filters: []}]
                output: {format: jpeg}\nimages: [{source: a, filters: []}]
            """#, breaks: true)) func isTheSameAs(text: String, plain: String) throws
    {
        let text = text.replacing("filters: blur: 2", with: "filters: {blur: 2}")
        var manifest = try Self.read(text)
        #expect(!manifest.recipes.isEmpty)
        manifest.recipes = []
        var expected = try Self.read(plain)
        // Options of the other format do not count.
        for index in expected.images.indices {
            if expected.images[index].output.format == .jpeg {
                manifest.images[index].output.compression = .balanced
            } else {
                manifest.images[index].output.quality = 85
                expected.images[index].output.quality = 85
            }
        }
        #expect(manifest == expected)
    }

    @Test func namesTheRecipesThatItUses() throws {
        let text = "recipe: web\nimages: [a, {source: b, recipe: mono}, {source: c, recipe: mono}]"
        let recipes = try Self.read(text).recipes
        #expect(recipes.map(\.name) == ["mono", "web"])
        #expect(recipes.map(\.text) == ["mono", "web"].map { Self.texts[$0] })
        #expect(recipes[1].sha256 == SHA256Digest.hex(of: Array((Self.texts["web"] ?? "").utf8)))
        #expect(try Self.read("images: [a]").recipes == [])
    }

    @Test(
        arguments: cases(
            #"""
            recipe: wbe\nimages: [a]
                1:9 unknown-recipe recipe → web
                there is no recipe ‘wbe’
            recipe: zzzzzz\nimages: [a]
                1:9 unknown-recipe recipe
                there is no recipe ‘zzzzzz’; the recipes are mono, none, old, shown, sizes, small and web
            recipe: ""\nimages: [a]
                1:9 unknown-recipe recipe
                there is no recipe ‘’; the recipes are mono, none, old, shown, sizes, small and web
            recipe: [web]\nimages: [a]
                1:9 wrong-type recipe
                ‘recipe’ must be text, found a list; write ‘recipe: web’
            recipe: \nimages: [a]
                1:8 wrong-type recipe
                ‘recipe’ must be text, found nothing; write ‘recipe: web’
            images: [{source: a, recipe: Web}]
                1:30 unknown-recipe images[0].recipe → web
                there is no recipe ‘Web’
            images: [{source: a, recipes: web}]
                1:22 unknown-key images[0].recipes → recipe
                unknown key ‘recipes’
            // Its compression belongs to another format than that of the image.
            images: [{source: a, recipe: web, output: {compression: fast}}]
                1:57 conflicting-keys images[0].output.compression
                ‘compression’ is an option of png and tiff, but the format here is jpeg
            """#, breaks: true)) func isRefused(text: String, expected: [String]) throws
    {
        let book = try Self.book()
        #expect(said(problems(text, .yaml, recipes: book)) == expected)
    }

    @Test func saysThatThereAreNone() {
        let found = problems("recipe: web\nimages: [a]", .yaml)
        #expect(found.map(\.message) == ["there is no recipe ‘web’; there are no recipes"])
    }

    /// Who does not know all recipes leaves the check to the daemon.
    @Test func passesWhatItDoesNotKnow() throws {
        var book = try Self.book()
        book.isComplete = false
        let text = "recipe: other\nimages: [{source: a, recipe: wbe}]"
        #expect(problems(text, .yaml, recipes: book) == [])
    }

    @Test(
        arguments: cases(
            #"""
            images: [a]
            recipe: web\nimages: [{source: a, recipe: mono}]
            recipe: web\noutput: png\nimages: [a]
            filters: mono\nimages: [a] ⇒ 1:10 filters-not-allowed filters
            recipe: web\nimages: [{source: a, filters: []}, {source: b, filters: [momo]}]
                2:31 filters-not-allowed images[0].filters
                2:57 filters-not-allowed images[1].filters
                2:58 unknown-filter images[1].filters[0] → mono
            """#, breaks: true)) func onlyRecipesMayHaveFilters(text: String, expected: [String])
        throws
    {
        let found = problems(text, .yaml, recipes: try Self.book(isOnly: true))
        #expect(found.map(summary) == expected)
        #expect(
            found.allSatisfy {
                $0.code != "filters-not-allowed"
                    || $0.message
                        == "recipes.only of the configuration allows only the filters of recipes; write ‘recipe: mono’ or another recipe"
            })
    }

    // MARK: Recipes

    @Test(
        arguments: cases(
            #"""
            web ⇒ 1:1 wrong-type
            [mono] ⇒ 1:1 wrong-type
            a: [ ⇒ 2:1 syntax
            filters: [momo] ⇒ 1:11 unknown-filter filters[0] → mono
            fliters: [mono] ⇒ 1:1 unknown-key fliters → filters
            images: [a] ⇒ 1:1 unknown-key images
            recipe: web ⇒ 1:1 unknown-key recipe
            filters: mono\nfilters: flip ⇒ 2:1 duplicate-key filters
            filters: {watermark: logo} ⇒ 1:22 unknown-image filters.watermark
            output: {quality: 80} ⇒ 1:19 conflicting-keys output.quality
            output: gif ⇒ 1:9 unknown-value output
            priority: hgih ⇒ 1:11 unknown-value priority → high
            filters: {sepia: 2}\npriority: 3
                1:18 out-of-range filters.sepia
                2:11 unknown-value priority
            filters: [mono, flip, flop] ⇒ 1:10 too-many-filters filters
            """#, breaks: true) + [
                ("", ["1:1 syntax"])
            ]) func tellsEveryProblem(text: String, expected: [String])
    {
        let error = #expect(throws: ManifestRejection.self) {
            try Recipe(named: "a", text: text, limit: 2)
        }
        #expect(error?.problems.map(summary) == expected)
    }

    @Test(arguments: [
        ("web", true), ("a-b_c.2", true), ("é", false), ("", false), (".a", false),
        ("a b", false), ("a/b", false), (String(repeating: "a", count: 100), true),
        (String(repeating: "a", count: 101), false),
    ]) func hasAName(name: String, isOne: Bool) {
        #expect(Recipe.isName(name) == isOne)
    }

    // MARK: The folder

    @Test func readsAFolder() throws {
        let scratch = try ScratchDirectory()
        for (name, text) in Self.texts { try scratch.write(text, "\(name).yaml") }
        // Of editors, of dpkg, and for people.
        for name in ["README", ".x.yaml", "web.yaml~", "web.yaml.dpkg-old"] {
            try scratch.write("{", name)
        }
        let content = RecipeFolder.read(scratch.path, limit: 64)
        #expect(content.problems == [])
        #expect(
            content.recipes.map(\.name) == [
                "mono", "none", "old", "shown", "sizes", "small", "web",
            ])
        #expect(RecipeBook(content.recipes) == (try Self.book()))
        let missing = RecipeFolder.read("\(scratch.path)/none", limit: 64)
        #expect(missing.recipes.isEmpty && missing.problems.isEmpty)
    }

    @Test func namesEachBadFile() throws {
        let scratch = try ScratchDirectory()
        let files = [
            "a.yaml": "filters: [momo]", "b c.yaml": "{}", "d.yml": "{}", "e.json": "{}",
            "f.yaml": "# \(String(repeating: "x", count: 64 << 10))", "good.yaml": "{}",
        ]
        for (name, text) in files { try scratch.write(text, name) }
        try Data([0x66, 0xFF]).write(to: scratch.url.appending(path: "g.yaml"))
        try FileManager.default.makeFolder(at: scratch.url.appending(path: "h.yaml"))
        #expect(mkfifo("\(scratch.path)/i.yaml", 0o600) == 0)
        try FileManager.default.createSymbolicLink(
            atPath: "\(scratch.path)/j.yaml", withDestinationPath: "nowhere")
        try FileManager.default.createSymbolicLink(
            atPath: "\(scratch.path)/k.yaml", withDestinationPath: "good.yaml")
        let content = RecipeFolder.read(scratch.path, limit: 64)
        #expect(content.recipes.map(\.name) == ["good", "k"])
        #expect(
            content.problems.map { $0.replacing(scratch.path + "/", with: "") } == [
                "a.yaml:1:11: filters[0]: unknown filter ‘momo’; did you mean ‘mono’?",
                "b c.yaml: the name of a recipe has 1 to 100 letters, digits, -, _ and .",
                "d.yml: the name of a recipe ends in .yaml",
                "e.json: the name of a recipe ends in .yaml",
                "f.yaml: has more than 64 KiB", "g.yaml: is not UTF-8 text",
                "h.yaml: is not a regular file", "i.yaml: is not a regular file",
                "j.yaml: cannot be read: No such file or directory",
            ])
    }

    @Test func isBesideTheConfiguration() {
        for (file, folder) in [
            ("/etc/darkroom/darkroomd.yaml", "/etc/darkroom/recipes"), ("a.yaml", "recipes"),
            ("./a.yaml", "./recipes"), ("/a.yaml", "/recipes"), ("b/a.yaml", "b/recipes"),
        ] { #expect(RecipeFolder.path(beside: file) == folder) }
    }

    /// The package's own recipes, and the one in the manual.
    @Test func readsThePackagesRecipes() throws {
        let folder = Repository.root.appending(path: "etc/darkroom/recipes").path
        let content = RecipeFolder.read(folder, limit: 64)
        #expect(content.problems == [])
        #expect(content.recipes.map(\.name).sorted() == ["archive", "proof", "thumbnail", "web"])
        let shown = try ManualPage("darkroom-manifest.5").examples("recipe")
        #expect(shown.map(\.text) == content.recipes.filter { $0.name == "web" }.map(\.text))
    }
}
