import DarkroomCore
import DarkroomManifest
import DarkroomPicture

/// The state of an image, as users see it.
package enum ImageState: String, Codable, Sendable, CaseIterable {
    /// Not begun: it waits for its turn, or for images that it depends on.
    case new
    /// Its source is being fetched.
    case downloading
    /// Its source is available, and it waits for its turn to be filtered.
    case downloaded
    case filtering
    /// Its output is in the outbox.
    case filtered
    case failed
    case cancelled

    package var isFinal: Bool { self == .filtered || self == .failed || self == .cancelled }
}

/// What is known of one image of a batch: an element of `images` in `status.json`, and of a record of the journal.
///
/// `ImageStatus.write` writes it, and `ImageStatus.init(text:)` reads it. A new property needs a coding key, and a line in
/// both; tests compare them with Foundation's encoder and decoder.
package struct ImageStatus: Codable, Sendable, Equatable {
    package var name: String
    /// The location of the picture, without credentials and query; absent for an image made `from` another one.
    package var source: String?
    /// The SHA-256 of the source, in hexadecimal, when the image is filtered; absent for an image made `from` another
    /// one, and if an older version filtered it.
    package var sourceSHA256: String?
    /// Tells whether its local file is still the same (`SourceIdentity`); only of a run, and absent if the file had just
    /// been changed.
    package var sourceIdentity: String?
    /// The digest of what decided the pixels of the images that it needs (`inputKey`), by `from` and in overlays, when it
    /// was filtered; absent if it needs none, and if an older version filtered it.
    package var inputsSHA256: String?
    /// The libraries of the codec programs that have read, converted or written it, besides what `versionsSHA256` has
    /// (`CodecLibraries`); absent for none.
    package var libraries: [String: String]?
    /// The digest of the limits of the configuration, if one of them has made the image fail; only of a run.
    package var limitsSHA256: String?
    /// The digest of what decides its result, besides its source and the versions (`Manifest.settingsSHA256`); absent
    /// if it has not ended, or if an older version wrote it.
    package var settingsSHA256: String?
    /// The digest of the versions that made it (`PictureVersions.sha256`); absent as `settingsSHA256` is.
    package var versionsSHA256: String?
    /// The image whose pixels are the input, if the manifest has `from`.
    package var from: String?
    /// Where its output comes from; absent if it was made for this batch.
    package var made: Origin?
    /// The name of the image of which it is a variant; absent for other images.
    package var variantOf: String?
    package var state: ImageState
    /// The file beside status.json, or in a folder beside it, when the image is filtered.
    package var output: Output?
    /// Where the output was placed too, an absolute path; absent if the manifest has no `deliver`.
    package var deliveredTo: RareText?
    /// Where the original of its picture was moved, an absolute path; absent if it was not (`HotFolder.place`).
    package var originalAt: RareText?
    /// false if the image has no output, because its pixels are only for other images; absent otherwise.
    package var published: Bool?
    /// How often work on the image began.
    package var attempts: Int
    package var milliseconds: Milliseconds
    /// When its steps began; absent if none has begun, or if an older version wrote it.
    package var times: Times?
    /// The download of its source; absent if nothing is downloaded, or before it begins.
    package var download: Download? {
        get { rareDownload?.value }
        set { rareDownload = newValue.map { Rare($0) } }
    }
    private var rareDownload: Rare<Download>?
    package var error: Failure?
    /// Problems that did not make the image fail.
    package var warnings: [String]?
    /// What happened to the metadata of the source: kept, converted or dropped.
    package var metadata: [String: String]?

    private enum CodingKeys: String, CodingKey {
        case name, source
        case sourceSHA256 = "sourceSha256"
        case sourceIdentity
        case inputsSHA256 = "inputsSha256"
        case libraries
        case limitsSHA256 = "limitsSha256"
        case settingsSHA256 = "settingsSha256"
        case versionsSHA256 = "versionsSha256"
        case from, made, variantOf, state, output, deliveredTo, originalAt, published, attempts
        case milliseconds, times, error
        case rareDownload = "download"
        case warnings, metadata
    }

    package init(
        name: String, source: String? = nil, from: String? = nil, variantOf: String? = nil,
        state: ImageState = .new,
        output: Output? = nil, published: Bool? = nil, attempts: Int = 0,
        milliseconds: Milliseconds = Milliseconds(),
        download: Download? = nil, error: Failure? = nil, warnings: [String]? = nil,
        metadata: [String: String]? = nil
    ) {
        self.name = name
        self.source = source
        self.from = from
        self.variantOf = variantOf
        self.state = state
        self.output = output
        self.published = published
        self.attempts = attempts
        self.milliseconds = milliseconds
        self.download = download
        self.error = error
        self.warnings = warnings
        self.metadata = metadata
    }

    /// Where an output comes from that was not made for its batch.
    package enum Origin: String, Codable, Sendable, CaseIterable {
        /// The daemon's store of results.
        case stored
    }

    package var isWarned: Bool { state == .filtered && warnings?.isEmpty == false }

    /// Counts one more attempt. The number comes from a file and may have any value.
    package mutating func countAttempt() { attempts = min(max(attempts, 0), 1 << 30) + 1 }

    package struct Output: Codable, Sendable, Equatable {
        package var file: String
        package var format: OutputFormat
        /// In hexadecimal.
        package var sha256: String
        package var bytes: Int
        /// In pixels.
        package var width: Int
        package var height: Int
        /// Bits per sample, 8 or 16.
        package var depth: Int
        /// 1: gray, 2: gray and alpha, 3: RGB, 4: RGB and alpha.
        package var channels: Int
        /// nil if it was not chosen by trials.
        package var quality: Int?
        /// The similarity that was reached, 0 to 1; nil if none was to be reached.
        package var ssim: Double?

        enum CodingKeys: String, CodingKey {
            case file, format, sha256, bytes, width, height, depth, channels, quality, ssim
        }

        package init(
            file: String, format: OutputFormat, sha256: String, bytes: Int, width: Int,
            height: Int, depth: Int, channels: Int, quality: Int? = nil, ssim: Double? = nil
        ) {
            self.file = file
            self.format = format
            self.sha256 = sha256
            self.bytes = bytes
            self.width = width
            self.height = height
            self.depth = depth
            self.channels = channels
            self.quality = quality
            self.ssim = ssim
        }
    }

    /// The download of a source, the same for all images of that source.
    package struct Download: Codable, Sendable, Equatable {
        /// The number of attempts, including the current one.
        package var attempts: Int
        /// The length of the downloaded file, in bytes.
        package var bytes: Int?
        /// How the cache was used: `hit`, `revalidated` or `stored`; absent if it was not used.
        package var cache: String?
        /// The error of the last failed attempt; it stays when a later attempt succeeds.
        package var lastError: Failure?
        /// When the next attempt begins, in the format of RFC 3339; only between two attempts.
        package var retryAt: String?

        package init(
            attempts: Int, bytes: Int? = nil, cache: String? = nil, lastError: Failure? = nil,
            retryAt: String? = nil
        ) {
            self.attempts = attempts
            self.bytes = bytes
            self.cache = cache
            self.lastError = lastError
            self.retryAt = retryAt
        }
    }

    /// The times of the steps, in UTC.
    package struct Times: Codable, Sendable, Equatable {
        /// When the first attempt of its download began; absent if nothing was downloaded for it.
        package var downloading: Moment?
        /// When its download ended.
        package var downloaded: Moment?
        /// When its filters began, the last time.
        package var filtering: Moment?

        package init(
            downloading: Moment? = nil, downloaded: Moment? = nil, filtering: Moment? = nil
        ) {
            self.downloading = downloading
            self.downloaded = downloaded
            self.filtering = filtering
        }
    }

    /// How the time of the image was spent, rounded to whole milliseconds.
    package struct Milliseconds: Codable, Sendable, Equatable {
        /// From the start of its batch to its own start, and between its steps.
        package var waited = 0
        package var downloading = 0
        package var filtering = 0

        package init() {}
    }
}
