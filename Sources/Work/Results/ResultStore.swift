import DarkroomAnswer
import DarkroomCore
import DarkroomFetch
import DarkroomPicture

/// The store of results (`results.maxBytes`): outputs that were made before are copied, and not made again.
///
/// A result is a function of the bytes of its source and of what `ResultKey` has besides. An entry is a file like those
/// of the download cache (`CacheStore`): the same header, the same order of steps, the same eviction, limit and reserve.
///
/// | step of an image        | the store                                                    | otherwise                     |
/// |-------------------------|--------------------------------------------------------------|-------------------------------|
/// | its source is opened    | the digest is known, or computed before anything is decoded  | the file changes: no store    |
/// | its key is looked up    | an entry is found, and its body has the digest of its record | a miss: the picture is made   |
/// | the body is copied      | `active/ID/output-N`, as if it had been made; `made: stored` | it is emptied, and made       |
/// | the picture was made    | the source still has that digest: the output is added        | nothing is added              |
/// | the image is published  | nothing: the committer does the same for both                | –                             |
///
/// | entry                       | a lookup                                  | a restart                              |
/// |-----------------------------|-------------------------------------------|----------------------------------------|
/// | being written in `new/`     | does not find it                          | removes it                             |
/// | has its name                | copies it                                 | finds it; its use is its mtime         |
/// | of another codec library    | makes the picture, which replaces it      | the same                               |
/// | damaged: digest, length,    | removes it and says so (`cacheDiscarded`) | the same                               |
/// | header, not a file          |                                           |                                        |
/// | cannot be read or removed   | makes the picture (`cacheTroubled`)       | the same                               |
/// | evicted while it is copied  | completes the copy: the file is open      | –                                      |
///
/// **The digest comes first.** With a store, a source is hashed before it is decoded instead of afterwards, which costs
/// the same: decoding finds the bytes in memory. A local file whose identity is remembered (`SourceMemory`) is not read
/// at all. Small files are in memory already.
///
/// **Owners.** The user who submitted the manifest is a part of the key, and of the memory of sources. So a user finds
/// only results of bytes that a batch of the same user has read, and cannot learn from a status or a time what others
/// have made. The price is that two users keep two copies of one result.
///
/// **What is not taken from the store**: images without an output of their own, those whose pixels other images need in
/// a separate file (`HandOverTable`), and those of a batch with a page, because previews are made from the rows. Results
/// of the last are added. Failures are never kept.
///
/// A problem of the store never makes an image fail, and never changes a byte: a copy is refused unless the body has its
/// digest.
package final class ResultStore: Sendable {
    private let files: CacheStore<ResultRecord>
    let sources = SourceMemory()

    package init(_ files: CacheStore<ResultRecord>) { self.files = files }

    package func start() {
        // A library without a build ID is told by its file, which may be replaced later.
        _ = CodecLibraries.identity(confining: .others)
        files.start()
    }
    package func stop() { files.stop() }
    package func setLimit(_ limit: Int) { files.setLimit(limit) }

    /// The number of known results, and the space that they use.
    package var summary: (count: Int, bytes: Int) { files.summary }

    /// For `queue.json`; nil while it is disabled.
    package var report: QueueReport.Results? {
        guard files.isEnabled else { return nil }
        let (metrics, (count, bytes)) = (files.log.metrics, files.summary)
        return QueueReport.Results(
            count: count, bytes: bytes, hits: metrics.resultHits.value,
            misses: metrics.resultMisses.value, savedBytes: metrics.resultsSavedBytes.value)
    }

    /// Whether results are taken and added.
    var isEnabled: Bool { files.isEnabled }

    /// Copies a result to an empty file.
    ///
    /// - Returns: nil if there is none that can be used. Then the file is empty.
    func take(_ key: CacheKey, to file: borrowing Descriptor, path: String) -> PictureReport? {
        guard let entry = files.find(key), entry.record.bytes == entry.length,
            entry.record.isOfPresentLibraries,
            files.shareBody(of: entry, sha256: entry.record.sha256, to: file, path: path)
        else {
            files.log.metrics.resultMisses.add(1)
            return nil
        }
        FaultPoint.resultCopied.pass()
        files.log.metrics.resultHits.add(1)
        files.log.metrics.resultsSavedBytes.add(entry.length)
        return entry.record.report
    }

    /// Adds a result that was made, if there is room.
    func keep(_ key: CacheKey, _ report: PictureReport, _ file: borrowing Descriptor) {
        _ = files.store(key, ResultRecord(report), body: file, length: report.bytes, crc: 0)
    }
}
