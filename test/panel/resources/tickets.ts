import assert from 'node:assert/strict';
import { it } from 'node:test';
import { LIMITS } from '../../../src/spec/limits.ts';
import { textOf } from '../../support/panel-client.ts';
import { pathOf, type ResourceFixture } from './fixture.ts';

export function ticketPages(at: () => ResourceFixture): void {
  it('a ticket is opened, answered, closed, and opened again by a reply', async () => {
    const { done, panel } = at();
    const opened = await done('/support', 'create', { subject: 'No <route>', text: 'Since noon.\nWhy?' });
    const path = pathOf(opened);
    assert.match(
      textOf(opened.text),
      /Ticket opened.* No <route> waiting for us .* You .* Since noon\. Why\?/,
    );
    assert.match(textOf((await done(path, 'close')).text), /Ticket closed.* closed/);
    assert.match(
      textOf((await done(path, 'reply', { text: 'It fails.' })).text),
      /waiting for us .*It fails\./,
    );
    const closed = (await panel.open('/support?status=closed')).text;
    assert.doesNotMatch(textOf(closed), /No <route>/);
    assert.match(textOf((await panel.open('/support')).text), /No <route> waiting for us/);
  });

  it('a text file is attached and downloaded, and other files are refused', async () => {
    const { done, refused, panel, other } = at();
    const ticket = pathOf(await done('/support', 'create', { subject: 'A log', text: 'See the file.' }));
    const attach = `${ticket}/attach`;
    const log = 'ping: no route\n';
    const shown = await done(attach, 'attach', { name: 'ping log.txt', file: new Blob([log]) });
    const [, path = ''] = /href="(\/support\/[^"]+\/files\/[^"]+)"/.exec(shown.text) ?? [];
    assert.match(shown.text, /ping-log\.txt/);
    const file = await panel.get(path);
    assert.equal(file.text, log);
    assert.match(String(file.headers.get('content-disposition')), /^attachment/);
    assert.equal((await other.get(path)).status, 404);
    const tooLarge = Buffer.alloc(LIMITS.ticketFileMaxBytes + 1, 'x');
    for (const bytes of [Buffer.from('GIF89a\0'), Buffer.from(''), tooLarge]) {
      const answer = await refused(attach, 'attach', { name: 'x', file: new Blob([bytes]) });
      assert.match(answer.text, /id="attach-file-problem"/);
    }
  });
}
