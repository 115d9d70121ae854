import Foundation
import Testing

/// What `RenewalTests` and `ShardRenewalTests` have in common: a manifest, its changes, and what each must do.
enum Renewal {
    /// With a manifest that uses a recipe.
    static func fixture() throws -> RunFixture {
        let fixture = try RunFixture()
        try fixture.write(manifest, to: "m.yaml")
        try fixture.write("filters: [mono]\n", to: "recipes/old.yaml")
        try fixture.write("{}\n", to: "darkroomd.yaml")
        return fixture
    }

    static let manifest = """
        recipe: old
        images:
          a: small.png
          b: {source: gray.png, variants: [{suffix: -1, filters: flip}, {suffix: -2, filters: flop}]}
          c: {from: a, filters: flip}
          d: {source: large.png, filters: [{overlay: {from: e}}]}
          e: {source: alpha.png, publish: false}

        """
    static let outputs = ["a.png", "b-1.png", "b-2.png", "c.png", "d.png"]

    /// What the manifest is changed to.
    static let changed = """
        recipe: old
        images:
          e: {source: alpha.png, publish: false}
          a: {source: small.png, filters: sepia}
          b: {source: gray.png, variants: [{suffix: -1, filters: flip}, {suffix: -2, filters: flop}]}
          d: {source: large.png, filters: [{overlay: {from: e}}]}
          f: deep.png

        """

    /// A change, and the outputs that are made because of it.
    struct Change: Sendable, CustomTestStringConvertible {
        let command: String
        let made: [String]
        /// Files that no image has any more.
        var gone: [String] = []

        var testDescription: String { command }
    }

    static let changes = [
        Change(command: "true", made: []),
        Change(command: "touch small.png", made: []),
        Change(command: "cp small.png n; mv n small.png", made: []),
        Change(command: "chmod 600 small.png gray.png", made: []),
        Change(command: "cp deep.png small.png", made: ["a.png", "c.png"]),
        Change(command: "cp deep.png n; mv n gray.png", made: ["b-1.png", "b-2.png"]),
        Change(command: "mv gray.png n; ln -s n gray.png", made: []),
        Change(command: "rm gray.png; ln -s small.png gray.png", made: ["b-1.png", "b-2.png"]),
        Change(command: "cp gray.png alpha.png", made: ["d.png"]),
        Change(command: "rm out/a.png", made: ["a.png"]),
        Change(command: "echo '# other text' >> m.yaml", made: []),
        Change(
            command: "sed -i 's/suffix: -1, filters: flip/suffix: -1, filters: mono/' m.yaml",
            made: ["b-1.png"]),
        Change(
            command: "sed -i 's/  a: small.png/  a: {source: small.png, filters: flip}/' m.yaml",
            made: ["a.png", "c.png"]),
        Change(
            command: "sed -i 's/  c: .*/  f: deep.png/' m.yaml", made: ["f.png"], gone: ["c.png"]),
        Change(
            command:
                "sed -i 's/  c: .*/  c: {from: a, filters: flip, output: {format: jpeg}}/' m.yaml",
            made: ["c.jpg"], gone: ["c.png"]),
        Change(
            command:
                #"sed -i 's/  c: .*/  c: {from: a, filters: flip, output: {name: "s\/{name}"}}/' m.yaml"#,
            made: ["s/c.png"], gone: ["c.png"]),
        // Another order.
        Change(
            command:
                "sed -i '/  d: /d; s/^images:/images:\\n  d: {source: large.png, filters: [{overlay: {from: e}}]}/' m.yaml",
            made: []),
        Change(command: "echo 'filters: mono' > recipes/old.yaml", made: []),
        Change(command: "echo 'filters: [sepia]' > recipes/old.yaml", made: outputs),
    ]
}

extension RunFixture {
    /// What must hold when a change has been made: what it makes is another file than before, all else is the same one, and
    /// the plan has said so. Files that no image has any more are told, and there.
    ///
    /// - Parameters:
    ///   - before: the identities of the outputs before it.
    ///   - plan: the objects of `plan --json`.
    ///   - told: the standard error of the run, or of the merge.
    func check(
        _ change: Renewal.Change, since before: [String: String], plan: String, told: String,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let outputs = Renewal.outputs
        let after = identities(of: outputs)
        let status = try #require(try status(), sourceLocation: sourceLocation)
        for file in status.images.compactMap(\.output?.file) {
            let isMade = change.made.contains(file)
            #expect(
                (before[file] == nil || before[file] != after[file]) == isMade
                    || !outputs.contains(file), "\(file)", sourceLocation: sourceLocation)
            let isPlanned = plan.contains("\"file\":\"\(file)\",\"name\"")
            #expect(isPlanned == isMade, "\(file) \(plan)", sourceLocation: sourceLocation)
        }
        for file in change.gone {
            #expect(
                plan.contains(#"{"action":"leave","file":"\#(file)","type":"file"}"#),
                "\(plan)", sourceLocation: sourceLocation)
            #expect(
                told.contains("no image any more: \(file)\n"), "\(told)",
                sourceLocation: sourceLocation)
            #expect(exists("out/\(file)"), sourceLocation: sourceLocation)
        }
    }
}
