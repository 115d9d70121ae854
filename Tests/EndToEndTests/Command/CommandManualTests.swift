import Foundation
import TestSupport
import Testing

/// Holds darkroom(1) against the parser, and runs its examples with the real daemon.
@Suite(.fewAtATime) struct CommandManualTests {
    @Test func hasTheCommandsAndOptionsOfTheParser() async throws {
        func options(_ command: CommandDump.Command) -> Set<String> {
            let names = (command.arguments ?? []).filter(\.shouldDisplay).flatMap { $0.names ?? [] }
            return Set(names.filter { $0.kind == "long" }.map(\.name))
        }
        let page = try ManualPage("darkroom.1")
        func options(_ items: [ManualPage.Item]) -> Set<String> {
            Set(items.flatMap(\.names).filter { $0.hasPrefix("-") }.map { String($0.dropFirst()) })
        }
        let common = options(page.items("OPTIONS"))
        let commands = page.items("COMMANDS")
        let others = try await CommandDump.commands()
        #expect(commands.compactMap(\.names.first) == others.map(\.commandName))
        for (item, command) in zip(commands, others) {
            #expect(
                options(item.children) == options(command).subtracting(common),
                "\(command.commandName)")
        }
        // Each common option belongs to a command.
        let known = others.reduce(into: Set<String>()) { $0.formUnion(options($1)) }
        #expect(common.subtracting(known) == [])
    }

    /// One after the other on one spool, as a new user would try them.
    @Test func itsExamplesDoWhatIsSaid() async throws {
        let place = try ManualFixture()
        // What the examples name, and a daemon that may read it.
        let photos = place.work.appending(path: "photos")
        try FileManager.default.makeFolder(at: photos)
        for name in ["photos/1.jpg", "photos/my beach.jpg", "logo.png"] {
            try Data(DaemonFixture.picture).write(to: place.work.appending(path: name))
        }
        let daemon = try await place.fixture.run([
            "sources.roots": "[\(place.work.path), \(place.pictures.path)]",
            "downloads.retries": "0",
        ])
        let manifests = try ManualPage("darkroom-manifest.5").examples("manifest")
        let holiday = place.located(
            try #require(manifests.first { $0.words == ["holiday.yaml"] }).text)
        try place.makeSources(of: holiday, named: "holiday.yaml")
        try place.hideTower(true)
        let picture = place.fixture.url("photos/beach.png")
        let files = [
            "holiday.yaml": holiday, "later.yaml": "images: [\(picture)]\n",
            "photos.plist": "<plist><dict><key>a</key><string>\(picture)</string></dict></plist>",
        ]
        var outputs: [String] = []
        for example in try ManualPage("darkroom.1").examples("shell")
        where !example.words.contains("parsed") {
            if let name = example.value("files") {
                try Data(try #require(files[name]).utf8).write(
                    to: place.work.appending(path: name))
            }
            if example.words.contains("retry") { try place.hideTower(false) }
            let (code, output) = try await place.shellThatWaits(example.text)
            #expect(code == 0, "\(example): \(output)")
            outputs.append(output)
        }
        try #require(outputs.count == 16)
        #expect(outputs.remove(at: 4).hasSuffix("/holiday-page/index.html\n"))
        #expect(outputs[0].hasPrefix("photos\n"))
        #expect(outputs[0].contains("photos: completed, 3 images in "))
        #expect(outputs[1] == "album.yaml: 2 images\n")
        #expect(outputs[2] == "photos-2\ndone\n")
        #expect(outputs[3].contains("tower"), "\(outputs[3])")
        #expect(outputs[4] == "holiday is reopened\n")
        #expect(outputs[5] == "later is released\n")
        #expect(outputs[6] == "later-2 is being cancelled\n")
        #expect(outputs[7] == "")
        #expect(outputs[8].contains("running"))
        #expect(outputs[9] == "")
        let removed = outputs[10].split(separator: "\n").map(String.init)
        #expect(removed.count == 8 && removed.allSatisfy { $0.hasSuffix(" removed") }, "\(removed)")
        let runs = outputs[11].split(separator: "\n").map(String.init)
        #expect(
            runs.count == 2 && runs.allSatisfy { $0.hasPrefix("photos: completed, 2 images in ") })
        #expect(runs.last?.hasSuffix("; nothing to do") == true)
        #expect(outputs[12] == "" && outputs[13] == "")
        for name in ["logo.jpg", "old.jpg"] {
            let picture = FileManager.default.contents(
                atPath: place.work.appending(path: name).path)
            #expect(picture?.starts(with: [0xFF, 0xD8]) == true, "\(name)")
        }
        let parts = outputs[14].split(separator: "\n").map(String.init)
        #expect(parts.count == 6, "\(parts)")
        #expect(parts.prefix(4).allSatisfy { $0.contains(" of 4: album: completed, ") })
        #expect(parts[4].hasPrefix("album: completed, 2 images in "))
        #expect(parts[4].hasSuffix(", 4 shards"))
        #expect(parts[5].hasPrefix("album: 2 outputs, "))
        #expect(place.fixture.spool.list("outbox") == [])
        #expect(place.fixture.spool.list("tmp") == [])
        #expect(try await daemon.stop() == .exited(0))
    }
}
