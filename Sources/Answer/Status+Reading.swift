import DarkroomCore
import Foundation
import SystemPackage

extension Status {
    /// Reads `status.json` in a folder of the outbox without its images, if it has the form that Darkroom writes; nil
    /// if it is not a status of this version.
    package init?(frameIn folder: Directory) throws(FileError) {
        guard let bytes = try ImagesFilter.frame(in: folder) else { return nil }
        self.init(decoding: bytes)
    }

    /// Reads `status.json` in a folder of the outbox and decodes the images one by one, because a decoder of 100,000
    /// images at once takes many times their memory; nil if it is not a status of this version.
    package init?(in folder: Directory) throws(FileError) {
        if let status = Self.streamed(in: folder) {
            self = status
            return
        }
        let decoder = JSONDecoder()
        var images: [ImageStatus] = []
        var isBroken = false
        let frame = try ImagesFilter.readImages(Status.fileName, in: folder) { text in
            if let image = try? decoder.decode(ImageStatus.self, from: text) {
                images.append(image)
            } else {
                isBroken = true
            }
        }
        guard !isBroken, let frame else { return nil }
        self.init(decoding: frame)
        // If someone has written the file again, it contains its images.
        if self.images.isEmpty { self.images = images }
    }

    /// Reads a file in the form in which Darkroom writes it, in a fraction of the time; nil for any other file, and on an
    /// error.
    private static func streamed(in folder: Directory) -> Status? {
        do {
            guard var stream = try StatusStream(in: folder) else { return nil }
            var status = stream.frame
            var texts = SharedTexts()
            status.images.reserveCapacity(min(max(0, status.counts.total), 1 << 20))
            while let text = try stream.next() {
                guard let image = ImageStatus(text: text, sharing: &texts) else { return nil }
                status.images.append(image)
            }
            return status
        } catch {
            return nil
        }
    }
}
