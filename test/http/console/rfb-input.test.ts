import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { InputDetector, ViewOnlyFilter } from '../../../src/http/console/rfb-input.ts';
import { RfbError } from '../../../src/kernel/rfb.ts';
import { PROPERTY_RUNS } from '../../support/runs.ts';

/** A message, and whether a read-only viewer may send it. */
interface ClientMessage {
  readonly bytes: Buffer;
  readonly passes: boolean;
}

/** The first bytes, followed by random ones up to this length. */
const message = (passes: boolean, first: readonly number[], length: number): fc.Arbitrary<ClientMessage> =>
  fc
    .uint8Array({ minLength: length - first.length, maxLength: length - first.length })
    .map((rest) => ({ bytes: Buffer.from([...first, ...rest]), passes }));

const encodings = fc.integer({ min: 0, max: 40 }).chain((n) => message(true, [2, 0, 0, n], 4 + 4 * n));
const fence = fc
  .integer({ min: 0, max: 64 })
  .chain((n) => message(true, [248, 0, 0, 0, 0, 0, 0, 1, n], 9 + n));
const desktop = fc
  .integer({ min: 0, max: 9 })
  .chain((n) => message(false, [251, 0, 2, 128, 1, 144, n, 0], 8 + 16 * n));
const cutText = fc.tuple(fc.integer({ min: 0, max: 700 }), fc.boolean()).chain(([length, extended]) => {
  const head = Buffer.from([6, 0, 0, 0, 0, 0, 0, 0]);
  head.writeInt32BE(extended ? -length : length, 4);
  return message(false, [...head], 8 + length);
});
const pointer = fc
  .integer({ min: 0, max: 255 })
  .chain((buttons) => message(false, [5, buttons], buttons & 0x80 ? 7 : 6));

const clientMessage = fc.oneof(
  message(true, [0], 20),
  encodings,
  message(true, [3], 10),
  message(false, [4], 8),
  pointer,
  cutText,
  message(true, [150], 10),
  fence,
  message(false, [250], 4),
  desktop,
  message(false, [255, 0], 12),
);

const HANDSHAKE = Buffer.from('RFB 003.008\n\x01\x01', 'latin1');

/** Splits the bytes into chunks that end at these places, which may be anywhere. */
function chunks(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  return [0, ...places].map((from, index) => bytes.subarray(from, places[index] ?? bytes.length));
}

describe('viewer input', () => {
  it('input is detected in exactly the messages that contain input, however the bytes are split', () => {
    fc.assert(
      fc.property(
        fc.array(clientMessage, { maxLength: 30 }),
        fc.array(fc.nat(), { maxLength: 60 }),
        (messages, cuts) => {
          const detector = new InputDetector();
          assert.equal(detector.containsInput(HANDSHAKE), false);
          for (const { bytes, passes } of messages) {
            const detected = chunks(bytes, cuts).map((chunk) => detector.containsInput(chunk));
            assert.equal(detected.includes(true), !passes);
          }
        },
      ),
      { numRuns: PROPERTY_RUNS * 10 },
    );
  });

  it('all bytes after an unreadable message count as input', () => {
    const detector = new InputDetector();
    const update = Buffer.from([3, 1, 0, 0, 0, 0, 2, 128, 1, 144]);
    assert.deepEqual([detector.containsInput(HANDSHAKE), detector.containsInput(update)], [false, false]);
    assert.deepEqual([detector.containsInput(Buffer.of(99)), detector.containsInput(update)], [true, true]);
  });
});

describe('a read-only viewer', () => {
  it('a read-only viewer’s messages pass exactly if they are not input, however the bytes are split', () => {
    fc.assert(
      fc.property(
        fc.array(clientMessage, { maxLength: 30 }),
        fc.array(fc.nat(), { maxLength: 60 }),
        (messages, cuts) => {
          const filter = new ViewOnlyFilter();
          const whole = Buffer.concat([HANDSHAKE, ...messages.map(({ bytes }) => bytes)]);
          const passed = Buffer.concat(chunks(whole, cuts).map((chunk) => filter.push(chunk)));
          const expected = messages.filter(({ passes }) => passes).map(({ bytes }) => bytes);
          assert.ok(passed.equals(Buffer.concat([HANDSHAKE, ...expected])));
        },
      ),
      { numRuns: PROPERTY_RUNS * 40 },
    );
  });

  it('a read-only viewer’s messages pass the same byte by byte as in one piece', () => {
    const filter = new ViewOnlyFilter();
    const key = Buffer.from([4, 1, 0, 0, 0, 0, 0, 65]);
    const update = Buffer.from([3, 1, 0, 0, 0, 0, 2, 128, 1, 144]);
    const bytes = Buffer.concat([HANDSHAKE, key, update, key, update]);
    const passed = Buffer.concat([...bytes].map((byte) => filter.push(Buffer.of(byte))));
    assert.ok(passed.equals(Buffer.concat([HANDSHAKE, update, update])));
  });

  it('a read-only viewer always shares the screen and never disconnects others', () => {
    const alone = Buffer.from('RFB 003.007\n\x01\x00', 'latin1');
    assert.deepEqual([...new ViewOnlyFilter().push(alone).subarray(-1)], [1]);
  });

  it('a read-only viewer can paste gigabytes, and nothing is stored', () => {
    const filter = new ViewOnlyFilter();
    filter.push(HANDSHAKE);
    const head = Buffer.from([6, 0, 0, 0, 0x80, 0, 0, 0]);
    assert.equal(filter.push(head).length, 0);
    const update = Buffer.from([3, 1, 0, 0, 0, 0, 2, 128, 1, 144]);
    // Outside of pasted text, these bytes would be an update request.
    assert.equal(filter.push(update).length, 0);
  });

  it('a read-only viewer is disconnected after an invalid message or handshake', () => {
    const wrong = ['\x01\x00', '\x07', '\xfd\x00', '\xff\x01', '\x02\x00\xff\xff'];
    for (const text of wrong) {
      const filter = new ViewOnlyFilter();
      filter.push(HANDSHAKE);
      assert.throws(() => filter.push(Buffer.from(text, 'latin1')), RfbError, JSON.stringify(text));
    }
    for (const text of [
      'RFB 003.003\n',
      'RFB 004.001\n',
      'GET / HTTP/1',
      'RFB 003.008\n\x02',
      'RFB 003.008\n\x13',
    ]) {
      const filter = new ViewOnlyFilter();
      assert.throws(() => filter.push(Buffer.from(text, 'latin1')), RfbError, text);
    }
  });
});
