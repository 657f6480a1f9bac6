import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import type { Duplex } from 'node:stream';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { connect } from 'node:tls';
import { openPeerStream, PEER_TLS } from '../../../../src/drivers/compute/host/peer.ts';
import {
  type ExpectedTransfer,
  type PeerListener,
  startPeerListener,
} from '../../../../src/drivers/compute/host/peer-listener.ts';
import { withTimeout } from '../../../../src/kernel/timeout.ts';
import { failsAs } from '../compute-world.ts';

const MANY_BYTES = 8 * 1024 ** 2;

describe('streams between hosts', () => {
  let listener: PeerListener;
  let address: string;
  let expected: Map<string, ExpectedTransfer>;
  let opened: [id: string, name: string][];

  /** Expects a transfer whose streams send back what they receive. */
  function expectTransfer(id: string): ExpectedTransfer {
    const transfer: ExpectedTransfer = {
      id,
      key: randomBytes(32),
      open: (name, stream) => {
        opened.push([id, name]);
        stream.pipe(stream);
      },
    };
    expected.set(id, transfer);
    return transfer;
  }

  async function exchange(stream: Duplex, bytes: Buffer): Promise<Buffer> {
    stream.write(bytes);
    const parts: Buffer[] = [];
    let received = 0;
    for await (const part of stream as AsyncIterable<Buffer>) {
      parts.push(part);
      received += part.length;
      if (received >= bytes.length) break;
    }
    return Buffer.concat(parts);
  }

  beforeEach(async () => {
    expected = new Map();
    opened = [];
    listener = await startPeerListener({
      listen: { host: '127.0.0.1', port: 0 },
      transfers: { find: (id) => expected.get(id) },
    });
    address = `127.0.0.1:${listener.port}`;
  });
  afterEach(async () => await listener.close());

  it('a transfer carries several named streams side by side, all bytes in order', async () => {
    const transfer = expectTransfer('one');
    const sent = ['disk-0', 'disk-1', 'memory'].map((name) => ({ name, bytes: randomBytes(MANY_BYTES) }));
    await Promise.all(
      sent.map(async ({ name, bytes }) => {
        const received = await exchange(await openPeerStream(address, transfer, name), bytes);
        assert.ok(received.equals(bytes), name);
      }),
    );
    assert.deepEqual(
      opened.map(([, name]) => name).sort(),
      sent.map(({ name }) => name),
    );
  });

  it('a stream waits for a reader that is slow, and keeps little in memory', async () => {
    const transfer = expectTransfer('slow');
    const reached = Promise.withResolvers<Duplex>();
    expected.set('slow', { ...transfer, open: (_, stream) => reached.resolve(stream) });
    const stream = await openPeerStream(address, transfer, 'disk-0');
    let taken = 0;
    const part = randomBytes(64 * 1024);
    while (stream.write(part) && taken < 4096) taken += 1;
    assert.ok(taken < 4096, 'the sender was never told to wait');
    const drained = once(stream, 'drain');
    (await reached.promise).resume();
    await withTimeout(drained, 30_000);
    stream.destroy();
  });

  it('a stranger is refused: another key, an unknown transfer, no key, or an older TLS', async () => {
    const transfer = expectTransfer('one');
    await failsAs('transient', openPeerStream(address, { ...transfer, key: randomBytes(32) }, 'disk-0'));
    await failsAs('transient', openPeerStream(address, { ...transfer, id: 'two' }, 'disk-0'));
    const pskCallback = () => ({ psk: transfer.key, identity: transfer.id });
    const older = { minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2', ciphers: 'PSK', pskCallback } as const;
    for (const options of [{ ...PEER_TLS, rejectUnauthorized: false }, older]) {
      const socket = connect({ host: '127.0.0.1', port: listener.port, ...options });
      await assert.rejects(once(socket, 'secureConnect'));
    }
    assert.deepEqual(opened, []);
  });

  it('the key of a transfer that ended opens nothing, and its streams end', async () => {
    const transfer = expectTransfer('one');
    const stream = await openPeerStream(address, transfer, 'disk-0');
    stream.write('x');
    assert.equal(String((await once(stream, 'data'))[0]), 'x');
    const ended = once(stream, 'close');
    expected.delete('one');
    await withTimeout(ended, 30_000);
    await failsAs('transient', openPeerStream(address, transfer, 'disk-0'));
  });

  it('a session that is resumed opens no stream', async () => {
    const { key, id } = expectTransfer('one');
    const to = { ...PEER_TLS, host: '127.0.0.1', port: listener.port, checkServerIdentity: () => undefined };
    const first = connect({ ...to, pskCallback: () => ({ psk: Buffer.from(key), identity: id }) });
    const [session] = (await once(first, 'session')) as [Buffer];
    first.destroy();
    const second = connect({ ...to, session, rejectUnauthorized: false });
    second.on('error', () => undefined);
    second.write('disk-0\n');
    second.resume();
    await withTimeout(once(second, 'close'), 30_000);
    assert.deepEqual(opened, []);
  });

  it('a peer that sends no valid name gets no stream', async () => {
    const transfer = expectTransfer('one');
    for (const name of ['../etc', 'x'.repeat(1_000), '']) {
      const stream = await openPeerStream(address, transfer, name);
      stream.resume();
      await withTimeout(once(stream, 'close'), 30_000);
    }
    assert.deepEqual(opened, []);
  });

  it('strangers who never finish a handshake are cut off, and do not keep the transfer out', async () => {
    const transfer = expectTransfer('one');
    const strangers = Array.from({ length: 40 }, () => connectTcp(listener.port, '127.0.0.1'));
    for (const stranger of strangers) stranger.on('error', () => undefined);
    await Promise.all(strangers.map((stranger) => once(stranger, 'connect')));
    const received = await exchange(
      await openPeerStream(address, transfer, 'disk-0'),
      Buffer.from('through'),
    );
    assert.equal(received.toString(), 'through');
    await withTimeout(Promise.all(strangers.map((stranger) => once(stranger.resume(), 'close'))), 30_000);
  });
});
