/** Builds Ethernet frames byte by byte, including those that a guest's kernel would never send. */
import { isIPv4 } from 'node:net';
import { parseCidr } from '../../../../../src/kernel/cidr.ts';

export interface Endpoints {
  readonly from: string;
  readonly to: string;
}

const PROTO = { icmp: 1, tcp: 6, udp: 17, icmp6: 58, other: 50 } as const;

/** Wraps a transport payload in an IP packet and an Ethernet frame. */
export function frame(
  mac: Endpoints,
  ends: Endpoints,
  l4: (ends: Endpoints) => readonly [proto: number, bytes: Buffer],
): Buffer {
  const [proto, payload] = l4(ends);
  const v4 = isIPv4(ends.from);
  const packet = v4 ? ipv4(ends, proto, payload) : ipv6(ends, proto, payload);
  return ethernet(mac, v4 ? 0x0800 : 0x86dd, packet);
}

export function ethernet(mac: Endpoints, type: number, payload: Buffer): Buffer {
  return Buffer.concat([macBytes(mac.to), macBytes(mac.from), u16(type), payload]);
}

function ipv4(ends: Endpoints, proto: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(20);
  header.writeUInt8(0x45, 0);
  header.writeUInt16BE(20 + payload.length, 2);
  header.writeUInt8(64, 8);
  header.writeUInt8(proto, 9);
  ipBytes(ends.from).copy(header, 12);
  ipBytes(ends.to).copy(header, 16);
  header.writeUInt16BE(checksum(header), 10);
  return Buffer.concat([header, payload]);
}

function ipv6(ends: Endpoints, proto: number, payload: Buffer): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt8(0x60, 0);
  header.writeUInt16BE(payload.length, 4);
  header.writeUInt8(proto, 6);
  // Receivers accept neighbor messages only with hop limit 255, which no router forwards.
  header.writeUInt8(proto === PROTO.icmp6 && (payload[0] ?? 0) >= 130 ? 255 : 64, 7);
  return Buffer.concat([header, ipBytes(ends.from), ipBytes(ends.to), payload]);
}

/** A SYN by default, or a segment with other flags. */
export const tcp =
  (sport: number, dport: number, flags = 2) =>
  (ends: Endpoints) => {
    const bytes = Buffer.alloc(20);
    bytes.writeUInt16BE(sport, 0);
    bytes.writeUInt16BE(dport, 2);
    bytes.writeUInt32BE(sport * 65_536 + dport, 4);
    if ((flags & 16) !== 0) bytes.writeUInt32BE(1, 8);
    bytes.writeUInt8(0x50, 12);
    bytes.writeUInt8(flags, 13);
    bytes.writeUInt16BE(1024, 14);
    return withChecksum(ends, PROTO.tcp, bytes, 16);
  };

export const udp = (sport: number, dport: number) => (ends: Endpoints) => {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16BE(sport, 0);
  bytes.writeUInt16BE(dport, 2);
  bytes.writeUInt16BE(16, 4);
  bytes.writeUInt16BE(sport, 8);
  return withChecksum(ends, PROTO.udp, bytes, 6);
};

/** An echo request of the packet's family. `id` makes it unique. */
export const echo = (id: number) => (ends: Endpoints) => icmp(isIPv4(ends.from) ? 8 : 128, u32(id))(ends);

/**
 * An error about a packet that was never sent. It passes everywhere, so it marks that earlier packets
 * arrived.
 */
export const tooBig = (token: Buffer) => (ends: Endpoints) =>
  icmp(2, Buffer.concat([u32(1280), token]))(ends);

export const icmp = (type: number, rest: Buffer) => (ends: Endpoints) => {
  const v4 = isIPv4(ends.from);
  const bytes = Buffer.concat([Buffer.from([type, 0, 0, 0]), rest]);
  if (!v4) return withChecksum(ends, PROTO.icmp6, bytes, 2);
  bytes.writeUInt16BE(checksum(bytes), 2);
  return [PROTO.icmp, bytes] as const;
};

/** ESP: a protocol without ports and without a checksum that the kernel verifies before it rejects. */
export const other = (id: number) => (_ends: Endpoints) =>
  [PROTO.other, Buffer.concat([u32(id), Buffer.from('other protocol')])] as const;

/** Neighbor solicitation (135) or advertisement (136) of `target`, with the link address of `mac`. */
export const neighbor = (type: 135 | 136, target: string, mac: string) =>
  icmp(
    type,
    Buffer.concat([
      u32(type === 136 ? 0x6000_0000 : 0),
      ipBytes(target),
      Buffer.from([type === 136 ? 2 : 1, 1]),
      macBytes(mac),
    ]),
  );

export function arp(
  mac: Endpoints,
  operation: 1 | 2,
  sender: { readonly mac: string; readonly ip: string },
  target: string,
): Buffer {
  const body = Buffer.concat([
    Buffer.from([0, 1, 8, 0, 6, 4, 0, operation]),
    macBytes(sender.mac),
    ipBytes(sender.ip),
    Buffer.alloc(6),
    ipBytes(target),
  ]);
  return ethernet(mac, 0x0806, body);
}

/** Returns the frame's bytes after the IP header, which are the same on both sides of a router. */
export function ipPayload(bytes: Buffer): Buffer {
  return bytes.subarray(bytes.readUInt16BE(12) === 0x0800 ? 34 : 54);
}

const NEIGHBOR_SOLICITATION = 135;

/**
 * Whether the host sent a frame on its own, to resolve a neighbor or to announce its multicast groups (in
 * IPv6, after a hop-by-hop header).
 */
export function isHousekeeping(bytes: Buffer): boolean {
  const etherType = bytes.readUInt16BE(12);
  if (etherType !== 0x86dd) return etherType === 0x0806;
  const proto = bytes.readUInt8(20);
  return proto === 0 || (proto === PROTO.icmp6 && ipPayload(bytes)[0] === NEIGHBOR_SOLICITATION);
}

/** Whether a frame tells the sender of `sent` that it was rejected, in the way of its protocol. */
export function isRejection(answer: Buffer, sent: Buffer): boolean {
  const v4 = answer.readUInt16BE(12) === 0x0800;
  const proto = answer.readUInt8(v4 ? 23 : 20);
  const response = ipPayload(answer);
  const original = ipPayload(sent);
  if (proto === PROTO.tcp) {
    const isReset = (response.readUInt8(13) & 4) !== 0;
    return (
      isReset &&
      sent.readUInt8(v4 ? 23 : 20) === PROTO.tcp &&
      response.readUInt16BE(2) === original.readUInt16BE(0)
    );
  }
  const unreachable =
    (proto === PROTO.icmp && response[0] === 3) || (proto === PROTO.icmp6 && response[0] === 1);
  return unreachable && response.includes(original.subarray(0, 8));
}

function withChecksum(ends: Endpoints, proto: number, bytes: Buffer, at: number): readonly [number, Buffer] {
  const pseudo = Buffer.concat([ipBytes(ends.from), ipBytes(ends.to), u32(bytes.length), u32(proto)]);
  bytes.writeUInt16BE(checksum(Buffer.concat([pseudo, bytes])) || 0xffff, at);
  return [proto, bytes];
}

function checksum(bytes: Buffer): number {
  const even = bytes.length % 2 === 0 ? bytes : Buffer.concat([bytes, Buffer.alloc(1)]);
  let sum = 0;
  for (let at = 0; at < even.length; at += 2) sum += even.readUInt16BE(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}

function ipBytes(address: string): Buffer {
  const v4 = isIPv4(address);
  const first = parseCidr(`${address}/${v4 ? 32 : 128}`)?.first ?? 0n;
  return Buffer.from(first.toString(16).padStart(v4 ? 8 : 32, '0'), 'hex');
}
function macBytes(mac: string): Buffer {
  return Buffer.from(mac.replaceAll(':', ''), 'hex');
}
function u16(value: number): Buffer {
  return Buffer.from([value >> 8, value & 255]);
}
function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}
