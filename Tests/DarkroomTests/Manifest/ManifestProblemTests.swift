import Testing

@testable import DarkroomManifest

struct ManifestProblemTests {
    private static let variantsWithALongSuffix =
        #"{"images": ["a"], "variants": [{"suffix": "\#(String(repeating: "x", count: 200))"}]}"#

    private static let tooManyVariants: String = {
        let variants = (0..<33).map { #"{"suffix": "-\#($0)"}"# }
        return #"{"images": ["a"], "variants": [\#(variants.joined(separator: ", "))]}"#
    }()

    /// A JSON manifest and everything wrong with it.
    static let manifests: [(String, [String])] =
        cases(
            #"""
            [] ⇒ 1:1 wrong-type
            null ⇒ 1:1 wrong-type
            {} ⇒ 1:1 missing-key
            {"images": []} ⇒ 1:12 no-images images
            {"images": {}} ⇒ 1:12 no-images images
            {"images": null} ⇒ 1:12 wrong-type images
            {"images": "a.png"} ⇒ 1:12 wrong-type images
            {"images": ["a"], "images": ["b"]} ⇒ 1:19 duplicate-key images
            {"imagse": ["a"]}
                1:1 missing-key
                1:2 unknown-key imagse → images
            {"images": ["a"], "é": 1, "x": 1}
                1:19 unknown-key é
                1:27 unknown-key x
            {"images": ["a"], "priority": "hgih"} ⇒ 1:31 unknown-value priority → high
            {"images": ["a"], "priority": 3} ⇒ 1:31 wrong-type priority
            {"images": ["a"], "qualityOfService": "Utility"}
                1:39 unknown-value qualityOfService → utility
            {"images": ["a"], "autoOrient": "no"} ⇒ 1:33 wrong-type autoOrient
            {"images": [{"source": "a", "publish": 0}]} ⇒ 1:40 wrong-type images[0].publish
            {"images": {"a": {"source": "a", "publish": "no"}}} ⇒ 1:45 wrong-type images.a.publish
            {"images": {"a": {"source": "a", "publish": null}}} ⇒ 1:45 wrong-type images.a.publish
            {"images": [{"source": "a", "publsh": false}]} ⇒ 1:29 unknown-key images[0].publsh → publish
            // Each image for itself.
            {"images": ["a"], "publish": false} ⇒ 1:19 unknown-key publish
            // It has a name like all images.
            {"images": [{"name": "a", "source": "x", "publish": false}, {"name": "a", "source": "y"}]}
                1:70 duplicate-name images[1]
            // Variants.
            {"images": ["a"], "variants": []} ⇒ 1:31 no-images variants
            {"images": ["a"], "variants": null} ⇒ 1:31 wrong-type variants
            {"images": ["a"], "variants": "-400"} ⇒ 1:31 wrong-type variants
            {"images": ["a"], "variants": {"suffix": "-4"}} ⇒ 1:31 wrong-type variants
            {"images": ["a"], "variants": ["-400"]} ⇒ 1:32 wrong-type variants[0]
            {"images": ["a"], "variants": [{}]} ⇒ 1:32 missing-key variants[0]
            {"images": ["a"], "variants": [{"filters": "mono"}]} ⇒ 1:32 missing-key variants[0]
            {"images": ["a"], "variants": [{"suffix": "x", "name": "y"}]}
                1:56 conflicting-keys variants[0].name
            {"images": ["a"], "variants": [{"sufix": "x"}]}
                1:32 missing-key variants[0]
                1:33 unknown-key variants[0].sufix → suffix
            {"images": ["a"], "variants": [{"suffix": "x", "source": "y"}]}
                1:48 unknown-key variants[0].source
            {"images": ["a"], "variants": [{"suffix": "x", "variants": [{"suffix": "y"}]}]}
                1:60 unknown-key variants[0].variants
            {"images": ["a"], "variants": [{"suffix": null}]} ⇒ 1:43 wrong-type variants[0].suffix
            {"images": ["a"], "variants": [{"suffix": 1.5}]} ⇒ 1:43 wrong-type variants[0].suffix
            {"images": ["a"], "variants": [{"suffix": "a/b"}]} ⇒ 1:43 bad-name variants[0].suffix
            {"images": ["a"], "variants": [{"suffix": "\u0007"}]} ⇒ 1:43 bad-name variants[0].suffix
            {"images": ["a"], "variants": [{"name": "status.json"}]} ⇒ 1:41 bad-name variants[0].name
            {"images": ["a"], "variants": [{"name": ""}]} ⇒ 1:41 bad-name variants[0].name
            {"images": ["a"], "variants": [{"name": 1}]} ⇒ 1:41 wrong-type variants[0].name
            {"images": ["a"], "variants": [{"suffix": "x"}, {"suffix": "x"}]}
                1:60 duplicate-name variants[1]
            {"images": ["a", "b"], "variants": [{"name": "x"}]} ⇒ 1:18 duplicate-name images[1]
            {"images": {"a": "x", "a-4": "y"}, "variants": [{"suffix": ""}, {"suffix": "-4"}]}
                1:23 duplicate-name images.a-4
            {"images": {"a": {"source": "x", "variants": [{"suffix": "-4"}]}, "a-4": "y"}}
                1:67 duplicate-name images.a-4
            {"images": [{"source": "a", "publish": false, "variants": [{"suffix": "x"}]}]}
                1:59 conflicting-keys images[0].variants
            {"images": [{"source": "a", "variants": []}]} ⇒ 1:41 no-images images[0].variants
            {"images": ["a"], "variants": [{"suffix": "x", "filters": ["blurr"]}]}
                1:60 unknown-filter variants[0].filters[0] → blur
            {"images": ["a"], "variants": [{"suffix": "x", "output": {"quality": 80}}]}
                1:70 conflicting-keys variants[0].output.quality
            {"images": ["a"], "variants": [{"suffix": "x", "output": {"format": "jpg", "quality": 0}}]}
                1:87 out-of-range variants[0].output.quality
            {"images": [{"name": "b", "from": "photo"}, {"name": "photo", "source": "x", "variants": [{"suffix": "-4"}]}]}
                1:35 unknown-image images[0].from
            {"images": [{"name": "b", "from": "nobody", "variants": [{"suffix": "1"}, {"suffix": "2"}]}]}
                1:35 unknown-image images[0].from
            {"images": {"a": {"source": "x", "variants": [{"suffix": "1", "filters": {"overlay": "a2"}}, {"suffix": "2", "filters": {"overlay": "a1"}}]}}}
                1:133 cycle images.a.variants[1].filters.overlay
            {"images": ["a"], "output": "jpgg"} ⇒ 1:29 unknown-value output → jpeg
            {"images": ["a"], "output": null} ⇒ 1:29 wrong-type output
            {"images": ["a"], "output": {"format": "jpe", "quality": 1}}
                1:40 unknown-value output.format → jpeg
            {"images": ["a"], "output": {"format": "jpeg", "qualty": 1}}
                1:48 unknown-key output.qualty → quality
            {"images": ["a"], "output": {"format": "jpeg", "quality": 0}}
                1:59 out-of-range output.quality
            {"images": ["a"], "output": {"format": "jpeg", "quality": "90"}}
                1:59 wrong-type output.quality
            {"images": ["a"], "output": {"format": "jpeg", "quality": 101, "progressive": 1}}
                1:59 out-of-range output.quality
                1:79 wrong-type output.progressive
            {"images": ["a"], "output": {"format": "jpeg", "maxBytes": "200 KB"}}
                1:60 unknown-value output.maxBytes → 200KiB
            {"images": ["a"], "output": {"format": "jpeg", "maxBytes": "much"}}
                1:60 unknown-value output.maxBytes
            {"images": ["a"], "output": {"format": "jpeg", "maxBytes": 0}}
                1:60 out-of-range output.maxBytes
            {"images": ["a"], "output": {"format": "jpeg", "maxBytes": true}}
                1:60 wrong-type output.maxBytes
            {"images": ["a"], "output": {"format": "avif", "target": 0.98}}
                1:58 wrong-type output.target
            {"images": ["a"], "output": {"format": "avif", "target": {}}}
                1:58 missing-key output.target
            {"images": ["a"], "output": {"format": "webp", "target": {"ssim": 0.4}}}
                1:67 out-of-range output.target.ssim
            {"images": ["a"], "output": {"format": "webp", "target": {"ssim": 0.9, "psnr": 40}}}
                1:72 unknown-key output.target.psnr
            {"images": ["a"], "output": {"format": "webp", "lossless": true, "maxBytes": 5}}
                1:78 conflicting-keys output.maxBytes
            {"images": ["a"], "output": {"format": "avif", "target": {"ssim": 0.9}, "lossless": true}}
                1:58 conflicting-keys output.target
            {"images": ["a"], "output": {"format": "jxl", "target": {"ssim": 0.9}}}
                1:57 conflicting-keys output.target
            {"images": ["a"], "output": {"format": "png", "maxBytes": 5}}
                1:59 conflicting-keys output.maxBytes
            {"images": ["a"], "output": {"compression": "best"}} ⇒ 1:45 unknown-value output.compression
            {"images": ["a"], "output": {"quality": 80, "progressive": true}}
                1:41 conflicting-keys output.quality
                1:60 conflicting-keys output.progressive
            {"images": ["a"], "output": {"compression": "small", "format": "jpeg"}}
                1:45 conflicting-keys output.compression
            {"output": {"format": "jpeg"}, "images": {"a": {"source": "b", "output": {"compression": "fast"}}}}
                1:90 conflicting-keys images.a.output.compression
            {"images": {"a": {"source": "b", "autoOrient": 0, "output": {"quality": 7}}}}
                1:48 wrong-type images.a.autoOrient
                1:73 conflicting-keys images.a.output.quality
            // One output, and one name.
            {"output": {"format": "jpeg"}, "images": {"a": "x", "a.jpg": "y", "a.jpeg": "z"}}
                1:53 duplicate-name images["a.jpg"]
            {"images": [{"name": "a", "source": "x"}, {"name": "a", "source": "y", "output": {"format": "jpeg"}}]}
                1:52 duplicate-name images[1]
            {"images": ["a"], "filters": [3]} ⇒ 1:31 wrong-type filters[0]
            {"images": [1]} ⇒ 1:13 wrong-type images[0]
            {"images": [[]]} ⇒ 1:13 wrong-type images[0]
            {"images": [{}]} ⇒ 1:13 missing-key images[0]
            {"images": [{"name": "a"}]} ⇒ 1:13 missing-key images[0]
            {"images": [{"source": true}]} ⇒ 1:24 wrong-type images[0].source
            {"images": [{"source": ""}]} ⇒ 1:24 bad-source images[0].source
            {"images": [""]} ⇒ 1:13 bad-source images[0]
            {"images": ["a\nb"]} ⇒ 1:13 bad-source images[0]
            {"images": [{"nmae": "x", "source": "a"}]} ⇒ 1:14 unknown-key images[0].nmae → name
            {"images": {"a b": {"name": "x", "source": "a"}}} ⇒ 1:21 unknown-key images["a b"].name
            {"images": {"a": 1}} ⇒ 1:18 wrong-type images.a
            {"images": {"a": "x", "a": "y"}} ⇒ 1:23 duplicate-key images.a
            {"images": [{"name": 7, "source": "a"}]} ⇒ 1:22 wrong-type images[0].name
            {"images": ["a", {"name": "b", "source": "c", "from": "a"}]}
                1:55 conflicting-keys images[1].from
            {"images": ["a", {"from": "a"}]} ⇒ 1:18 missing-key images[1]
            {"images": ["a", {"name": "b", "from": "a", "page": 2}]}
                1:53 conflicting-keys images[1].page
            {"images": [{"source": "a", "page": 0}, {"source": "b", "page": "2"}]}
                1:37 out-of-range images[0].page
                1:65 wrong-type images[1].page
            {"images": ["a", {"name": "b", "from": "a", "after": "a"}]}
                1:54 wrong-type images[1].after
            {"images": ["a", {"source": "b", "after": ["a", 1]}]} ⇒ 1:49 wrong-type images[1].after[1]
            {"images": [{"name": "a/b", "source": "a"}, {"name": ".x", "source": "a"}]}
                1:22 bad-name images[0].name
                1:54 bad-name images[1].name
            {"images": [{"name": "a", "source": "x"}, {"name": "a", "source": "y"}]}
                1:52 duplicate-name images[1]
            {"images": [{"name": "a", "source": "x"}, {"name": "a.png", "source": "y"}]}
                1:52 duplicate-name images[1]
            {"images": [{"name": "moon", "source": "a"}, {"name": "b", "from": "mon"}]}
                1:68 unknown-image images[1].from → moon
            {"images": {"moon": "a", "b": {"source": "b", "filters": [{"overlay": {"from": "mon"}}]}}}
                1:80 unknown-image images.b.filters[0].overlay.from → moon
            // Once, however many images share the list.
            {"images": ["a", "b", "c"], "filters": [{"overlay": {"from": "moon"}}]}
                1:62 unknown-image filters[0].overlay.from
            // The image itself is one of those that have the manifest's filters.
            {"images": ["a", "b"], "filters": [{"overlay": {"from": "a"}}]}
                1:57 cycle filters[0].overlay.from
            {"images": {"a": {"from": "b"}, "b": {"source": "b", "filters": [{"overlay": {"from": "a"}}]}}}
                1:87 cycle images.b.filters[0].overlay.from
            {"images": ["x/moonlight.png", {"name": "b", "from": "moonlight.png"}]}
                1:54 unknown-image images[1].from → moonlight
            {"images": [{"source": "a", "after": ["nebula"]}]} ⇒ 1:39 unknown-image images[0].after[0]
            {"images": [{"name": "a", "from": "a"}]} ⇒ 1:35 cycle images[0].from
            {"images": [{"name": "a", "source": "x", "after": ["b"]}, {"name": "b", "from": "a"}]}
                1:81 cycle images[1].from
            """#) + [
            (variantsWithALongSuffix, ["1:43 bad-name variants[0].suffix"]),
            (tooManyVariants, ["1:31 too-many-images variants"]),
            // Two spellings of é are two names.
            ("{\"images\": {\"\u{E9}\": \"x\", \"e\u{301}\": \"y\"}}", []),
            (
                "{\"images\": {\"\u{E9}\": \"x\", \"b\": {\"from\": \"e\u{301}\"}}}",
                ["1:37 unknown-image images.b.from"]
            ),
        ]

    @Test(arguments: manifests)
    func tellsEveryProblem(text: String, expected: [String]) {
        #expect(problems(text).map(summary) == expected)
    }

    /// A list of filters, and everything wrong with it. Columns count from the list's own start.
    static let filterLists: [(String, [String])] = cases(
        #"""
        3 ⇒ 1:1 wrong-type
        "resize" ⇒ 1:1 wrong-type
        [[]] ⇒ 1:2 wrong-type [0]
        [{}] ⇒ 1:2 wrong-type [0]
        [{"mono": {}, "flip": {}}] ⇒ 1:2 wrong-type [0]
        ["mnoo"] ⇒ 1:2 unknown-filter [0] → mono
        ["flip", {"solarize": 3}] ⇒ 1:11 unknown-filter [1].solarize
        [{"sepia": "0.8"}] ⇒ 1:12 wrong-type [0].sepia
        [{"sepia": {"intensty": 1}}] ⇒ 1:13 unknown-parameter [0].sepia.intensty → intensity
        [{"sepia": {"intensity": 1.5}}] ⇒ 1:26 out-of-range [0].sepia.intensity
        [{"sepia": {"intensity": -1e999}}] ⇒ 1:26 out-of-range [0].sepia.intensity
        [{"sepia": {"intensity": true}}] ⇒ 1:26 wrong-type [0].sepia.intensity
        [{"sepia": {"intensity": "1"}}] ⇒ 1:26 wrong-type [0].sepia.intensity
        [{"sepia": {"intensity": null}}] ⇒ 1:26 wrong-type [0].sepia.intensity
        [{"sepia": {"intensity": 1, "intensity": 0}}] ⇒ 1:29 duplicate-key [0].sepia.intensity
        ["blur"] ⇒ 1:2 missing-parameter [0]
        [{"brightness": {}}] ⇒ 1:3 missing-parameter [0].brightness
        [{"resize": {"width": 0}}] ⇒ 1:23 out-of-range [0].resize.width
        [{"resize": {"width": 1.5}}] ⇒ 1:23 out-of-range [0].resize.width
        [{"resize": {"width": 9223372036854775808}}] ⇒ 1:23 out-of-range [0].resize.width
        [{"resize": {"width": true}}] ⇒ 1:23 wrong-type [0].resize.width
        [{"resize": {"width": 1, "fit": "inwide"}}] ⇒ 1:33 unknown-value [0].resize.fit → inside
        [{"resize": {"width": 1, "linear": 1}}] ⇒ 1:36 wrong-type [0].resize.linear
        [{"resize": {"width": 1, "background": "#ggg"}}] ⇒ 1:40 unknown-value [0].resize.background
        ["resize"] ⇒ 1:2 invalid-arguments [0]
        [{"rotate": {"angle": 45}}] ⇒ 1:23 out-of-range [0].rotate.angle
        [{"rotate": {"angle": 100}}] ⇒ 1:23 out-of-range [0].rotate.angle
        [{"rotate": {"angle": 90.5}}] ⇒ 1:23 out-of-range [0].rotate.angle
        [{"rotate": {"angle": 1e300}}] ⇒ 1:23 out-of-range [0].rotate.angle
        [{"rotate": {"angle": "90"}}] ⇒ 1:23 wrong-type [0].rotate.angle
        [{"flatten": {"background": "#ffffff80"}}] ⇒ 1:29 invalid-arguments [0].flatten.background
        ["pad"] ⇒ 1:2 invalid-arguments [0]
        [{"pad": {"gravity": "north"}}] ⇒ 1:3 invalid-arguments [0].pad
        [{"pad": {"width": 3, "left": 1}}] ⇒ 1:31 invalid-arguments [0].pad.left
        [{"thumbnail": {"width": 3}}] ⇒ 1:3 invalid-arguments [0].thumbnail
        [{"thumbnail": {"width": 3, "size": 3}}] ⇒ 1:37 invalid-arguments [0].thumbnail.size
        [{"thumbnail": {"size": 3, "fit": "outside"}}] ⇒ 1:35 unknown-value [0].thumbnail.fit
        ["overlay"] ⇒ 1:2 missing-parameter [0]
        [{"overlay": {"from": []}}] ⇒ 1:23 wrong-type [0].overlay.from
        [{"watermark": {"from": "a", "scale": 0}}]
            1:25 unknown-image [0].watermark.from
            1:39 out-of-range [0].watermark.scale
        [{"overlay": {"scale": 0.5}}] ⇒ 1:3 missing-parameter [0].overlay
        // Both that there is no such image and what else is wrong.
        [{"watermark": {"from": "nobody", "opacity": 2}}]
            1:25 unknown-image [0].watermark.from
            1:46 out-of-range [0].watermark.opacity
        [{"crop": {"width": 1, "height": 1, "x": 0, "y": 0, "gravity": "north"}}]
            1:64 invalid-arguments [0].crop.gravity
        [{"crop": {"width": 1, "height": 1}}] ⇒ 1:3 invalid-arguments [0].crop
        """#)

    @Test(arguments: filterLists)
    func tellsEveryProblemOfFilters(list: String, expected: [String]) {
        let rejection = #expect(throws: ManifestRejection.self) {
            try FilterList.read(yaml: Array(list.utf8))
        }
        #expect(rejection?.problems.map(summary) == expected)
        // The same list within a manifest, where paths and columns have a beginning of their own.
        let start = #"{"images": ["a"], "filters": "#
        let inner = problems(start + list + "}")
        #expect(
            inner.map(\.path) == rejection?.problems.map { "filters" + $0.path }
                && inner.map(\.column)
                    == rejection?.problems.map { $0.column.map { $0 + start.count } }
        )
    }

    @Test func tellsPlacesOverSeveralLines() {
        let text = """
            filters:
              - sepia:
                intensity: 0.5
            images:
              moon:
                source: moon.png
                filtres: []
              sun: {source: "…", after: [moonn]}
            """
        #expect(
            problems(text, .yaml).map(summary) == [
                "2:5 wrong-type filters[0]", "7:5 unknown-key images.moon.filtres → filters",
                "8:30 unknown-image images.sun.after[0] → moon",
            ])
    }

    @Test(arguments: [
        (ManifestLimits(bytes: 18), ["too-large"]),
        (ManifestLimits(images: 1), ["1:12 too-many-images images"]),
        (ManifestLimits(filters: 1), ["1:40 too-many-filters images[0].filters"]),
        (ManifestLimits(), []),
    ])
    func holdsToLimits(limits: ManifestLimits, expected: [String]) {
        let text =
            #"{"images": [{"source": "a", "filters": ["flip", "flop"]}, "b"], "filters": ["flip"]}"#
        #expect(problems(text, limits: limits).map(summary) == expected)
    }

    @Test func countsProblemsBeyondAHundred() {
        let text =
            "{\"images\": [" + [String](repeating: "3", count: 250).joined(separator: ",\n")
            + "]}"
        let found = problems(text)
        #expect(found.count == 101)
        #expect(found.prefix(100).map(\.line) == Array(1...100))
        #expect(found.last.map(summary) == "too-many-problems")
        #expect(found.last?.message == "150 further problems")
    }

    /// A manifest with one problem, and its message.
    static let messages: [(String, String)] = pairs(
        #"""
        {"images": ["a"], "variants": {"suffix": "-4"}}
            ‘variants’ must be a list, found a map; write ‘"variants": [{"suffix": "-800", "filters": {"resize": 800}}]’
        {"images": ["a"], "variants": "-400"}
            ‘variants’ must be a list, found text; write ‘"variants": [{"suffix": "-800", "filters": {"resize": 800}}]’
        {"images": ["a"], "variants": []} ⇒ an empty list of variants; leave it out
        {"images": ["a"], "variants": [{"filters": "mono"}]}
            a variant needs a ‘suffix’ for the name of the image, or a ‘name’ of its own
        {"images": ["a"], "variants": [{"suffix": "x", "variants": []}]}
            a variant has no ‘variants’ of its own; list all of them side by side
        {"images": ["a"], "variants": [{"suffix": "x"}, {"suffix": "x"}]}
            the suffix ‘x’ is given to two variants
        {"images": {"a": {"source": "x", "variants": [{"suffix": "-4"}]}, "a-4": "y"}}
            the name ‘a-4’ is given twice, first to images.a
        {"images": [{"source": "a", "publish": false, "variants": [{"suffix": "x"}]}]}
            an image with ‘publish: false’ has no variants
        {"images": [{"name": "a", "source": "x", "filters": [{"sepia": {"intensity": 1.5}}]}]}
            ‘intensity’ must be from 0 to 1, found 1.5
        {"images": ["a"], "priority": "x"}
            ‘priority’ must be veryLow, low, normal, high or veryHigh, found ‘x’
        {"images": [{"name": "a", "from": "b"}, {"name": "b", "from": "c"}, {"name": "c", "from": "a"}]}
            images that wait for each other: ‘a’ → ‘b’ → ‘c’ → ‘a’
        {"images": [{"name": "a", "from": "a"}]} ⇒ the image ‘a’ waits for itself
        {"images": [{"name": "..", "source": "a"}]} ⇒ the name ‘..’ begins with a dot
        {"images": [{"name": "a", "source": "x"}, {"name": "a", "source": "x"}]}
            the name ‘a’ is given twice, first to images[0]
        {"images": [{"name": "a", "source": "x"}, {"name": "a.png", "source": "x"}]}
            ‘a.png’ would have the same output file as ‘a’, images[0]
        {"images": ["a", {"source": "x", "filters": [{"resize": {}}]}]}
            ‘resize’ needs a width, a height or both
        {"images": [{"source": "x", "filters": [{"rotate": {"angle": 45}}]}]}
            ‘angle’ must be 90, 180 or 270, found 45
        {"images": [{"source": "x", "filters": [{"rotate": {"angle": 100}}]}]}
            ‘angle’ must be 90, 180 or 270, found 100
        {"images": [{"source": "x", "filters": [{"overlay": {"from": "y"}}]}]}
            no image has the name ‘y’
        """#)

    @Test(arguments: messages)
    func saysItInASentence(text: String, message: String) {
        #expect(problems(text).map(\.message) == [message])
    }

    /// A source in the wrong place is told of without what it may hide.
    @Test(arguments: [
        #"{"images": {"URL": "mono"}}"#, #"{"URL": 1, "images": ["a"]}"#,
        #"{"images": [{"source": "a", "filters": ["URL"]}]}"#,
        #"{"images": [{"source": "a", "filters": [{"URL": 1}]}]}"#,
        #"{"images": [{"source": "a", "URL": 1}]}"#,
        #"{"images": [{"name": "URL", "source": "a"}]}"#,
        #"{"images": [{"name": "a", "from": "URL"}]}"#,
        #"{"images": ["a"], "priority": "URL"}"#,
        #"{"images": [{"source": "a", "filters": [{"resize": {"width": 1, "fit": "URL"}}]}]}"#,
    ])
    func quotesNoCredentials(manifest: String) {
        let urls = [
            "https://ann:hunter2@example.org/a.png?token=hunter2", "ann:hunter2@example.org/a.png",
            "example.org/a.png?token=hunter2",
            "https://" + String(repeating: "a", count: 40) + ":hunter2"
                + String(repeating: "b", count: 100) + "@example.org/a.png",
        ]
        for url in urls {
            let text = manifest.replacing("URL", with: url)
            let said = problems(text).map { "\($0.path) \($0.message) \($0.suggestion ?? "")" }
            #expect(!said.isEmpty && !said.joined().contains("hunter2"), "\(said)")
        }
    }
}
