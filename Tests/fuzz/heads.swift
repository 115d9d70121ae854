// Throws made-up response heads, dates, hosts and networks at what reads them, and checks what must hold of
// whatever they are read as. Built with the few files of Sources/Core and Sources/Fetch that it needs; see
// Tests/run.sh fuzz.

import DarkroomCore

#if canImport(Glibc)
    import Glibc
#endif

/// libFuzzer's entry. The first byte chooses what the rest is.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let bytes = Array(UnsafeBufferPointer(start: data, count: count))
    guard let kind = bytes.first else { return 0 }
    let rest = bytes.dropFirst()
    switch kind % 6 {
    case 0: checkHead(rest)
    case 1: checkValues(rest)
    case 2: checkHost(ByteString(decoding: rest))
    case 3: checkTarget(rest)
    case 4: checkCookies(rest)
    default: checkNetwork(String(decoding: rest, as: UTF8.self))
    }
    return 0
}

private func checkHead(_ bytes: ArraySlice<UInt8>) {
    let lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)
    var head = ResponseHead(statusLine: lines[0]) ?? ResponseHead(status: HTTPStatus(200))
    precondition((100...999).contains(head.status.code))
    for line in lines.dropFirst() { head.take(line: line) }
    precondition(head.isLengthValid || head.contentLength == nil)
    precondition((head.contentLength ?? 0) >= 0)
    precondition((head.age ?? 0) >= 0 && (head.age ?? 0) <= 1 << 31)
    precondition(head.vary.count <= 32 && Set(head.vary).count == head.vary.count)
    precondition(head.vary.allSatisfy { $0.utf8.allSatisfy(HTTPField.isToken) })
    precondition((head.contentType?.utf8.count ?? 0) <= 256)
    precondition((head.contentEncoding?.utf8.count ?? 0) <= 64)
    for text in [head.contentType, head.lastModified, head.entityTag?.text].compactMap(\.self) {
        precondition(text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
    }
    if let text = head.lastModified { precondition(HTTPDate(text.utf8) != nil) }
    if let tag = head.entityTag { precondition(EntityTag(tag.text) == tag) }
    // What a head says does not change by its being said once more; codings add up.
    guard lines.count > 1, let line = lines.last, head.contentEncoding == nil else { return }
    var again = head
    again.take(line: line)
    precondition(again.contentEncoding != nil || again == head)
}

private func checkValues(_ bytes: ArraySlice<UInt8>) {
    if let date = HTTPDate(bytes) {
        precondition(HTTPDate("\(date)".utf8) == date)
    }
    if let range = ContentRange(bytes) {
        precondition(range.first >= 0 && range.last >= range.first && range.count > 0)
        let total = range.total.map { "\($0)" } ?? "*"
        precondition(ContentRange("bytes \(range.first)-\(range.last)/\(total)".utf8) == range)
    }
    if let tag = EntityTag(bytes) { precondition(tag.text.utf8.elementsEqual(bytes)) }
    if let wait = RetryAfter(bytes) {
        let delay = wait.delay(since: HTTPDate(secondsSince1970: 1_000_000_000))
        precondition((0...Double(1 << 31)).contains(delay))
    }
    let control = CacheControl(bytes)
    precondition((0...(1 << 31)).contains(control.maxAge ?? 0))
    var twice = control
    twice.take(bytes)
    precondition(twice == control)
    _ = RedactedURL(String(decoding: bytes, as: UTF8.self)).description
}

/// The target of a redirect is ASCII outside of its host, and its bytes are those of the server.
private func checkTarget(_ bytes: ArraySlice<UInt8>) {
    guard let text = RedirectTarget.text(bytes) else { return }
    precondition(RedirectTarget.text(Array(text.utf8)[...]) == text)
    let plain = bytes.filter { $0 != 0x20 && $0 < 0x80 }
    let isWithoutHost = !bytes.contains(UInt8(ascii: "/"))
    precondition(!isWithoutHost || text.utf8.allSatisfy { $0 != 0x20 && $0 < 0x80 })
    precondition(text.utf8.count >= plain.count)
    precondition(!isWithoutHost || unescaped(text.utf8).elementsEqual(unescaped(bytes)))
}

private func unescaped(_ bytes: some Collection<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    var rest = Array(bytes)[...]
    while let byte = rest.popFirst() {
        if byte == UInt8(ascii: "%"), rest.count >= 2,
            let number = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
        {
            result.append(number)
            rest = rest.dropFirst(2)
        } else {
            result.append(byte)
        }
    }
    return result
}

/// Whatever servers set, no other origin gets it, and what is sent is one line of a limited length.
private func checkCookies(_ bytes: ArraySlice<UInt8>) {
    let origin = Origin(scheme: "https", host: "a.example.org")
    let other = Origin(scheme: "https", host: "example.org")
    var cookies = ReceivedCookies()
    for line in bytes.split(separator: 0x0A) {
        cookies.take(
            line, from: origin, path: "/a/b", now: HTTPDate(secondsSince1970: 1_000_000_000))
    }
    precondition(cookies.field(for: other, path: "/a/b", configured: nil) == nil)
    precondition(!cookies.wereSent)
    guard let field = cookies.field(for: origin, path: "/a/b", configured: nil) else { return }
    precondition(cookies.wereSent && field.utf8.count <= ReceivedCookies.maximumTotal)
    precondition(field.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
}

private func checkHost(_ text: ByteString) {
    let host = HostName(text)
    if let authority = try? URLAuthority(text) {
        precondition(!authority.host.isEmpty && (1...65535).contains(authority.port ?? 1))
        let named = HostName(authority.host)
        precondition(HostName("\(named)") == named)
        // What is an address for us is one for the resolver, and the same one.
        if case .address(let address) = named, address.family == .v4 {
            var number = in_addr()
            let name = authority.host.string
            let bare = authority.host.hasSuffix(".") ? String(name.dropLast()) : name
            precondition(
                authority.host.hasPrefix("[")
                    || inet_aton(bare, &number) == 1
                        && UInt128(UInt32(bigEndian: number.s_addr)) == address.number
            )
        }
    }
    if let pattern = try? HostPattern(text.string) {
        switch pattern {
        case .exact(let exact): precondition(pattern.matches(exact))
        case .beneath(let suffix):
            precondition(pattern.matches(.name("a\(suffix)")))
            precondition(!pattern.matches(.name(ByteString(suffix.utf8.dropFirst()))))
        }
        precondition((try? HostPattern("\(pattern)")) == pattern)
    }
    _ = HostRules().refusal(of: host)
}

private func checkNetwork(_ text: String) {
    if let network = try? IPNetwork(text) {
        precondition((try? IPNetwork("\(network)")) == network)
        precondition(network.contains(network.base))
        precondition(AddressRules(allowNetworks: [network]).refusal(of: network.base) == nil)
    }
    guard let address = IPAddress(numericHost: text) else { return }
    precondition(IPAddress("\(address)") == address)
    let rules = AddressRules()
    guard address.family == .v4 else { return }
    // However it is wrapped, an address that is denied stays so.
    let number = address.number
    let wrapped = [
        IPAddress(v6: 0xFFFF << 32 | number), IPAddress(v6: 0x0064_FF9B << 96 | number),
        IPAddress(v6: 0x2002 << 112 | number << 80), IPAddress(v6: number),
        IPAddress(v6: 0x2A00 << 112 | 0x5EFE << 32 | number),
    ]
    precondition(wrapped[0] == address)
    if rules.refusal(of: address) != nil {
        precondition(wrapped.allSatisfy { rules.refusal(of: $0) != nil })
    }
}
