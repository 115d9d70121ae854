import Testing

@testable import DarkroomManifest
@testable import DarkroomPage
@testable import DarkroomPicture

/// Each filter is written in words.
struct FilterSentenceTests {
    @Test(arguments: [
        ("sepia: 0.8", "sepia, intensity 0.8"), ("mono", "mono"), ("grayscale", "grayscale 100 %"),
        ("contrast: 1.25", "contrast 125 %"), ("hueRotate: 90", "hues rotated by 90°"),
        ("gamma: 2.2", "gamma 2.2"), ("posterize: 4", "posterize to 4 levels"),
        ("flatten", "on white"), ("flatten: \"#102030\"", "on #102030"),
        ("resize: 800", "resize to width 800"),
        ("resize: {height: 600, withoutEnlargement: true}", "resize to height 600, never larger"),
        (
            "resize: {width: 8, height: 6, fit: cover, kernel: linear, linear: true}",
            "resize to 8 × 6, cover, linear, in linear light"
        ),
        ("crop: {x: 1, y: 2, width: 3, height: 4}", "crop 3 × 4 from (1, 2)"),
        ("crop: {width: 3, height: 4, gravity: north}", "crop 3 × 4, north"),
        ("pad: {right: 5}", "margins of 0, 5, 0 and 0 pixels, transparent"),
        ("rotate: 90", "rotate by 90°"), ("flip", "flip (top becomes bottom)"),
        ("blur: 1.5", "blur, σ 1.5 pixels"),
    ])
    func writes(yaml: String, sentence: String) throws {
        let filters = try FilterList.read(yaml: Array("[\(yaml)]".utf8))
        #expect(filters.map { FilterSentence.text($0) } == [sentence])
    }

    @Test func writesOverlays() {
        let overlay = Filter.Overlay(
            from: "logo", gravity: .southeast, x: 8, y: 4, opacity: 0.5, scale: 0.2)
        #expect(
            FilterSentence.text(.overlay(overlay))
                == "logo laid over it, southeast, moved by (8, 4), opacity 50 %, 20 % of the width")
    }
}
