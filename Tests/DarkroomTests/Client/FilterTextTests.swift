import DarkroomPicture
import Testing

@testable import DarkroomClient

/// Filters as they are written on a command line.
struct FilterTextTests {
    private static func json(_ text: String) throws -> String {
        try FilterText(text).value { $0 == "logo.png" ? "logo" : $0 }.inline(.json)
    }

    @Test(arguments: [
        "mono": #""mono""#,
        "sepia": #""sepia""#,
        "sepia=0.8": #"{"sepia": {"intensity": 0.8}}"#,
        "sepia:intensity=0.8": #"{"sepia": {"intensity": 0.8}}"#,
        "grayscale=1": #"{"grayscale": {"amount": 1}}"#,
        "hueRotate=-90": #"{"hueRotate": {"angle": -90}}"#,
        "rotate=90": #"{"rotate": {"angle": 90}}"#,
        "posterize=4": #"{"posterize": {"levels": 4}}"#,
        "resize=1600": #"{"resize": {"width": 1600}}"#,
        "resize=800x600": #"{"resize": {"width": 800, "height": 600}}"#,
        "resize=800,fit=cover,height=600":
            #"{"resize": {"width": 800, "fit": "cover", "height": 600}}"#,
        "resize:height=600,linear=true": #"{"resize": {"height": 600, "linear": true}}"#,
        "thumbnail=1600": #"{"thumbnail": {"size": 1600, "fit": "inside"}}"#,
        "thumbnail=64x48": #"{"thumbnail": {"width": 64, "height": 48, "fit": "inside"}}"#,
        "thumbnail=64,fit=cover": #"{"thumbnail": {"size": 64, "fit": "cover"}}"#,
        "thumbnail:size=64": #"{"thumbnail": {"size": 64}}"#,
        "crop:width=100,height=50,gravity=center":
            #"{"crop": {"width": 100, "height": 50, "gravity": "center"}}"#,
        "crop=100x50,x=0,y=7": #"{"crop": {"width": 100, "height": 50, "x": 0, "y": 7}}"#,
        "flatten=#ff0080": ##"{"flatten": {"background": "#ff0080"}}"##,
        "watermark=logo.png": #"{"watermark": {"from": "logo"}}"#,
        "overlay:from=a,b.png,x=3": #"{"overlay": {"from": "a,b.png", "x": 3}}"#,
    ]) func means(text: String, json: String) throws {
        #expect(try Self.json(text) == json)
    }

    @Test(arguments: [
        ("sepai=0.8", "there is no filter ‘sepai’; did you mean ‘sepia’?"),
        ("Sepia", "there is no filter ‘Sepia’; did you mean ‘sepia’?"),
        ("gray", "there is no filter ‘gray’; did you mean ‘grayscale’?"),
        ("mono=1", "‘mono’ has no parameters; write --filter mono"),
        ("sepia=2", "‘intensity’ must be from 0 to 1, found 2"),
        ("sepia:intensty=1", "‘sepia’ has no parameter ‘intensty’; did you mean ‘intensity’?"),
        ("sepia:0.8", "write sepia=0.8"),
        ("sepia: 0.8", "write sepia=0.8"),
        ("resize:800x600", "write resize=800x600"),
        ("sepia:x", "write NAME, NAME=VALUE or NAME:KEY=VALUE,KEY=VALUE"),
        ("crop=100x50", "‘crop’ needs x and y, or gravity"),
        ("blur", "‘blur’ needs ‘sigma’"),
    ]) func isRefused(text: String, message: String) {
        let error = #expect(throws: ClientError.self) { try FilterText(text) }
        #expect(error?.message == "--filter \(text): \(message)")
        #expect(error?.exit == .usage)
    }

    @Test func anUnknownNameThatIsLikeNoneGetsAll() {
        let error = #expect(throws: ClientError.self) { try FilterText("zzzzzz") }
        let names = FilterCatalog.all.map(\.name)
        #expect(names.allSatisfy { error?.message.contains($0) == true })
    }

    /// Every filter can be written, by the example that its catalogue row allows.
    @Test(arguments: FilterCatalog.all.map(\.name)) func everyFilterHasAName(name: String) {
        do throws(ClientError) {
            _ = try FilterText(name)
        } catch {
            // What is missing is told by the reader of manifests, and the name is known.
            #expect(!error.message.contains("there is no filter"))
        }
    }
}
