import Foundation
import TestSupport
import Testing

@testable import DarkroomAnswer
@testable import DarkroomConfiguration
@testable import DarkroomDaemon
@testable import DarkroomManifest
@testable import DarkroomSpool

/// The key `folders`: each wrong form with its message, and what the unit lacks.
struct HotFolderConfigurationTests {
    private let scratch: ScratchDirectory

    init() throws {
        scratch = try ScratchDirectory()
        for name in ["recipes", "spool", "scans", "scans/deep"] {
            try scratch.makeFolder(name)
        }
        for name in ["web", "archive"] {
            try scratch.write("filters: mono\n", to: "recipes/\(name).yaml")
        }
    }

    /// `ROOT` in the text is the scratch folder.
    private func load(_ text: String) throws(ConfigurationError) -> ConfigurationLoader.Loaded {
        let path = "\(scratch.path)/darkroomd.yaml"
        let file = "spool: ROOT/spool\n\(text)\n".replacing("ROOT", with: scratch.path)
        _ = FileManager.default.createFile(atPath: path, contents: Data(file.utf8))
        return try ConfigurationLoader(path: path, environment: [:]).loadAll()
    }

    /// Filters that cut pictures in older versions are told, in the configuration and in recipes.
    @Test func warnsOfFiltersThatCutBefore() throws {
        let folder = "\(scratch.path)/recipes"
        try "filters: mono\nvariants: [{suffix: -s, filters: {thumbnail: {size: 80}}}]\n".write(
            toFile: folder + "/archive.yaml", atomically: false, encoding: .utf8)
        let loaded = try load("manifests.defaultFilters: [{thumbnail: {size: 100}}]")
        let rest =
            " keeps the whole picture; older versions cut it to the box. ‘fit: cover’ cuts, and ‘fit: inside’ keeps the whole"
        #expect(
            ConfigurationCheck(loaded, unit: nil).warnings == [
                "\(scratch.path)/darkroomd.yaml:2: manifests.defaultFilters: thumbnail without ‘fit’ (of manifests.defaultFilters)\(rest)",
                "\(folder)/archive.yaml: thumbnail without ‘fit’ (of recipe archive)\(rest)",
            ])
        let chosen = try load(
            "manifests.defaultFilters: [{thumbnail: {size: 100, fit: cover}}]")
        #expect(ConfigurationCheck(chosen, unit: nil).warnings.count == 1)
    }

    @Test func readsAllKeys() throws {
        let loaded = try load(
            """
            folders:
              - {path: /srv/scans//a/../b/, recipe: web}
              - path: /mnt/share
                recipe: archive
                originals: move
                batch: 10
                within: 500ms
              - {path: /srv/c, recipe: web, originals: remove, deliver: /srv//d/./e/}
              - {path: /srv/f, recipe: web, deliver: {to: /srv/g, ifExists: replace}}
              - {path: /srv/h, recipe: web, originals: {move: /srv//i/}}
              - {path: /srv/j, recipe: web, originals: {move: /srv/i, ifExists: fail}}
            """)
        var second = HotFolder(path: "/mnt/share", recipe: "archive")
        second.originals = .move
        second.batch = 10
        second.within = 0.5
        var third = HotFolder(path: "/srv/c", recipe: "web")
        third.originals = .remove
        third.delivery = Delivery(to: "/srv/d/e")
        var fourth = HotFolder(path: "/srv/f", recipe: "web")
        fourth.delivery = Delivery(to: "/srv/g", .replace)
        var fifth = HotFolder(path: "/srv/h", recipe: "web")
        fifth.originals = .place
        fifth.place = Delivery(to: "/srv/i")
        var sixth = HotFolder(path: "/srv/j", recipe: "web")
        sixth.originals = .place
        sixth.place = Delivery(to: "/srv/i", .fail)
        #expect(
            loaded.configuration.folders
                == [
                    HotFolder(path: "/srv/scans/b", recipe: "web"), second, third, fourth, fifth,
                    sixth,
                ])
        #expect(loaded.configuration.batchSettings.folders == loaded.configuration.folders)
        #expect(HotFolder(path: "/a", recipe: "b").originals == .keep)
        #expect(try load("folders: []").configuration.folders == [])
        #expect(try load("folders:").configuration.folders == [])
    }

    /// The recipe of folders without a manifest must exist, too.
    @Test func readsTheRecipeOfFolders() throws {
        for (text, recipe) in [("web", "web"), ("''", nil)] {
            let loaded = try load("inbox: {recipe: \(text)}")
            #expect(loaded.configuration.recipes.ofFolders == recipe)
            #expect(loaded.configuration.examination.recipes.ofFolders == recipe)
            #expect(loaded.queueLimits(seenBy: nil).inboxRecipe == recipe)
        }
        for (text, words) in [
            ("wbe", "there is no recipe wbe; did you mean web?"),
            ("a/b", "must be the name of a recipe, not \"a/b\""),
        ] {
            let error = #expect(throws: ConfigurationError.self) {
                try load("inbox: {recipe: \(text)}")
            }
            #expect(error?.problems == ["\(scratch.path)/darkroomd.yaml:2: inbox.recipe: \(words)"])
        }
    }

    static let form = "must be a list of folders such as [{path: /srv/scans, recipe: web}] "

    static let wrong: [(String, String)] = [
        ("/srv/scans", "\(form)(it is text)"),
        ("{path: /a, recipe: web}", "\(form)(it is a map)"),
        ("[/srv/scans]", "\(form)(folder 1 is text, not a map)"),
        ("[{recipe: web}]", "\(form)(folder 1 has no path, such as path: /srv/scans)"),
        ("[{path: /a}]", "\(form)(folder 1 has no recipe, such as recipe: web)"),
        ("[{path: a, recipe: web}]", "\(form)(path of folder 1 must be absolute)"),
        (
            "[{path: [/a], recipe: web}]",
            "\(form)(path of folder 1 must be text, such as /srv/scans)"
        ),
        ("[{path: /a, recipe: ''}]", "\(form)(recipe of folder 1 must be text, such as web)"),
        (
            "[{path: /a, recipe: web, original: keep}]",
            "\(form)(folder 1 has the unknown key original, did you mean originals?)"
        ),
        ("[{path: /a, recipe: web, x: 1}]", "\(form)(folder 1 has the unknown key x)"),
        (
            "[{path: /a, recipe: web, originals: delete}]",
            "\(form)(originals of folder 1 must be keep, move, remove or {move: /srv/done})"
        ),
        (
            "[{path: /a, recipe: web, originals: place}]",
            "\(form)(originals of folder 1 must be keep, move, remove or {move: /srv/done})"
        ),
        (
            "[{path: /a, recipe: web, originals: {}}]",
            "\(form)(‘originals’ needs ‘move’, a folder)"
        ),
        (
            "[{path: /a, recipe: web, originals: {move: b}}]",
            "\(form)(the folder of ‘originals’ must be an absolute path without ‘..’, found ‘b’)"
        ),
        (
            "[{path: /a, recipe: web, originals: {move: /a/done}}]",
            "originals of /a: /a/done is part of the hot folder, /a: originals would be taken again"
        ),
        (
            "[{path: /a/in, recipe: web, originals: {move: /a}}]",
            "originals of /a/in: /a contains the hot folder, /a/in: originals would be taken again"
        ),
        (
            "[{path: /a, recipe: web, originals: {move: /b}}, {path: /b, recipe: web}]",
            "originals of /a: /b is the hot folder, /b: originals would be taken again"
        ),
        (
            "[{path: /a, recipe: web, originals: {move: ROOT/spool/inbox}}]",
            "originals of /a: ROOT/spool/inbox is part of the spool, ROOT/spool: originals would be taken again"
        ),
        (
            "[{path: /a, recipe: web, batch: 0}]",
            "\(form)(batch of folder 1 must be a whole number from 1 to 10000)"
        ),
        (
            "[{path: /a, recipe: web, batch: many}]",
            "\(form)(batch of folder 1 must be a whole number from 1 to 10000)"
        ),
        (
            "[{path: /a, recipe: web, within: 2h}]",
            "\(form)(within of folder 1 must be a time from 0 to 1h, such as 2s)"
        ),
        (
            "[{path: /a, recipe: web}, {path: b, recipe: web, batch: -1}]",
            "\(form)(path of folder 2 must be absolute; batch of folder 2 must be a whole number from 1 to 10000)"
        ),
        ("[{path: /a, recipe: wbe}]", "/a: there is no recipe wbe; did you mean web?"),
        ("[{path: /a, recipe: nothing}]", "/a: there is no recipe nothing"),
        (
            "[{path: /a, recipe: web}, {path: /a/b, recipe: web}]",
            "/a/b is part of /a: pictures would be taken twice"
        ),
        (
            "[{path: /a/b, recipe: web}, {path: /a, recipe: web}]",
            "/a contains /a/b: pictures would be taken twice"
        ),
        (
            "[{path: /a, recipe: web}, {path: /a/, recipe: archive}]",
            "/a is /a: pictures would be taken twice"
        ),
        (
            "[{path: ROOT/spool, recipe: web}]",
            "ROOT/spool is ROOT/spool (spool): outputs would be taken as pictures again"
        ),
        (
            "[{path: ROOT/spool/outbox, recipe: web}]",
            "ROOT/spool/outbox is part of ROOT/spool (spool): outputs would be taken as pictures again"
        ),
        (
            "[{path: ROOT, recipe: web}]",
            "ROOT contains ROOT/spool (spool): outputs would be taken as pictures again"
        ),
        (
            "[{path: /a, recipe: web, deliver: b}]",
            "\(form)(the folder of ‘deliver’ must be an absolute path without ‘..’, found ‘b’)"
        ),
        (
            "[{path: /a, recipe: web, deliver: {to: /b, ifExists: x}}]",
            "\(form)(‘ifExists’ must be number, replace or fail, found ‘x’)"
        ),
        ("[{path: /a, recipe: web, deliver: {}}]", "\(form)(‘deliver’ needs ‘to’, a folder)"),
        (
            "[{path: /a, recipe: web, deliver: /a/b}]",
            "deliver of /a: /a/b is part of the hot folder, /a: outputs would be taken again"
        ),
        (
            "[{path: /a, recipe: web, deliver: /b}, {path: /b, recipe: web}]",
            "deliver of /a: /b is the hot folder, /b: outputs would be taken again"
        ),
        (
            "[{path: /a, recipe: web, deliver: ROOT/spool/outbox}]",
            "deliver of /a: ROOT/spool/outbox is part of the spool, ROOT/spool: outputs would be taken again"
        ),
    ]

    @Test(arguments: wrong)
    func refuses(folders: String, problem: String) throws {
        let refusal = #expect(throws: ConfigurationError.self) { try load("folders: \(folders)") }
        let found = refusal?.problems.joined(separator: "\n") ?? ""
        let expected =
            "\(scratch.path)/darkroomd.yaml:2: folders: "
            + problem.replacing("ROOT", with: scratch.path)
        // The refused text follows a wrong form.
        #expect(
            problem.hasPrefix(Self.form) ? found.hasPrefix(expected + ", not ") : found == expected)
    }

    /// What a recipe delivers must not be taken again either, whatever link leads there.
    @Test func aRecipeDeliversIntoNoHotFolder() throws {
        try scratch.link("link", to: "\(scratch.path)/scans")
        try scratch.write(
            "filters: mono\ndeliver: \(scratch.path)/link/deep\n", to: "recipes/archive.yaml")
        let refusal = #expect(throws: ConfigurationError.self) {
            try load("folders: [{path: ROOT/scans, recipe: web}]")
        }
        #expect(
            refusal?.problems == [
                "\(scratch.path)/darkroomd.yaml:2: folders: deliver of the recipe archive: "
                    + "\(scratch.path)/link/deep is part of the hot folder, \(scratch.path)/scans: "
                    + "outputs would be taken again"
            ])
    }

    /// `deliver.roots`, and what is said of folders to which nothing can be delivered.
    @Test func readsRootsOfDeliveries() throws {
        let loaded = try load("deliver.roots: [ROOT/scans//, ROOT/gone, ROOT/darkroomd.yaml]")
        #expect(
            loaded.configuration.deliveryRules.roots
                == ["scans", "gone", "darkroomd.yaml"].map { "\(scratch.path)/\($0)" })
        let reasons = [
            ("gone", "No such file or directory"), ("darkroomd.yaml", "Not a directory"),
        ]
        #expect(
            ConfigurationCheck(loaded, unit: nil).warnings
                == reasons.map { name, reason in
                    "\(scratch.path)/darkroomd.yaml:2: deliver.roots: \(scratch.path)/\(name): "
                        + "cannot open: \(reason); images wait until their results can be delivered there"
                })
        for wrong in ["[a]", "[/a/../b]"] {
            let error = #expect(throws: ConfigurationError.self) {
                try load("deliver.roots: \(wrong)")
            }
            #expect(error?.problems.first?.contains("must be a list of absolute paths") == true)
        }
    }

    /// What is said of a folder into which no original can be moved now.
    @Test func warnsOfFoldersForOriginals() throws {
        let loaded = try load(
            "folders: [{path: ROOT/scans, recipe: web, originals: {move: ROOT/gone}}]")
        #expect(
            ConfigurationCheck(loaded, unit: nil).warnings == [
                "\(scratch.path)/darkroomd.yaml:2: folders: \(scratch.path)/gone: cannot open: "
                    + "No such file or directory; batches wait until their originals can be moved there"
            ])
        // Somebody else could put a link in its place.
        let open = scratch.url.appending(path: "open")
        try FileManager.default.makeFolder(at: open)
        try FileManager.default.makeFolder(at: open.appending(path: "done"))
        #expect(chmod(open.path, 0o777) == 0)
        let exposed = try load(
            "folders: [{path: ROOT/scans, recipe: web, originals: {move: ROOT/open/done}}]")
        #expect(
            ConfigurationCheck(exposed, unit: nil).warnings.first?.contains(
                "everybody may write to \(open.path), and put another folder in its place") == true)
        // The same holds for outputs.
        for text in [
            "deliver.roots: [ROOT/open/done]",
            "folders: [{path: ROOT/scans, recipe: web, deliver: ROOT/open/done}]",
        ] {
            #expect(
                ConfigurationCheck(try load(text), unit: nil).warnings.first?.contains(
                    "put another folder in its place; images wait until their results") == true)
        }
    }

    /// A batch has no more pictures than a manifest with all their variants.
    @Test func theVariantsOfAPictureMustFit() throws {
        try scratch.write(
            "filters: mono\nvariants: [{suffix: a}, {suffix: b}, {suffix: c}]\n",
            to: "recipes/three.yaml")
        let folders = "folders: [{path: /a, recipe: three}, {path: /b, recipe: web}]"
        for (limit, three, one) in [(3, 1, 3), (11, 3, 11), (200_000, 66_666, 200_000)] {
            let loaded = try load("manifests:\n  maxImages: \(limit)\n\(folders)").configuration
            let most = loaded.folders.map { HotFolderSettings(loaded, $0).maximumPictures }
            #expect(most == [three, one])
        }
        let refusal = #expect(throws: ConfigurationError.self) {
            try load("manifests:\n  maxImages: 2\n\(folders)")
        }
        #expect(
            refusal?.problems == [
                "\(scratch.path)/darkroomd.yaml:4: folders: /a: its recipe three makes 3 images of a picture, "
                    + "more than manifests.maxImages (2)"
            ])
    }

    @Test func aLinkDoesNotHideALoop() throws {
        try scratch.link("link", to: "\(scratch.path)/spool")
        let refusal = #expect(throws: ConfigurationError.self) {
            try load("folders: [{path: ROOT/link/in, recipe: web}]")
        }
        #expect(refusal?.problems.count == 1)
        #expect(refusal?.problems.first?.contains("is part of") == true)
    }

    /// In the words of the daemon.
    @Test(
        arguments: [
            ("scans", nil), ("gone", "ROOT/gone: cannot open: No such file or directory"),
            ("darkroomd.yaml", "ROOT/darkroomd.yaml: cannot open: Not a directory"),
            (
                "open/scans",
                "ROOT/open/scans: everybody may write to ROOT/open, and put another folder in its place"
            ),
        ] as [(String, String?)])
    func warnsOfAFolderThatWouldNotBeWatched(name: String, words: String?) throws {
        try scratch.makeFolder("open/scans")
        #expect(chmod("\(scratch.path)/open", 0o777) == 0)
        let unit = try #require(
            ServiceUnit(
                name: "darkroomd.service", shown: "LoadState=loaded\nUser=\(geteuid())\n"))
        let loaded = try load("folders: [{path: ROOT/\(name), recipe: web}]")
        let expected = words.map {
            "\(scratch.path)/darkroomd.yaml:2: folders: " + $0.replacing("ROOT", with: scratch.path)
        }
        for unit in [nil, unit] {
            let check = ConfigurationCheck(loaded, unit: unit)
            #expect(check.problems == [] && check.warnings == [expected].compactMap(\.self))
        }
    }

    @Test(
        arguments: [
            ("keep", "/srv/scans", nil),
            ("move", "/srv/scans", "[Service]\nBindPaths=/srv/scans"),
            ("keep", "/data/my scans", "[Service]\nBindReadOnlyPaths=\"/data/my scans\""),
            ("remove", "/data/x", "[Service]\nBindPaths=/data/x"),
            (
                "remove", "/home/anna/scans",
                "[Service]\nProtectHome=read-only\nBindPaths=/home/anna/scans"
            ),
        ] as [(String, String, String?)])
    func theDropInBindsWhatTheUnitLacks(originals: String, path: String, dropIn: String?) throws {
        let shown = """
            NotifyAccess=main
            TimeoutStopUSec=1min 30s
            RootDirectory=/run/darkroom/root
            ProtectHome=yes
            BindPaths=\(scratch.path)/spool:\(scratch.path)/spool:rbind
            BindReadOnlyPaths=/etc:/etc:rbind -/srv:/srv:rbind
            LoadState=loaded
            """
        let unit = try #require(ServiceUnit(name: "darkroomd.service", shown: shown))
        let loaded = try load("folders: [{path: \(path), recipe: web, originals: \(originals)}]")
        #expect(ConfigurationCheck(loaded, unit: unit).dropIn == dropIn)
        // Folders to which outputs are delivered are bound, too.
        let delivering = try load(
            "deliver.roots: [/data/roots]\nfolders: "
                + "[{path: /etc, recipe: web, deliver: /data/web}]")
        #expect(
            ConfigurationCheck(delivering, unit: unit).dropIn
                == "[Service]\nBindPaths=/data/web\nBindPaths=/data/roots")
        // So are those into which originals move.
        let moving = try load(
            "folders: [{path: /data/in, recipe: web, originals: {move: /data/done}}]")
        #expect(
            ConfigurationCheck(moving, unit: unit).dropIn
                == "[Service]\nBindPaths=/data/in\nBindPaths=/data/done")
        #expect(ConfigurationCheck(loaded, unit: nil).dropIn == nil)
    }
}
