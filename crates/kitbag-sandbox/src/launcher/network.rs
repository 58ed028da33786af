//! The only way out of a run's own network: a socket that listens in it and that the server holds.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::AsFd;

use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};

use super::{At, Control, Failure, sys};
use crate::plan::{Message, PROXY_PORT, Stage};

/// The most connections that wait to be taken.
const BACKLOG: i32 = 64;

/// Brings the loopback up, listens on it, and hands the socket to the server.
pub(super) fn offer_way_out(control: &Control) -> Result<(), Failure> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let listener = rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)
        .at(Stage::Network)?;
    sys::interface_up(&listener, c"lo").at(Stage::Network)?;
    let address = SocketAddrV4::new(Ipv4Addr::LOCALHOST, PROXY_PORT);
    rustix::net::bind(&listener, &address).at(Stage::Network)?;
    rustix::net::listen(&listener, BACKLOG).at(Stage::Network)?;
    let descriptors = [listener.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
    let message = Message::Listening.encode();
    let slices = &[IoSlice::new(&message)];
    rustix::net::sendmsg(&control.0, slices, &mut ancillary, SendFlags::NOSIGNAL)
        .at(Stage::Network)?;
    Ok(())
}
