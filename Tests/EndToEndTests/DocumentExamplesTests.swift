import Foundation
import TestPictures
import TestSupport
import Testing

/// Runs what the README and the cookbook show.
@Suite(.fewAtATime) struct DocumentExamplesTests {
    /// The README's first manifest, on the pictures that the package has.
    @Test func theFirstManifestIsDone() async throws {
        let document = try MarkdownDocument("README.md")
        let place = try ManualFixture()
        let samples = Repository.root.appending(path: "etc/samples").path
        let daemon = try await place.fixture.run(["sources.roots": "[\(samples)]"])
        try write(document, place)
        let outputs = try await run(document, place, daemon)
        let status = try #require(try place.fixture.spool.status(of: "sky"))
        try place.fixture.checkCompleted(status)
        #expect(status.images.map(\.name) == ["comet", "moon", "moon-small"])
        #expect(try status.image("moon").output?.format == .jpeg)
        // What the reader sees.
        try #require(outputs.count == 3)
        #expect(outputs[0].hasPrefix("sky\n"))
        #expect(outputs[1].hasPrefix("sky: completed\n"))
        #expect(
            outputs[1].hasSuffix(
                "\ncomet.png\nmanifest.yaml\nmoon-small.png\nmoon.jpg\nprogress.json\nstatus.json\n"
            ))
        #expect(outputs[2] == "night\n")
        let night = try #require(try place.fixture.spool.status(of: "night"))
        try place.fixture.checkCompleted(night)
        #expect(night.images.compactMap(\.output?.format) == [.jpeg, .jpeg])
        #expect(try await daemon.stop() == .exited(0))
    }

    /// The cookbook from its beginning to its end, on one spool.
    @Test func theCookbookDoesWhatIsSaid() async throws {
        let document = try MarkdownDocument("etc/doc/cookbook.md")
        let place = try ManualFixture()
        let daemon = try await place.run()
        try write(document, place)
        let manifests = document.examples("manifest")
        for example in manifests {
            try place.makeSources(of: example.text, named: example.words[0])
        }
        try place.makePicturesOld()
        try place.makePhotos(["beach.png", "tower.png"])
        let outputs = try await run(document, place, daemon)
        // Nothing to complain about the first example's manifests.
        #expect(outputs.first == "")
        for example in manifests {
            let id = String(try #require(example.words[0].split(separator: ".").first))
            let status = try #require(try place.fixture.spool.status(of: id))
            try place.fixture.checkCompleted(status)
            #expect((status.retries == 1) == (id == "marked"))
        }
        let beside = try #require(try place.fixture.spool.status(of: "compare")).image(
            "side-by-side")
        #expect(beside.output?.width == 800)
        try await expectThePageFollowsThePictures(place)
        #expect(try await daemon.stop() == .exited(0))
    }

    /// `make` makes the page of the cookbook again if a picture has come, and only then.
    private func expectThePageFollowsThePictures(_ place: ManualFixture) async throws {
        let page = place.work.appending(path: "gallery.html")
        func make() async throws -> String {
            let (code, output) = try await place.shellThatWaits("make")
            #expect(code == 0, "\(output)")
            return try String(contentsOf: page, encoding: .utf8)
        }
        let first = try String(contentsOf: page, encoding: .utf8)
        #expect(first.contains("<img src=\"beach-400.jpg\" srcset=\"beach-400.jpg 80w"))
        func written() throws -> Date? {
            try FileManager.default.attributesOfItem(atPath: page.path)[.modificationDate] as? Date
        }
        let time = try #require(try written())
        #expect(try await make() == first)
        #expect(try written() == time)
        try place.makePhotos(["harbour.png"])
        #expect(try await make().contains("<img src=\"harbour-400.jpg\""))
    }

    @Test func theHotFolderOfTheCookbookTakesScans() async throws {
        let document = try MarkdownDocument("etc/doc/cookbook.md")
        let recipe = try #require(document.examples("recipe").first)
        let folders = try #require(document.examples("folders").first)
        let fixture = try HotFolderFixture()
        try fixture.recipe(recipe.text, recipe.words[0])
        #expect(folders.text.contains("/srv/scans"))
        try folders.text.replacing("/srv/scans", with: fixture.folder)
            .write(toFile: fixture.configuration, atomically: true, encoding: .utf8)
        let daemon = try await fixture.base.run(
            HotFolderFixture.settings, arguments: ["--config", fixture.configuration])
        try fixture.put("page-1.png", Data(Starfield.png(width: 2000, height: 100, seed: 1)))
        let answers = try await fixture.expectAnswers(["page-1.png"], daemon)
        #expect(
            answers[0].image.output?.file == "page-1.jpg" && answers[0].image.output?.width == 1600)
        #expect(fixture.left == ["page-1.png"])
        #expect(try await daemon.stop() == .exited(0))
    }

    /// What needs an installation is at least a command line.
    @Test func theOthersAreCommandLines() throws {
        let place = try ManualFixture()
        var count = 0
        for name in try MarkdownDocument.names() {
            for example in try MarkdownDocument(name).examples
            where example.kind == "setup" || example.words.contains("parsed") {
                count += 1
                let (code, output) = try place.shell("bash -n <<'END'\n\(example.text)END\n")
                #expect(code == 0 && output.isEmpty, "\(example): \(output)")
            }
        }
        #expect(count >= 5)
    }

    /// Puts the manifests and scripts of a document into the folder to work in, under their names.
    private func write(_ document: MarkdownDocument, _ place: ManualFixture) throws {
        for example in document.examples where ["manifest", "script"].contains(example.kind) {
            try Data(place.located(example.text).utf8).write(
                to: place.work.appending(path: example.words[0]))
        }
    }

    /// Runs its command lines, one after the other; gives what each wrote.
    private func run(
        _ document: MarkdownDocument, _ place: ManualFixture, _ daemon: DaemonProcess
    ) async throws -> [String] {
        var outputs: [String] = []
        for example in document.examples("shell") where !example.words.contains("parsed") {
            let id = example.value("done")
            let (code, output) = try await place.shellThatWaits(example.text)
            #expect(code == 0, "\(example): \(output)")
            outputs.append(output)
            guard let id else { continue }
            _ = try await place.fixture.spool.finish(id, daemon)
        }
        return outputs
    }
}
