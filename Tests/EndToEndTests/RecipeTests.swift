import DarkroomAnswer
import Foundation
import TestSupport
import Testing

/// Recipes with the real daemon and the real command.
@Suite(.fewAtATime) struct RecipeTests {
    private let fixture: DaemonFixture
    private let scratch: ScratchDirectory
    private var configuration: String { "\(scratch.path)/darkroomd.yaml" }

    init() throws {
        fixture = try DaemonFixture(pictures: 2)
        scratch = try ScratchDirectory()
        try scratch.makeFolder("recipes")
        try "".write(toFile: configuration, atomically: false, encoding: .utf8)
    }

    private func write(_ recipe: String, _ name: String = "small") throws {
        try recipe.write(
            toFile: "\(scratch.path)/recipes/\(name).yaml", atomically: true, encoding: .utf8)
    }

    private func run(_ settings: [String: String] = [:]) async throws -> DaemonProcess {
        try await fixture.run(settings, arguments: ["--config", configuration])
    }

    private func drop(_ id: String) throws {
        try fixture.spool.drop(
            "\(id).yaml", "recipe: small\nimages: {a: \(fixture.url("0.png"))}\n")
    }

    private static func width(_ status: Status) throws -> Int? {
        try status.image("a").output?.width
    }

    @Test func aManifestKeepsTheRecipesOfItsClaim() async throws {
        let old = "filters: {resize: 40}\n"
        let new = "filters: {resize: 20}\n"
        try write(old)
        var daemon = try await run()
        try fixture.spool.drop("x.hold", "")
        try drop("x")
        let held = try await fixture.spool.waitForStatus(of: "x", daemon, .held)
        #expect(held.recipes?.map(\.name) == ["small"] && held.recipes?.map(\.text) == [old])
        try write(new)
        try await daemon.reload()
        try drop("y")
        let after = try await fixture.spool.finish("y", daemon)
        #expect(try Self.width(after) == 20 && after.recipes?.map(\.text) == [new])
        // A restart, after which the recipe is not there any more.
        try await daemon.killAtOnce()
        try scratch.remove("recipes/small.yaml")
        daemon = try await run(["recipes.only": "true"])
        try fixture.spool.drop("x.release", "")
        var status = try await fixture.spool.finish("x", daemon)
        try fixture.checkCompleted(status)
        #expect(try Self.width(status) == 40 && status.recipes?.map(\.text) == [old])
        // A retry.
        try fixture.spool.remove("outbox/x/a.png")
        #expect(try await fixture.client("retry", "x", "--wait").exit == 0)
        status = try await fixture.spool.finish("x", daemon)
        #expect(try Self.width(status) == 40 && status.retries == 1)
        #expect(status.recipes?.map(\.text) == [old])
        // A new manifest.
        try drop("z")
        let rejected = try await fixture.spool.finish("z", daemon)
        #expect(rejected.errors?.map(\.code) == ["unknown-recipe"])
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func aBadRecipeIsABadConfiguration() async throws {
        try write("filters: {resize: 40}\n")
        let daemon = try await run()
        try write("filters: {resize: 40}\noutput: gif\n")
        try await daemon.reload()
        try await daemon.says(
            "recipes/small.yaml:2:9: output: ‘output’ must be png, jpeg, webp, avif, tiff, jxl or source, or a map, found ‘gif’; darkroom does not write GIF"
        )
        // The old one holds.
        try drop("x")
        #expect(try Self.width(await fixture.spool.finish("x", daemon)) == 40)
        #expect(try await daemon.stop() == .exited(0))
        let ended = try await DaemonProcess.end(
            arguments: ["--config", configuration, "--check-config"])
        #expect(ended.ending == .exited(78))
        #expect(ended.output.contains("recipes/small.yaml:2:9: output: "), "\(ended)")
    }

    @Test func theCommandKnowsTheRecipes() async throws {
        try write("# as wide as a hand\nfilters: {resize: 40}\noutput: jpg\n")
        try write("filters: mono\n", "gray")
        let daemon = try await run(fixture.readsDocuments)
        try await fixture.client("recipes").shows(
            exit: 0,
            output: """
                RECIPE  WHAT IT DOES
                gray    filters: mono
                small   as wide as a hand

                """, errors: .nothing)
        try await fixture.client("recipes", "gray").expect(exit: 0, output: "filters: mono\n")
        let json = try await fixture.client("recipes", "--json")
        let lines = json.output.split(separator: "\n")
        #expect(lines.count == 3)
        #expect(lines.last == #"{"exit":0,"recipes":2,"type":"summary"}"#)
        let schema = try JSONSchema(file: "command.schema.json")
        for line in lines.dropLast() {
            #expect(try schema.accepts(String(line), definition: "recipe"), "\(line)")
        }
        // A filter that cut in older versions is told.
        try write("filters: {thumbnail: {size: 40}}\n", "cut")
        try await fixture.client("recipes", "cut").shows(
            exit: 0, output: "filters: {thumbnail: {size: 40}}\n",
            errors: .begins(
                "\(scratch.path)/recipes/cut.yaml: warning: thumbnail without ‘fit’ (of recipe cut) keeps "
            ))
        try scratch.remove("recipes/cut.yaml")
        let unknown = try await fixture.client("recipes", "smal")
        unknown.shows(exit: 66, errors: .has("smal: there is no such recipe in "))
        #expect(unknown.errors.hasSuffix("; did you mean ‘small’?\n"))

        try await fixture.client(
            "submit", "0.png", "1.png", "--recipe", "small", "--name", "trip", "--wait"
        ).expect(exit: 0, output: "trip\n")
        let status = try await fixture.complete("trip", daemon)
        #expect(status.images.map(\.output?.file) == ["0.jpg", "1.jpg"])
        #expect(status.images.map(\.output?.width) == [40, 40])
        try await fixture.client("submit", "0.png", "--recipe", "smal").shows(
            exit: 65,
            errors: .has("there is no recipe ‘smal’; did you mean ‘small’? [unknown-recipe]"))
        try await fixture.client("submit", "0.png", "--recipe", "small", "--filter", "mono").shows(
            exit: 64,
            errors:
                "darkroom: --recipe has filters of its own; leave out --filter and --watermark\n")
        // Without the daemon, with the same configuration.
        try await fixture.client(
            "run", "0.png", "--recipe", "small", "-o", "out", "--config", configuration, "--quiet"
        ).shows(exit: 0)
        let output = fixture.documents.url.appending(path: "out/0.jpg")
        let bytes = try Data(contentsOf: output)
        #expect(Array(bytes) == (try fixture.spool.bytes("outbox/trip/0.jpg")))
        // What a changed recipe makes is made again.
        try write("filters: {resize: 20}\noutput: jpg\n")
        try await fixture.client(
            "run", "0.png", "--recipe", "small", "-o", "out", "--config", configuration, "--quiet"
        ).shows(exit: 0)
        #expect(try Data(contentsOf: output) != bytes)
        #expect(try await daemon.stop() == .exited(0))
    }

    /// So several sizes need no manifest.
    @Test func aRecipeHasVariants() async throws {
        try write(
            """
            filters: mono
            variants: [{suffix: -40, filters: {resize: 40}}, {suffix: -20, filters: {resize: 20}}]
            output: jpg
            """, "sizes")
        let daemon = try await run(fixture.readsDocuments)
        try await fixture.client(
            "submit", "0.png", "1.png", "--recipe", "sizes", "--name", "trip", "--wait"
        ).expect(exit: 0, output: "trip\n")
        let status = try await fixture.complete("trip", daemon)
        #expect(
            status.images.map(\.output?.file)
                == ["0-40.jpg", "0-20.jpg", "1-40.jpg", "1-20.jpg"])
        #expect(status.images.map(\.output?.width) == [40, 20, 40, 20])
        #expect(status.images.allSatisfy { $0.output?.channels == 1 })
        try await fixture.client(
            "filter", "0.png", "--recipe", "sizes", "-o", "x.jpg", "--config", configuration
        ).shows(
            exit: 64,
            errors:
                "darkroom: --recipe sizes: it has variants, and filter writes one picture. darkroom run writes all of them\n"
        )
        #expect(try await daemon.stop() == .exited(0))
    }

    @Test func onlyRecipesMayHaveFilters() async throws {
        try write("filters: {resize: 40}\n")
        let daemon = try await run(["recipes.only": "true"])
        try fixture.spool.drop("x.yaml", "filters: mono\nimages: [\(fixture.url("0.png"))]\n")
        let status = try await fixture.spool.finish("x", daemon)
        #expect(status.errors?.map(\.code) == ["filters-not-allowed"])
        try fixture.write("filters: mono\nimages: [\(fixture.url("0.png"))]\n", to: "y.yaml")
        try await fixture.client("submit", "y.yaml").shows(
            exit: 65, errors: .has("[filters-not-allowed]"))
        try drop("z")
        #expect(try Self.width(await fixture.spool.finish("z", daemon)) == 40)
        #expect(try await daemon.stop() == .exited(0))
    }
}
