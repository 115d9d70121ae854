import DarkroomCore
import DarkroomManifest
import DarkroomPicture

// The members in alphabetical order, as Foundation's encoder writes them; `ImageStatus+Reading.swift` has their readers.

extension ImageStatus {
    package func write(_ writer: inout JSONWriter) {
        writer.add("attempts", attempts)
        writer.add("deliveredTo", deliveredTo?.value)
        writer.add("download", download) { writer, download in
            writer.add("attempts", download.attempts)
            writer.add("bytes", download.bytes)
            writer.add("cache", download.cache)
            writer.add("lastError", download.lastError) { $1.write(&$0) }
            writer.add("retryAt", download.retryAt)
        }
        writer.add("error", error) { $1.write(&$0) }
        writer.add("from", from)
        writer.add("inputsSha256", inputsSHA256)
        writer.add("libraries", libraries)
        writer.add("limitsSha256", limitsSHA256)
        writer.add("made", made?.rawValue)
        writer.add("metadata", metadata)
        writer.add("milliseconds", milliseconds) { writer, milliseconds in
            writer.add("downloading", milliseconds.downloading)
            writer.add("filtering", milliseconds.filtering)
            writer.add("waited", milliseconds.waited)
        }
        writer.add("name", name)
        writer.add("originalAt", originalAt?.value)
        writer.add("output", output) { writer, output in
            writer.add("bytes", output.bytes)
            writer.add("channels", output.channels)
            writer.add("depth", output.depth)
            writer.add("file", output.file)
            writer.add("format", output.format.rawValue)
            writer.add("height", output.height)
            writer.add("quality", output.quality)
            writer.add("sha256", output.sha256)
            writer.add("ssim", output.ssim)
            writer.add("width", output.width)
        }
        writer.add("published", published)
        writer.add("settingsSha256", settingsSHA256)
        writer.add("source", source)
        writer.add("sourceIdentity", sourceIdentity)
        writer.add("sourceSha256", sourceSHA256)
        writer.add("state", state.rawValue)
        writer.add("times", times) { writer, times in
            writer.add("downloaded", times.downloaded?.text)
            writer.add("downloading", times.downloading?.text)
            writer.add("filtering", times.filtering?.text)
        }
        writer.add("variantOf", variantOf)
        writer.add("versionsSha256", versionsSHA256)
        writer.add("warnings", warnings)
    }
}

extension Failure {
    fileprivate func write(_ writer: inout JSONWriter) {
        writer.add("code", code)
        writer.add("message", message)
        writer.add("retryable", isTransient)
    }
}
