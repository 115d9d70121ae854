import Foundation

/// A real nginx on a free port of 127.0.0.1 that serves a folder, without root and with everything it
/// writes in a scratch folder.
///
/// - `/NAME`: the file of the folder.
/// - `/moved/NAME`: a redirect to `/NAME`; `/moved-twice/NAME`: to `/moved/NAME`.
/// - `/loop`: a redirect to itself; `/to-ftp`: one to an ftp URL.
/// - `/slow/NAME`: the file in pieces of 4 KiB, an eighth of a second apart.
/// - `/chunked/NAME`: the file without a Content-Length.
/// - `/status/NNN`: that status, with a page; see `statuses` for those there are.
/// - `/page.html`, `/page.png`: an HTML page, as `text/html`.
/// - `/hook`: 204, whatever the method is.
/// - `/private/NAME`: the file, for the user `ann` with the password `secret`.
/// - `/guarded/NAME`: the same for `stargazer` with `w1nter+Milky/Way`, words that stand nowhere else.
package final class NginxOrigin: Sendable {
    package let port: UInt16
    /// Beneath it, `/NAME` is the file NAME of the folder.
    package let baseURL: String
    /// The certificate to trust, where the origin speaks TLS.
    package let caFile: String?
    private let scratch: ScratchDirectory
    private let process: ChildProcess

    package enum Failure: Error {
        /// No nginx or openssl in PATH or /usr/sbin (Debian packages nginx-light, openssl).
        case missing
        /// One of them ended at once; its own words.
        case ended(String)
    }

    /// Starts nginx and waits until it accepts connections. With `tls`, over HTTPS and, unless `http2` is
    /// false, HTTP/2, with a certificate of its own making for `localhost` and 127.0.0.1.
    package init(documentRoot: String, tls: Bool = false, http2: Bool = true) throws {
        let program = try Self.find("nginx")
        scratch = try ScratchDirectory()
        let folder = scratch.url
        caFile = tls ? try Self.makeCertificate(in: folder) : nil
        var last = ""
        // Between its choice and nginx's bind, another process may take the port.
        for _ in 0..<10 {
            let port = try unusedPort()
            let configuration = folder.appending(path: "nginx.conf")
            let speech = tls ? (http2 ? " ssl http2" : " ssl") : ""
            try Self.configuration(port: port, documentRoot: documentRoot, speech: speech)
                .write(to: configuration, atomically: true, encoding: .utf8)
            let log = folder.appending(path: "nginx.log").path
            let pid = folder.appending(path: "nginx.pid")
            unlink(pid.path)
            let process = try ChildProcess(
                program, ["-p", folder.path, "-c", configuration.path, "-e", "stderr"],
                log: log)
            while process.isRunning {
                // It writes that file once the port is its own; another may answer there before.
                if FileManager.default.fileExists(atPath: pid.path),
                    LoopbackSocket.answers(port: port)
                {
                    self.process = process
                    self.port = port
                    baseURL = (tls ? "https" : "http") + "://127.0.0.1:\(port)"
                    return
                }
                usleep(2000)
            }
            last = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
        }
        throw Failure.ended(last)
    }

    deinit { stop() }

    package func stop() { process.stop() }

    /// A finished request, as the access log has it.
    package struct Request: Sendable, Equatable {
        /// The number of its connection, counted by nginx from its start.
        package var connection: Int
        package var status: Int
        package var path: String
        package var protocolName: String
        package var userAgent: String
        package var accept: String
        package var authorization: String
    }

    /// The requests that are finished and logged, in that order; `answers(port:)` makes none. nginx
    /// logs a request after its last byte, so the last one may not be here yet.
    package func requests() throws -> [Request] {
        let log = scratch.url.appending(path: "access.log").path
        return try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").compactMap {
            let fields = $0.split(separator: "\t", omittingEmptySubsequences: false).map(
                String.init)
            guard fields.count == 7, let connection = Int(fields[0]), let status = Int(fields[1])
            else { return nil }
            return Request(
                connection: connection, status: status, path: fields[2], protocolName: fields[3],
                userAgent: fields[4], accept: fields[5], authorization: fields[6])
        }
    }

    private static func find(_ name: String) throws -> String {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = path.split(separator: ":").map(String.init) + ["/usr/sbin"]
        let candidates = folders.map { "\($0)/\(name)" }
        guard let found = candidates.first(where: FileManager.default.isExecutableFile) else {
            throw Failure.missing
        }
        return found
    }

    private static func makeCertificate(in folder: URL) throws -> String {
        let certificate = folder.appending(path: "origin.crt").path
        let log = folder.appending(path: "openssl.log").path
        let openssl = try ChildProcess(
            try find("openssl"),
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-days", "2", "-subj", "/CN=localhost",
                "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                "-keyout", folder.appending(path: "origin.key").path, "-out", certificate,
            ], log: log)
        while openssl.isRunning { usleep(2000) }
        guard FileManager.default.fileExists(atPath: certificate) else {
            throw Failure.ended(try String(contentsOfFile: log, encoding: .utf8))
        }
        return certificate
    }

    /// One process, in the foreground, as whoever runs the tests.
    private static func configuration(port: UInt16, documentRoot: String, speech: String) -> String
    {
        let secure = """
            ssl_certificate origin.crt;
                ssl_certificate_key origin.key;
            """
        return """
            daemon off;
            master_process off;
            pid nginx.pid;
            events { worker_connections 1024; }
            http {
              client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
              uwsgi_temp_path uwsgi; scgi_temp_path scgi;
              log_format test '$connection\\t$status\\t$request_uri\\t$server_protocol\\t'
                '$http_user_agent\\t$http_accept\\t$http_authorization';
              access_log access.log test;
              types { image/png png; text/html html; }
              default_type application/octet-stream;
              keepalive_requests 100000;
              keepalive_timeout 1h;
              sendfile on;
              tcp_nodelay on;
              server {
                listen 127.0.0.1:\(port)\(speech);
                \(speech.isEmpty ? "" : secure)
                root "\(documentRoot)";
                location /moved/ { rewrite ^/moved(/.*)$ $1 redirect; }
                location /moved-twice/ { rewrite ^/moved-twice(/.*)$ /moved$1 redirect; }
                location = /loop { return 302 /loop; }
                location = /hook { return 204; }
                location = /to-ftp { return 302 ftp://127.0.0.1/a.png; }
                location /slow/ {
                  rewrite ^/slow(/.*)$ $1 break;
                  \(dripping)
                }
                location /chunked/ { rewrite ^/chunked(/.*)$ $1 break; \(chunking) }
                location ~ "^/status/(?<wanted>[0-9]+)$" { \(statuses) }
                location = /page.html { default_type text/html; return 200 "\(page)"; }
                location = /page.png {
                  types { } default_type text/html; return 200 "\(page)";
                }
                location /private/ {
                  if ($http_authorization != "Basic YW5uOnNlY3JldA==") { return 401; }
                  rewrite ^/private(/.*)$ $1 break;
                }
                location /guarded/ {
                  if ($http_authorization != "Basic \(watchword)") { return 401; }
                  rewrite ^/guarded(/.*)$ $1 break;
                }
              }
            }
            """
    }

    private static let watchword =
        Data("stargazer:w1nter+Milky/Way".utf8).base64EncodedString()

    /// nginx waits after each buffer for as long as the rate demands, but lets a whole second's worth
    /// pass at first: the buffer is what makes it wait earlier.
    private static let dripping =
        "sendfile off; output_buffers 1 4k; limit_rate_after 4k; limit_rate 32k;"

    /// A substitution that finds nothing makes nginx forget the length.
    private static let chunking = "sub_filter_types *; sub_filter no-such-text no-such-text;"

    private static let page = "<!DOCTYPE html><html><body>No picture here.</body></html>"

    private static let statuses = [401, 403, 404, 410, 425, 429, 500, 501, 502, 503, 504]
        .map { "if ($wanted = \($0)) { return \($0); }" }.joined(separator: " ")
}
