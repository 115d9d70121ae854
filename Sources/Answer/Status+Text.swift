import DarkroomCore
import DarkroomManifest
import DarkroomPicture

// The members of a status in alphabetical order, as Foundation's encoder writes them. A test compares the two.

extension Status {
    /// Writes the members before the list of images.
    package func writeHead(_ writer: inout JSONWriter) {
        writer.add("commands", commands) { $1.write(&$0) }
        writer.add("counts", counts) { $1.write(&$0) }
        writer.add("errors", errors) { writer, problem in
            writer.add("code", problem.code)
            writer.add("column", problem.column)
            writer.add("line", problem.line)
            writer.add("message", problem.message)
            writer.add("path", problem.path)
            writer.add("suggestion", problem.suggestion)
        }
        writer.add("id", id)
    }

    package func writeTail(_ writer: inout JSONWriter) {
        writer.add("manifest", manifest) { writer, manifest in
            writer.add("bytes", manifest.bytes)
            writer.add("file", manifest.file)
            writer.add("folder", manifest.isFolder)
            writer.add("identity", manifest.identity)
            writer.add("name", manifest.name)
            writer.add("redacted", manifest.redacted) { writer, copy in
                writer.add("bytes", copy.bytes)
                writer.add("sha256", copy.sha256)
            }
            writer.add("sha256", manifest.sha256)
            writer.add("uid", manifest.uid.map(Int.init))
        }
        writer.add("priority", priority.rawValue)
        writer.add("qualityOfService", qualityOfService.rawValue)
        writer.add("recipes", recipes) { writer, recipe in
            writer.add("name", recipe.name)
            writer.add("sha256", recipe.sha256)
            writer.add("text", recipe.text)
        }
        writer.add("retries", retries)
        writer.add("schemaVersion", schemaVersion)
        writer.add("shards", shards) { writer, shards in
            writer.add("count", shards.count)
            writer.add("number", shards.number)
        }
        writer.add("state", state.rawValue)
        writer.add("times", times) { $1.write(&$0) }
        writer.add("versions", versions) { writer, versions in
            writer.add("codecs", versions.codecs)
            writer.add("darkroom", versions.darkroom)
            writer.add("libdeflate", versions.libdeflate)
            writer.add("libjpeg-turbo", versions.libjpegTurbo)
            writer.add("libpng", versions.libpng)
            writer.add("zlib", versions.zlib)
        }
        writer.add("waiting", waiting) { $1.write(&$0) }
        writer.add("written", written)
    }
}

extension Status.Counts {
    package func write(_ writer: inout JSONWriter) {
        writer.add("cancelled", cancelled)
        writer.add("downloaded", downloaded)
        writer.add("downloading", downloading)
        writer.add("failed", failed)
        writer.add("filtered", filtered)
        writer.add("filtering", filtering)
        writer.add("new", new)
        writer.add("total", total)
        writer.add("warnings", warnings)
    }
}

extension Status.Times {
    package func write(_ writer: inout JSONWriter) {
        writer.add("finished", finished)
        writer.add("received", received)
        writer.add("started", started)
        writer.add("workMilliseconds", workMilliseconds)
    }
}

extension Status.Waiting {
    package func write(_ writer: inout JSONWriter) {
        writer.add("code", code)
        writer.add("message", message)
        writer.add("since", since)
    }
}

extension ControlRecord {
    package func write(_ writer: inout JSONWriter) {
        writer.add("action", command.rawValue)
        writer.add("file", file)
        writer.add("time", time)
        writer.add("uid", Int(uid))
    }
}
