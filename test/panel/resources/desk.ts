/** Two customers at their browsers, the first with two servers that run. */
import assert from 'node:assert/strict';
import { type PanelAnswer, PanelClient, type Typed, textOf } from '../../support/panel-client.ts';
import { apiToken, V1Client } from '../../support/v1-client.ts';
import type { World } from '../../support/world.ts';
import { made, publicKey } from '../support/estate.ts';

export interface Desk {
  readonly world: World;
  readonly panel: PanelClient;
  readonly other: PanelClient;
  readonly api: V1Client;
  /** Ids. */
  readonly web: string;
  readonly db: string;
  /** Sends a form of the page at `path`; it must be taken. Answers the page that it leads to. */
  done(path: string, form: string, fields?: Typed): Promise<PanelAnswer>;
  /** The same, of one that must be refused: the page that comes back. */
  refused(path: string, form: string, fields?: Typed): Promise<PanelAnswer>;
}

export async function openDesk(world: World): Promise<Desk> {
  const session = await world.customer(100);
  const panel = PanelClient.over(world.url, session);
  const other = PanelClient.over(world.url, await world.customer());
  const api = V1Client.over(world.url, await apiToken(session, 'write'));
  const key = made(await api.post('/ssh-keys', { name: 'laptop', public_key: publicKey(7, 'ada') })).id;
  const images = made(await api.get('/images?family=debian')).data as readonly Record<string, string>[];
  const image = images.find(({ version }) => version === '13')?.id;
  const deploy = async (name: string): Promise<string> =>
    made(await api.post('/servers', { name, plan: 's1', region: 'par', image, ssh_keys: [key] })).id;
  const [web, db] = [await deploy('web'), await deploy('db')];
  await world.settle();
  return {
    ...{ world, panel, other, api, web, db },
    done: async (path, form, fields) => {
      const answer = await panel.submit(await panel.open(path), form, fields);
      assert.equal(answer.status, 303, textOf(answer.text));
      return await panel.follow(answer);
    },
    refused: async (path, form, fields) => {
      const answer = await panel.submit(await panel.open(path), form, fields);
      assert.ok(answer.status >= 400, `${answer.status}`);
      return answer;
    },
  };
}

/** The path of a page, without what was just done. */
export function pathOf({ path }: PanelAnswer): string {
  return path.split(/[?#]/)[0] ?? '';
}
