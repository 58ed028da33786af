//! Attacks by sockets.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as UnixAddr, UnixStream};

use super::{Attack, Facts, Outcome, call};

const FAST_OPEN: usize = 0x2000_0000;

pub(super) const ATTACKS: &[Attack] = &[
    ("tcp", |facts| TcpStream::connect(("127.0.0.1", port(facts, "tcp"))).map(|_| String::new())),
    ("tcp6", |_| socket(libc::AF_INET6, libc::SOCK_STREAM, 0)),
    ("tcp-fast-open", fast_open),
    ("multipath-tcp", |facts| connect(libc::AF_INET, libc::SOCK_STREAM, 262, port(facts, "tcp"))),
    ("sctp", |_| socket(libc::AF_INET, libc::SOCK_SEQPACKET, 132)),
    ("udp", |facts| {
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        socket.send_to(b"x", ("127.0.0.1", port(facts, "udp"))).map(|_| String::new())
    }),
    ("dns", |_| {
        let socket = UdpSocket::bind("0.0.0.0:0")?;
        socket.send_to(b"x", SocketAddr::from(([127, 0, 0, 53], 53))).map(|_| String::new())
    }),
    ("listen", |_| TcpListener::bind("0.0.0.0:0").map(|_| String::new())),
    ("listen-unbound", |_| {
        let socket = raw(libc::AF_INET, libc::SOCK_STREAM, 0)?;
        call(libc::SYS_listen, [socket, 1, 0, 0, 0, 0]).map(|_| String::new())
    }),
    ("raw-socket", |_| socket(libc::AF_INET, libc::SOCK_RAW, libc::IPPROTO_ICMP)),
    ("ping-socket", |_| socket(libc::AF_INET, libc::SOCK_DGRAM, libc::IPPROTO_ICMP)),
    ("packet-socket", |_| socket(libc::AF_PACKET, libc::SOCK_RAW, 0)),
    ("netlink", |_| socket(libc::AF_NETLINK, libc::SOCK_RAW, 0)),
    ("vsock", |_| socket(libc::AF_VSOCK, libc::SOCK_STREAM, 0)),
    ("kernel-crypto", |_| socket(libc::AF_ALG, libc::SOCK_SEQPACKET, 0)),
    ("unix-path", |facts| UnixStream::connect(facts.path("unix")).map(|_| String::new())),
    ("unix-abstract", |facts| {
        let address = UnixAddr::from_abstract_name(facts.text("abstract"))?;
        UnixStream::connect_addr(&address).map(|_| String::new())
    }),
    ("unix-datagram-by-pair", datagram_by_pair),
    ("unix-connect-by-pair", connect_by_pair),
];

fn port(facts: &Facts, name: &str) -> u16 {
    u16::try_from(facts.number(name)).unwrap_or(0)
}

fn raw(family: i32, kind: i32, protocol: i32) -> io::Result<usize> {
    let arguments = [family, kind, protocol, 0, 0, 0].map(|each| each.cast_unsigned() as usize);
    Ok(usize::try_from(call(libc::SYS_socket, arguments)?).unwrap())
}

fn socket(family: i32, kind: i32, protocol: i32) -> Outcome {
    raw(family, kind, protocol).map(|_| "made".to_owned())
}

fn address(port: u16) -> libc::sockaddr_in {
    libc::sockaddr_in {
        sin_family: libc::AF_INET as libc::sa_family_t,
        sin_port: port.to_be(),
        sin_addr: libc::in_addr { s_addr: u32::from_ne_bytes([127, 0, 0, 1]) },
        sin_zero: [0; 8],
    }
}

fn connect(family: i32, kind: i32, protocol: i32, port: u16) -> Outcome {
    let socket = raw(family, kind, protocol)?;
    let to = address(port);
    call(libc::SYS_connect, [socket, &raw const to as usize, 16, 0, 0, 0]).map(|_| String::new())
}

fn fast_open(facts: &Facts) -> Outcome {
    let socket = raw(libc::AF_INET, libc::SOCK_STREAM, 0)?;
    let to = address(port(facts, "tcp"));
    let arguments = [socket, c"x".as_ptr() as usize, 1, FAST_OPEN, &raw const to as usize, 16];
    call(libc::SYS_sendto, arguments).map(|_| String::new())
}

fn unix_address(facts: &Facts, name: &str) -> libc::sockaddr_un {
    let mut address =
        libc::sockaddr_un { sun_family: libc::AF_UNIX as libc::sa_family_t, sun_path: [0; 108] };
    for (to, from) in address.sun_path.iter_mut().zip(facts.text(name).bytes()) {
        *to = from.cast_signed();
    }
    address
}

fn pair(kind: i32) -> io::Result<usize> {
    let mut pair = [0_i32; 2];
    let kind = kind.cast_unsigned() as usize;
    call(libc::SYS_socketpair, [1, kind, 0, pair.as_mut_ptr() as usize, 0, 0])?;
    Ok(usize::try_from(pair[0]).unwrap())
}

fn datagram_by_pair(facts: &Facts) -> Outcome {
    let one = pair(libc::SOCK_DGRAM)?;
    let to = unix_address(facts, "datagram");
    let arguments = [one, c"x".as_ptr() as usize, 1, 0, &raw const to as usize, 110];
    call(libc::SYS_sendto, arguments).map(|_| String::new())
}

fn connect_by_pair(facts: &Facts) -> Outcome {
    let one = pair(libc::SOCK_DGRAM)?;
    let to = unix_address(facts, "datagram");
    call(libc::SYS_connect, [one, &raw const to as usize, 110, 0, 0, 0]).map(|_| String::new())
}
