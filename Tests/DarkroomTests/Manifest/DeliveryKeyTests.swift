import Testing

@testable import DarkroomManifest

/// The key `deliver`: its forms, who may name which folder, and what is wrong.
struct DeliveryKeyTests {
    private static func limits(_ rules: DeliveryRules?, owner: UInt32? = 7) -> ManifestLimits {
        var limits = ManifestLimits()
        limits.delivery = rules
        limits.owner = owner
        return limits
    }

    private static let rules = {
        var rules = DeliveryRules()
        rules.roots = ["/srv/web", "/srv/x"]
        rules.ofHotFolders = ["/srv/hot"]
        rules.taken = [("/srv/web/scans", "the hot folder"), ("/spool", "the spool")]
        rules.user = 5
        return rules
    }()

    static let forms: [(String, Delivery?)] = [
        ("", nil), ("deliver: /srv/web", Delivery(to: "/srv/web")),
        ("deliver: /srv//web/./a/", Delivery(to: "/srv/web/a")),
        ("deliver: {to: /srv/web}", Delivery(to: "/srv/web")),
        ("deliver: {to: /srv/web, ifExists: number}", Delivery(to: "/srv/web")),
        ("deliver: {to: /srv/web, ifExists: replace}", Delivery(to: "/srv/web", .replace)),
        ("deliver: {ifExists: fail, to: '/srv/web/é'}", Delivery(to: "/srv/web/é", .fail)),
    ]

    @Test(arguments: forms) func reads(text: String, delivery: Delivery?) throws {
        let manifest = try read(
            "images: [a.png, {source: b.png}]\n\(text)\n", .yaml, limits: Self.limits(Self.rules))
        #expect(manifest.images.map(\.delivery) == [delivery, delivery])
    }

    static let wrong: [(String, String)] = [
        ("deliver: web", "1:28 unknown-value deliver"),
        ("deliver: ''", "1:28 unknown-value deliver"),
        ("deliver: /srv/web/../x", "1:28 unknown-value deliver"),
        ("deliver: 3", "1:28 unknown-value deliver"),
        ("deliver: [/srv/web]", "1:28 wrong-type deliver"),
        ("deliver: {}", "1:28 missing-key deliver"),
        ("deliver: {to: /srv/web, ifExist: fail}", "1:43 unknown-key deliver.ifExist → ifExists"),
        ("deliver: {to: /srv/web, ifExists: fial}", "1:53 unknown-value deliver.ifExists → fail"),
        ("deliver: /etc", "1:28 delivery-not-allowed deliver"),
        ("deliver: /srv/webs", "1:28 delivery-not-allowed deliver"),
        ("deliver: /srv/hot", "1:28 delivery-not-allowed deliver"),
        ("deliver: /srv/web/scans/deep", "1:28 delivery-not-allowed deliver"),
        ("deliver: /spool/inbox", "1:28 delivery-not-allowed deliver"),
    ]

    @Test(arguments: wrong) func refuses(text: String, problem: String) {
        let found = problems(
            "{images: [a.png], " + text + "}", .yaml, limits: Self.limits(Self.rules))
        #expect(found.map(summary) == [problem])
    }

    /// Who owns the manifest, what it names, and whether it may.
    static let owners: [(UInt32?, String, Bool)] = [
        (7, "/srv/hot", false), (nil, "/srv/hot", false), (5, "/srv/hot", true),
        (5, "/srv/hot/deep", false), (5, "/etc", false), (7, "/srv/x", true), (0, "/etc", false),
        (5, "/srv/web/scans", false),
    ]

    @Test(arguments: owners)
    func asksWhoseItIs(owner: UInt32?, folder: String, isAllowed: Bool) {
        let found = problems(
            "images: [a.png]\ndeliver: \(folder)\n", .yaml,
            limits: Self.limits(Self.rules, owner: owner))
        #expect(found.isEmpty == isAllowed)
    }

    /// A recipe may name any folder from which nothing is taken. What stands nearer to the image counts.
    @Test func recipesDeliver() throws {
        let book = RecipeBook([
            try Recipe(named: "far", text: "deliver: /far"),
            try Recipe(named: "loop", text: "deliver: {to: /srv/web/scans, ifExists: replace}"),
            try Recipe(named: "none", text: "filters: mono"),
        ])
        func read(_ text: String, _ rules: DeliveryRules?) throws(ManifestRejection) -> [Delivery?]
        {
            try DarkroomManifestTests.read(text, .yaml, limits: Self.limits(rules), recipes: book)
                .images.map(\.delivery)
        }
        let far = Delivery(to: "/far", isOfRecipe: true)
        let web = Delivery(to: "/srv/web")
        #expect(try read("recipe: far\nimages: [a]", Self.rules) == [far])
        #expect(try read("recipe: far\nimages: [a]\ndeliver: /srv/web", Self.rules) == [web])
        #expect(
            try read(
                "deliver: /srv/web\nimages: [{source: a, recipe: far}, {source: b, recipe: none}]",
                Self.rules) == [far, web])
        let loop = #expect(throws: ManifestRejection.self) {
            _ = try read("recipe: loop\nimages: [a]", Self.rules)
        }
        #expect(loop?.problems.map(\.code) == ["delivery-not-allowed"])
        // A run delivers nothing, and says so instead of leaving it out.
        for text in ["recipe: far\nimages: [a]", "deliver: /srv/web\nimages: [a]"] {
            let refusal = #expect(throws: ManifestRejection.self) { _ = try read(text, .ofRun) }
            #expect(refusal?.problems.map(\.code) == ["delivery-not-allowed"])
            #expect(refusal?.problems.first?.message.contains("darkroom run") == true)
            // Without rules, as for a manifest that was accepted before, nothing is checked.
            #expect(try read(text, nil).count == 1)
        }
    }
}
