import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomPicture
import Glibc

/// All that decides the bytes of a result, what the status says of it, and who may have it. The name of its entry is the
/// digest of this. If a part changes, there is another entry, and the former one is evicted some day.
struct ResultKey: Sendable {
    var owner: UInt32
    /// The SHA-256 of the bytes that are filtered: a source, or the pixels of another image.
    var source: String
    /// The images of overlays and watermarks, with the SHA-256 of what each has, in the order of their names. Filters name
    /// them so, and the files of two images may exchange their contents.
    var overlays: [(image: String, sha256: String)] = []
    /// The filters and the output (`Manifest.settingsSHA256`).
    var settings: String
    /// The versions of the program and of the libraries in it (`PictureVersions`).
    var versions: String
    /// The limits above which the picture fails.
    var limits: PictureLimits
    /// Tells programs and libraries of the same versions apart. `ResultRecord` has those of other formats.
    var program: String

    /// - Parameters:
    ///   - identity: of the program and its libraries (`CodecLibraries.identity(confining:)`).
    ///   - versions: other ones are for tests.
    init(
        owner: UInt32, source: String, settings: String, limits: PictureLimits, identity: String,
        versions: String = PictureVersions.presentSHA256(of: nil)
    ) {
        self.owner = owner
        self.source = source
        self.settings = settings
        self.versions = versions
        self.limits = limits
        program = "\(Self.file)-\(identity)"
    }

    var cacheKey: CacheKey {
        var writer = JSONWriter()
        writer.add(
            "limits",
            [limits.pixels, limits.side, limits.wholePictureBytes, limits.ancillaryBytes].map(
                String.init))
        writer.add("overlays", overlays) { writer, overlay in
            writer.add("image", overlay.image)
            writer.add("sha256", overlay.sha256)
        }
        writer.add("owner", Int(owner))
        writer.add("program", program)
        writer.add("settings", settings)
        writer.add("source", source)
        writer.add("versions", versions)
        var digest = SHA256Digest()
        digest.update(writer.text())
        return CacheKey(bytes: digest.bytes())
    }

    /// The size and the time of the file of this program, which a program that is built anew does not share.
    private static let file: String = {
        guard let information = stat(path: "/proc/self/exe") else { return "" }
        let changed = information.st_mtim
        return "\(information.length)-\(changed.tv_sec).\(changed.tv_nsec)"
    }()
}
