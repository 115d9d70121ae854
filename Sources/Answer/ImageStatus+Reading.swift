import DarkroomCore
import DarkroomPicture
import Foundation

extension ImageStatus {
    /// Reads the text of an image in a status; nil if it is not one.
    ///
    /// - Parameter texts: those of the images before it, which mostly have the same digests: each is in memory once.
    package init?(text: ArraySlice<UInt8>, sharing texts: inout SharedTexts) {
        guard let image = ImageStatus(text: text) else { return nil }
        self = image
        settingsSHA256 = texts.shared(settingsSHA256)
        versionsSHA256 = texts.shared(versionsSHA256)
    }

    /// Reads the text of a single image; nil if it is not one.
    package init?(text: ArraySlice<UInt8>) {
        let scanned = text.withUnsafeBytes { ImageStatus(scanning: $0) }
        if let scanned {
            self = scanned
        } else if let decoded = try? JSONDecoder().decode(ImageStatus.self, from: Data(text)) {
            self = decoded
        } else {
            return nil
        }
    }

    /// The members in the order of `write`. A test compares this with the decoder.
    private init?(scanning text: UnsafeRawBufferPointer) {
        var scanner = JSONScanner(text)
        var image = ImageStatus(name: "")
        var isComplete = false
        scanner.whole { scanner in
            let attempts = scanner.int("attempts")
            image.deliveredTo = scanner.string("deliveredTo").map { RareText($0) }
            image.download = scanner.object("download") { Download(scanning: &$0) }
            image.error = scanner.object("error") { Failure(scanning: &$0) }
            image.from = scanner.string("from")
            image.inputsSHA256 = scanner.string("inputsSha256")
            image.libraries = scanner.strings("libraries")
            image.limitsSHA256 = scanner.string("limitsSha256")
            image.made = scanner.string("made") { Origin(rawValue: $0) }
            image.metadata = scanner.strings("metadata")
            let milliseconds = scanner.object("milliseconds") { Milliseconds(scanning: &$0) }
            let name = scanner.string("name")
            image.originalAt = scanner.string("originalAt").map { RareText($0) }
            image.output = scanner.object("output") { Output(scanning: &$0) }
            image.published = scanner.bool("published")
            image.settingsSHA256 = scanner.string("settingsSha256")
            image.source = scanner.string("source")
            image.sourceIdentity = scanner.string("sourceIdentity")
            image.sourceSHA256 = scanner.string("sourceSha256")
            let state = scanner.string("state").flatMap(ImageState.init)
            image.times = scanner.object("times") { Times(scanning: &$0) }
            image.variantOf = scanner.string("variantOf")
            image.versionsSHA256 = scanner.string("versionsSha256")
            image.warnings = scanner.list("warnings")
            guard let attempts, let milliseconds, let name, let state else { return }
            image.attempts = attempts
            image.milliseconds = milliseconds
            image.name = name
            image.state = state
            isComplete = true
        }
        guard isComplete, !scanner.isWrong else { return nil }
        self = image
    }
}

extension ImageStatus.Output {
    fileprivate init?(scanning scanner: inout JSONScanner) {
        let bytes = scanner.int("bytes")
        let channels = scanner.int("channels")
        let depth = scanner.int("depth")
        let file = scanner.string("file")
        let format = scanner.string("format").flatMap(OutputFormat.init(rawValue:))
        let height = scanner.int("height")
        let quality = scanner.int("quality")
        let sha256 = scanner.string("sha256")
        let ssim = scanner.double("ssim")
        let width = scanner.int("width")
        guard let bytes, let channels, let depth, let file, OutputPath.isValid(file), let format,
            let height, let sha256, let width
        else { return nil }
        self.init(
            file: file, format: format, sha256: sha256, bytes: bytes, width: width, height: height,
            depth: depth, channels: channels, quality: quality, ssim: ssim)
    }
}

extension ImageStatus.Download {
    fileprivate init?(scanning scanner: inout JSONScanner) {
        let attempts = scanner.int("attempts")
        let bytes = scanner.int("bytes")
        let cache = scanner.string("cache")
        let error = scanner.object("lastError") { Failure(scanning: &$0) }
        let retryAt = scanner.string("retryAt")
        guard let attempts else { return nil }
        self.init(
            attempts: attempts, bytes: bytes, cache: cache, lastError: error,
            retryAt: retryAt)
    }
}

extension ImageStatus.Milliseconds {
    fileprivate init?(scanning scanner: inout JSONScanner) {
        let downloading = scanner.int("downloading")
        let filtering = scanner.int("filtering")
        let waited = scanner.int("waited")
        guard let downloading, let filtering, let waited else { return nil }
        self.init()
        self.downloading = downloading
        self.filtering = filtering
        self.waited = waited
    }
}

extension ImageStatus.Times {
    fileprivate init(scanning scanner: inout JSONScanner) {
        let downloaded = scanner.string("downloaded") { Moment($0) }
        let downloading = scanner.string("downloading") { Moment($0) }
        let filtering = scanner.string("filtering") { Moment($0) }
        self.init(downloading: downloading, downloaded: downloaded, filtering: filtering)
    }
}

extension Failure {
    fileprivate init?(scanning scanner: inout JSONScanner) {
        let code = scanner.string("code")
        let message = scanner.string("message")
        let isTransient = scanner.bool("retryable")
        guard let code, let message, let isTransient else { return nil }
        self.init(code: code, message: message, isTransient: isTransient)
    }
}
