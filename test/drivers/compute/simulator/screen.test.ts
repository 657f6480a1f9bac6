import assert from 'node:assert/strict';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { openScreen } from '../../../../src/drivers/compute/simulator/screen.ts';
import { drawRow } from '../../../../src/drivers/compute/simulator/screen-font.ts';
import type { ScreenFacts } from '../../../../src/drivers/compute/simulator/screen-text.ts';
import { RfbViewer } from '../../../support/rfb-viewer.ts';
import { FULL_ONLY } from '../../../support/runs.ts';

const FACTS: ScreenFacts = {
  hostname: 'web-1',
  state: 'running',
  image: 'debian 13',
  ipv4: '192.0.2.7',
  ipv6: '2001:db8::1',
  rescue: false,
  bootedAt: new Date(0),
};

function openTestScreen(readFacts: () => Promise<ScreenFacts | null> = async () => FACTS) {
  const stream = openScreen(FACTS, readFacts);
  const viewer = new RfbViewer((bytes) => stream.write(bytes));
  stream.on('data', (bytes) => viewer.receive(bytes));
  stream.on('end', () => viewer.close());
  return { stream, viewer };
}

describe('the simulated screen', () => {
  it('the screen shows its machine to viewers of RFB 3.8 and 3.7', async () => {
    for (const version of ['003.008', '003.007']) {
      const { stream, viewer } = openTestScreen();
      assert.deepEqual(await viewer.open(version), { width: 640, height: 400, name: 'web-1' });
      await viewer.fetchUpdate();
      assert.equal(viewer.rowText(3), '  machine  web-1');
      assert.equal(viewer.rowText(4), '  state    running');
      assert.equal(viewer.rowText(6), '  IPv4     192.0.2.7');
      assert.equal(viewer.rowText(7), '  IPv6     2001:db8::1');
      assert.equal(viewer.rowText(10), '  web-1 login: _');
      stream.destroy();
    }
  });

  it('the screen is drawn in the requested pixel format: 8, 16, or 32 bits, either byte order', async () => {
    const { stream, viewer } = openTestScreen();
    await viewer.open();
    for (const format of [
      { bits: 32, bigEndian: true, max: [255, 255, 255], shift: [0, 8, 16] },
      { bits: 32, bigEndian: false, max: [255, 255, 255], shift: [24, 16, 8] },
      { bits: 16, bigEndian: false, max: [31, 63, 31], shift: [11, 5, 0] },
      { bits: 16, bigEndian: true, max: [31, 63, 31], shift: [11, 5, 0] },
      { bits: 8, bigEndian: false, max: [7, 7, 3], shift: [0, 3, 6] },
    ] as const) {
      viewer.setPixelFormat(format);
      await viewer.fetchUpdate();
      assert.equal(viewer.rowText(3), '  machine  web-1', JSON.stringify(format));
    }
    stream.destroy();
  });

  it('the prompt echoes keys, handles backspace, accepts no login, and shows Ctrl-Alt-Del', async () => {
    const { stream, viewer } = openTestScreen();
    await viewer.open();
    await viewer.fetchUpdate();
    viewer.type('rooty');
    viewer.press(0xff08);
    await viewer.waitForScreen(() => viewer.rowText(10) === '  web-1 login: root_');
    viewer.press(0xff0d);
    await viewer.waitForScreen(
      () => viewer.rowText(10) === '  web-1 login: root' && /Login incorrect/.test(viewer.rowText(11)),
    );
    for (const key of [0xffe3, 0xffe9, 0xffff]) viewer.sendKey(key, true);
    for (const key of [0xffff, 0xffe9, 0xffe3]) viewer.sendKey(key, false);
    await viewer.waitForScreen(() => /Ctrl-Alt-Del/.test(viewer.rowText(12)));
    for (let line = 0; line < 30; line += 1) viewer.press(0xff0d);
    await viewer.waitForScreen(() => viewer.rowText(24) === '  web-1 login: _');
    stream.destroy();
  });

  it('an incremental update has only changed rows, and there is none without a change', async () => {
    const { stream, viewer } = openTestScreen();
    await viewer.open();
    assert.equal(await viewer.fetchUpdate(), 400);
    viewer.type('a');
    assert.equal(await viewer.fetchUpdate({ incremental: true }), 16);
    viewer.requestUpdate({ incremental: true });
    viewer.movePointer(5, 5);
    viewer.paste('x'.repeat(100_000));
    const heard = viewer.updates;
    // The next update has one row, so the request before was not answered.
    viewer.type('b');
    await viewer.waitForScreen(() => viewer.updates > heard);
    assert.equal(viewer.lastUpdateRows, 16);
    stream.destroy();
  });

  it('at most one update is prepared for a viewer that requests much and reads nothing', async () => {
    const stream = openScreen(FACTS, async () => FACTS);
    const viewer = new RfbViewer((bytes) => stream.write(bytes));
    viewer.sendHandshake();
    for (let i = 0; i < 200; i += 1) viewer.requestUpdate({ incremental: false });
    await once(stream, 'readable');
    assert.ok(stream.readableLength < 2 * 640 * 400 * 4, `${stream.readableLength} bytes are held`);
    stream.destroy();
  });

  it(
    'the screen follows its machine through a shutdown, a rescue, a reboot, and its end',
    FULL_ONLY,
    async () => {
      const seen: (ScreenFacts | null)[] = [
        { ...FACTS, state: 'stopped' },
        { ...FACTS, rescue: true, bootedAt: new Date(FACTS.bootedAt.getTime() + 1) },
        null,
      ];
      let turn: ScreenFacts | null = FACTS;
      const { stream, viewer } = openTestScreen(async () => turn);
      await viewer.open();
      await viewer.fetchUpdate();
      viewer.type('secret');
      await viewer.waitForScreen(() => viewer.rowText(10).includes('secret'));
      for (const [facts = null, sign] of [
        [seen[0], () => viewer.rowText(4) === '  state    stopped' && viewer.rowText(10) === ''],
        [
          seen[1],
          () => viewer.rowText(4).endsWith('rescue system') && viewer.rowText(10) === '  web-1 rescue: _',
        ],
      ] as const) {
        turn = facts;
        await viewer.waitForScreen(sign);
      }
      turn = null;
      await viewer.ended;
      stream.end();
      await once(stream, 'close');
    },
  );

  it('the stream ends when the viewer disconnects, and fails on an invalid protocol', async () => {
    const { stream, viewer } = openTestScreen();
    await viewer.open();
    stream.end();
    await once(stream, 'close');
    for (const bytes of [
      'RFB 003.003\n',
      'GET / HTTP/1.1\r\n',
      'RFB 003.008\n\x02',
      'RFB 003.008\n\x01\x01\x63',
    ]) {
      const wrong = openScreen(FACTS, async () => FACTS);
      wrong.write(bytes, 'latin1');
      const [error] = (await once(wrong, 'error')) as [Error];
      assert.match(error.message, /version|security|unknown message/);
    }
  });

  it('every printable ASCII character has its own glyph', () => {
    const letters = Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index));
    const pictures = letters.map((letter) => drawRow(letter, 12, 1));
    assert.equal(new Set(pictures.map((picture) => picture.toString('hex'))).size, 95);
    assert.ok(pictures.slice(1).every((picture) => picture.some((pixel) => pixel > 0)));
  });
});
