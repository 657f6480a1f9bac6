/** A root password that is typed while SSH key is chosen: styles may not hide its field. */
import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { PanelClient, problemOf } from '../../support/panel-client.ts';
import { startWorld, type World } from '../../support/world.ts';
import { publicKey } from '../support/estate.ts';

const NEW = '/servers/new';

let world: World;
before(async () => {
  world = await startWorld();
});
after(() => world.close());

async function buyer() {
  const session = await world.customer();
  await world.addBalance(session, 3_000n);
  const panel = PanelClient.forUrl(world.url, { cookie: session.cookie });
  const image = /<option value="(img_\w+)">Debian 13/.exec((await panel.open(NEW)).text)?.[1] ?? '';
  const servers = async () =>
    await world.opened.db.rows<{ sealed: string | null }>(
      `select root_password_sealed as sealed from servers s join customers c on c.id = s.customer_id
        where c.email = $1`,
      [session.email],
    );
  return { panel, image, servers };
}

describe('a typed root password', () => {
  const typed = { name: 'web-1', root_password: 'a long enough one' };

  it('is used while SSH key stays chosen, if there is no key', async () => {
    const me = await buyer();
    const done = await me.panel.submit(await me.panel.open(NEW), 'deploy', { ...typed, image: me.image });
    assert.match(done.location ?? '', /done=server_ordered/);
    const [row] = await me.servers();
    assert.ok(row?.sealed, 'the server gets the password');
  });

  it('is refused next to a key, with its field named and shown, and nothing is ordered', async () => {
    const me = await buyer();
    const both = { ...typed, image: me.image, key_text: publicKey(12, 'ada') };
    const refused = await me.panel.submit(await me.panel.open(NEW), 'deploy', both);
    assert.equal(refused.status, 400);
    assert.match(problemOf(refused.text, 'root_password') ?? '', /chose SSH key and also typed a password/);
    assert.doesNotMatch(refused.text, /class="with-password"/);
    assert.deepEqual(await me.servers(), []);
    const done = await me.panel.submit(refused, 'deploy');
    assert.match(done.location ?? '', /done=server_ordered/);
  });
});
