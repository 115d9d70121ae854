import CDarkroomCurl
import CDarkroomShims
import Glibc

/// The address for which a socket is opened.
struct SocketAddress {
    var family: CInt
    var kind: CInt
    var transport: CInt
    /// A sockaddr with its own length.
    var bytes: UnsafeRawBufferPointer

    /// As libcurl passes it: the sockaddr is longer than its declared last member.
    init(_ address: UnsafeMutablePointer<curl_sockaddr>) {
        family = address.pointee.family
        kind = address.pointee.socktype
        transport = address.pointee.protocol
        let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 0
        bytes = UnsafeRawBufferPointer(
            start: UnsafeRawPointer(address) + offset, count: Int(address.pointee.addrlen))
    }

    /// Opens a socket for the address. On failure it returns -1 and sets `errno`.
    func open() -> CInt { darkroom_socket(family, kind, transport) }
}
