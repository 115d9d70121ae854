import Testing

@testable import DarkroomCore
@testable import DarkroomManifest
@testable import DarkroomPicture

/// The digest of what decides a result: what changes it, and what does not.
struct ManifestSettingsTests {
    private static func digest(_ image: String, defaults: [Filter] = []) throws -> String {
        let manifest = try read(
            "images:\n- {name: other, source: o.png}\n- \(image)\n", .yaml, defaults: defaults)
        #expect(manifest.allSettingsSHA256()[1] == manifest.settingsSHA256(of: 1))
        return manifest.settingsSHA256(of: 1)
    }

    /// One of each filter with each parameter, and each option: all digests are different.
    static let settings =
        [
            "", "autoOrient: false", "damaged: keep", "strict: true", "source: \"a.tiff\", page: 2",
            "publish: false",
        ] + filters.map { "filters: [\($0)]" } + outputs.map { "output: {\($0)}" }

    static let filters = [
        "mono", "sepia", "{sepia: {intensity: 0.5}}", "grayscale", "{grayscale: {amount: 0.5}}",
        "invert", "{brightness: {amount: 1.5}}", "{contrast: {amount: 1.5}}",
        "{saturate: {amount: 1.5}}", "{hueRotate: {angle: 90}}", "{hueRotate: {angle: 91}}",
        "{opacity: {amount: 0.5}}", "{gamma: 2}", "{threshold: {level: 0.25}}",
        "{posterize: {levels: 4}}", "{posterize: {levels: 5}}", "vignette",
        "{vignette: {amount: 0.25}}", "{vignette: {radius: 0.25}}", "{vignette: {softness: 0.25}}",
        "flatten", "{flatten: {background: black}}", "{overlay: {from: other}}",
        "{overlay: {from: other, x: 1}}", "{overlay: {from: other, y: 1}}",
        "{overlay: {from: other, opacity: 0.5}}", "{overlay: {from: other, scale: 0.5}}",
        "{overlay: {from: other, gravity: north}}", "{resize: {width: 10}}",
        "{resize: {height: 10}}", "{resize: {width: 10, height: 10}}",
        "{resize: {width: 10, height: 10, fit: cover}}", "{resize: {width: 10, kernel: nearest}}",
        "{resize: {width: 10, withoutEnlargement: true}}", "{resize: {width: 10, linear: true}}",
        "{resize: {width: 10, height: 10, fit: contain, background: black}}",
        "{crop: {x: 1, y: 2, width: 3, height: 4}}", "{crop: {width: 3, height: 4, gravity: east}}",
        "trim", "{trim: {tolerance: 0.5}}", "{pad: {top: 1}}", "{pad: {right: 1}}",
        "{pad: {bottom: 1}}", "{pad: {left: 1}}", "{pad: {width: 9}}", "{pad: {height: 9}}",
        "{pad: {width: 9, gravity: north}}", "{pad: {top: 1, background: black}}",
        "{rotate: 90}", "{rotate: 180}", "flip", "flop", "flip, flop", "flop, flip",
        "{blur: {sigma: 2}}", "{blur: {sigma: 3}}", "{sharpen: {sigma: 2}}",
        "{sharpen: {sigma: 2, amount: 3}}", "{sharpen: {sigma: 2, threshold: 0.5}}",
    ]

    static let outputs = [
        "compression: small", "format: jpeg", "format: jpeg, quality: 50",
        "format: jpeg, progressive: true", "format: webp", "format: webp, lossless: true",
        "format: webp, effort: 2", "format: avif", "format: avif, chroma: \"4:4:4\"",
        "format: avif, depth: 10", "format: tiff", "format: tiff, compression: lzw",
        "format: jpeg, maxBytes: 9000", "format: jpeg, maxBytes: 9KiB",
        "format: jpeg, maxBytes: 9KiB, quality: 50", "format: jpeg, target: {ssim: 0.9}",
        "format: webp, target: {ssim: 0.98}, maxBytes: 9KiB",
        "format: jxl", "profile: srgb", "metadata: all", "metadata: copyright",
        "metadata: [all, \"-gps\"]",
    ]

    @Test func eachSettingCounts() throws {
        var known: [String: String] = [:]
        for text in Self.settings {
            let source = text.contains("source:") ? "" : ", source: a.png"
            let digest = try Self.digest("{name: a\(source)\(text.isEmpty ? "" : ", ")\(text)}")
            #expect(known[digest] == nil, "\(text) is as \(known[digest] ?? "")")
            known[digest] = text
        }
        #expect(known.count == Self.settings.count)
    }

    /// Each pair is the same: a default that is spelled out, what has no effect on the format, where the source is.
    @Test(
        arguments: pairs(
            #"""
            {name: a, source: a.png} ⇒ {name: a, source: /b/c.png, filters: [], autoOrient: true}
            {name: a, source: a.png} ⇒ {name: b, source: a.png}
            {name: a, source: a.png} ⇒ {name: a, source: a.png, after: [other]}
            {name: a, source: a.png, filters: grayscale}
                {name: a, source: a.png, filters: [{grayscale: {amount: 1}}]}
            {name: a, source: a.png, output: {format: jpeg}}
                {name: a, source: a.png, output: {format: jpeg, quality: 85, progressive: false}}
            {name: a, source: a.png, output: {format: webp, lossless: true}}
                {name: a, source: a.png, output: {format: webp, lossless: true, quality: 10}}
            {name: a, source: a.png, output: {format: webp, target: {ssim: 0.9}}}
                {name: a, source: a.png, output: {format: webp, target: {ssim: 0.9}, quality: 100}}
            """#)) func theSameIsTheSame(one: String, other: String) throws
    {
        #expect(try Self.digest(one) == Self.digest(other))
    }

    /// JPEG has no lossless form, so its quality counts whatever the option says.
    @Test func aQualityCountsWhereNothingIsLossless() {
        func text(_ format: OutputFormat, quality: Int, lossless: Bool) -> [UInt8] {
            var options = OutputOptions(format: format)
            (options.quality, options.lossless) = (quality, lossless)
            var writer = JSONWriter()
            options.writeCanonically(&writer)
            return writer.text()
        }
        for format in OutputOption.quality.formats {
            let isLossless = OutputOption.lossless.formats.contains(format)
            let one = text(format, quality: 50, lossless: true)
            #expect((one == text(format, quality: 60, lossless: true)) == isLossless, "\(format)")
            #expect(
                (one == text(format, quality: 50, lossless: false)) != isLossless, "\(format)")
        }
    }

    /// Whatever the order of the images is, each digest is that of its own settings.
    @Test(arguments: [1, 2, 3, 16, 17, 40]) func variantsHaveTheirOwnDigests(count: Int) throws {
        let images = (0..<100).map {
            "- {name: i\($0), source: a.png, filters: [{resize: {width: \($0 % count + 1)}}]}\n"
        }
        let manifest = try read("images:\n\(images.joined())", .yaml)
        let digests = manifest.allSettingsSHA256()
        #expect(digests == manifest.images.indices.map { manifest.settingsSHA256(of: $0) })
        #expect(Set(digests).count == count)
    }

    @Test func filtersOfTheConfigurationCount() throws {
        let image = "{name: a, source: a.png}"
        #expect(try Self.digest(image, defaults: [.flip]) != Self.digest(image))
        #expect(
            try Self.digest(image, defaults: [.flip])
                == Self.digest("{name: a, source: a.png, filters: flip}"))
    }

    @Test func whatItIsMadeFromCounts() throws {
        let from = try Self.digest("{name: a, from: other, filters: flip}")
        #expect(try Self.digest("{name: a, source: a.png, filters: flip}") != from)
    }
}
