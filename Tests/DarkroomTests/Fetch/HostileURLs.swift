@testable import DarkroomFetch

/// Sources that must be refused, and the code of each.
///
/// `PORT` stands for the port of an origin of this machine, which must not see a request.
enum HostileURLs {
    typealias Row = (url: String, code: FetchError.Code)

    private static func rows(_ code: FetchError.Code, _ urls: [String]) -> [Row] {
        urls.map { ($0, code) }
    }

    /// What the text alone says, before a name is resolved.
    static let refusedAtSight: [Row] = spellings + wrapped + places + tricks + broken + schemes

    /// This machine, as addresses have been spelt to get past a filter.
    static let spellings: [Row] =
        rows(
            .addressForbidden,
            [
                "http://127.0.0.1:PORT/", "https://127.0.0.1:PORT/", "HTTP://127.0.0.1:PORT/",
                "http://127.0.0.1.:PORT/", "http://127.1:PORT/", "http://127.1.:PORT/",
                "http://127.0.1:PORT/", "http://127.255.255.254:PORT/", "http://2130706433:PORT/",
                "http://017700000001:PORT/", "http://0177.0.0.1:PORT/", "http://0177.0.0.01:PORT/",
                "http://0x7f000001:PORT/", "http://0X7F.0x0.0x0.0x1:PORT/", "http://0x7f.1:PORT/",
                "http://0177.0.0x1:PORT/", "http://127.0x00.01:PORT/", "http://0:PORT/",
                "http://0.0.0.0:PORT/", "http://00000000:PORT/", "http://0x0:PORT/",
                "http://[::]:PORT/", "http://[::1]:PORT/", "http://[0:0:0:0:0:0:0:1]:PORT/",
                "http://[0000:0000:0000:0000:0000:0000:0000:0001]:PORT/",
            ])

    /// IPv4 within IPv6.
    static let wrapped: [Row] =
        rows(
            .addressForbidden,
            [
                "http://[::ffff:127.0.0.1]:PORT/", "http://[::FFFF:7f00:1]:PORT/",
                "http://[0:0:0:0:0:ffff:127.0.0.1]:PORT/", "http://[::ffff:0.0.0.0]:PORT/",
                "http://[::127.0.0.1]:PORT/", "http://[::ffff:0:127.0.0.1]:PORT/",
                "http://[64:ff9b::127.0.0.1]:PORT/", "http://[64:ff9b::a9fe:a9fe]/",
                "http://[64:ff9b:1::127.0.0.1]/", "http://[2002:7f00:1::1]/",
                "http://[2002:a00:1::]/", "http://[2001:0:7f00:1::1]/",
                "http://[2a00::5efe:127.0.0.1]/",
            ])

    /// Other machines that nobody outside should reach.
    static let places: [Row] =
        rows(
            .addressForbidden,
            [
                "http://169.254.169.254/latest/meta-data/", "http://2852039166/latest/meta-data/",
                "http://0xa9fea9fe/latest/meta-data/", "http://[::ffff:169.254.169.254]/",
                "http://[fd00:ec2::254]/latest/meta-data/", "http://100.100.100.200/",
                "http://168.63.129.16/", "http://192.0.0.192/", "http://10.0.0.1/", "http://012.1/",
                "http://172.16.0.1/", "http://192.168.0.1/", "http://100.64.0.1/",
                "http://198.18.0.1/", "http://192.0.2.1/", "http://224.0.0.1/", "http://240.0.0.1/",
                "http://255.255.255.255/", "http://[fe80::1]/", "http://[fec0::1]/",
                "http://[fc00::1]/", "http://[ff02::1]/", "http://[2001:db8::1]/",
                "http://[4000::1]/",
            ])

    /// One host for the eye or another program, this machine for libcurl.
    static let tricks: [Row] =
        rows(
            .addressForbidden,
            [
                "http://example.org@127.0.0.1:PORT/", "http://example.org:80@127.0.0.1:PORT/",
                "http://example.org%2f@127.0.0.1:PORT/", "http://@127.0.0.1:PORT/",
                "http://localhost:PORT/", "http://LocalHost.:PORT/", "http://a.localhost:PORT/",
                "http://example.org@localhost:PORT/", "http://127.0.0.1:PORT#@example.org/",
                "http://127.0.0.1:PORT?@example.org/", "http://127.0.0.1:PORT/@example.org",
            ])
        + rows(
            .badURL,
            [
                #"http://127.0.0.1:PORT\@example.org/"#, #"http://example.org\@127.0.0.1:PORT/"#,
                "http://example.org@example.net@127.0.0.1:PORT/",
                "http://127.0.0.1:PORT@example.org@example.net/",
                "http://example.org%40127.0.0.1:PORT/", "http://127%2e0%2e0%2e1:PORT/",
                "http://%31%32%37.0.0.1:PORT/", "http://127.0.0.1%2f.example.org/",
                "http://127.0.0.1%00.example.org/", "http://127.0.0.1%09.example.org/",
                "http://127.0.0.1:PORT;example.org/", "http://127.0.0.1,example.org/",
                "http://(127.0.0.1)/", "http://{127.0.0.1,example.org}/", "http://[127.0.0.1]/",
                "http://[::1%25lo]:PORT/", "http://[::1%lo]:PORT/", "http://[fe80::1%eth0]/",
            ])

    static let broken: [Row] =
        rows(
            .badURL,
            [
                "http:", "http://", "http:127.0.0.1:PORT/", "http:/127.0.0.1:PORT/",
                "http:///127.0.0.1:PORT/", #"http:\\127.0.0.1:PORT\a"#, #"http:/\127.0.0.1:PORT/"#,
                "http://?@127.0.0.1/", "http://#@127.0.0.1/", "http://:PORT/",
                "http://example.org@/", "http://127.0.0.1:0/", "http://127.0.0.1:65536/",
                "http://127.0.0.1:-80/", "http://127.0.0.1:80:80/", "http://127.0.0.1:80a/",
                "http://127.0.0.1: 80/", "http://::1/", "http://[::1/", "http://[::1]a/",
                "http://[]/", "http://[v1.a]/", "http://../", "http://.127.0.0.1/",
                "http://127..1/", "http://127.0.0.1 .example.org/", "http://127.0.0.1\t:PORT/",
                "http://127.0.0.1\n:PORT/", "http://127.0.0.1:PORT/a\r\nHost: example.org",
                "http://127.0.0.1:PORT/\0.png", "http://127.0.0.1\0.example.org/",
                "http://\(String(repeating: "a", count: 64)).example/",
                "http://\(String(repeating: "a.", count: 200))example/",
                "http://\(String(repeating: "a", count: 1 << 20))/",
            ])

    static let schemes: [Row] =
        rows(
            .unsupportedScheme,
            [
                "ftp://127.0.0.1/a.png", "gopher://127.0.0.1:6379/_INFO",
                "dict://127.0.0.1:11211/stat", "data:image/png;base64,iVBORw0KGgo=",
                "javascript:alert(1)", "ldap://127.0.0.1/cn=a", "smb://127.0.0.1/share/a.png",
                "tftp://127.0.0.1/a.png", "telnet://127.0.0.1:25/", "scp://127.0.0.1/etc/passwd",
                "imap://127.0.0.1/", "ws://127.0.0.1:PORT/", "unix:/run/docker.sock",
                "http+unix://%2Frun%2Fdocker.sock/info", "jar:http://127.0.0.1:PORT/a.jar!/a.png",
                "url:http://127.0.0.1:PORT/", "httpx://127.0.0.1:PORT/", "msl:/tmp/a.msl",
            ])
        + rows(
            .sourceForbidden,
            [
                "file:///etc/passwd", "file:///proc/self/environ", "/etc/passwd",
                "../../etc/passwd", "//127.0.0.1/share/a.png", #"\\127.0.0.1\share\a.png"#,
                " http://127.0.0.1:PORT/", "ht\ttp://127.0.0.1:PORT/", "http//127.0.0.1:PORT/",
                "|id",
            ])
        + rows(
            .badURL,
            [
                "file://127.0.0.1/etc/passwd", "",
            ])

    /// What only libcurl's IDN or a name server shows. No name of these asks a real one.
    static let refusedWhenResolved: [Row] =
        rows(
            .addressForbidden,
            [
                "http://１２７.０.０.１:PORT/", "http://①②⑦.⓪.⓪.①:PORT/", "http://127。0。0。1:PORT/",
                "http://127．0．0．1:PORT/", "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:PORT/", "http://loopback.test:PORT/",
                "http://LOOPBACK.TEST:PORT/", "http://loopback6.test:PORT/",
                "http://mapped.test:PORT/", "http://zero.test:PORT/", "http://private.test:PORT/",
                "http://metadata.test:PORT/", "http://nat64.test:PORT/",
                "http://several.test:PORT/",
            ])

    /// The addresses of the names that end in `.test`.
    static let names: [(name: String, addresses: String)] = [
        ("loopback.test", "127.0.0.1"), ("loopback6.test", "[::1]"),
        ("mapped.test", "[::ffff:127.0.0.1]"), ("zero.test", "0.0.0.0"),
        ("private.test", "10.0.0.1"), ("metadata.test", "169.254.169.254"),
        ("nat64.test", "[64:ff9b::7f00:1]"), ("several.test", "127.0.0.1,10.0.0.1,[::1]"),
    ]
}
