/** Two customers at their browsers, the first with two servers that run. */
import assert from 'node:assert/strict';
import { type FormInput, PanelClient, type PanelResponse, textOf } from '../../support/panel-client.ts';
import { createApiToken, V1Client } from '../../support/v1-client.ts';
import type { World } from '../../support/world.ts';
import { expectSuccess, publicKey } from '../support/estate.ts';

export interface ResourceFixture {
  readonly world: World;
  readonly panel: PanelClient;
  readonly other: PanelClient;
  readonly api: V1Client;
  /** Ids. */
  readonly web: string;
  readonly db: string;
  /** Sends a form of the page at `path`; it must be taken. Answers the page that it leads to. */
  done(path: string, form: string, fields?: FormInput): Promise<PanelResponse>;
  /** The same, of one that must be refused: the page that comes back. */
  refused(path: string, form: string, fields?: FormInput): Promise<PanelResponse>;
}

export async function startResourceFixture(world: World): Promise<ResourceFixture> {
  const session = await world.customer(100);
  const panel = PanelClient.forUrl(world.url, session);
  const other = PanelClient.forUrl(world.url, await world.customer());
  const api = V1Client.forUrl(world.url, await createApiToken(session, 'write'));
  const key = expectSuccess(
    await api.post('/ssh-keys', { name: 'laptop', public_key: publicKey(7, 'ada') }),
  ).id;
  const images = expectSuccess(await api.get('/images?family=debian')).data as readonly Record<
    string,
    string
  >[];
  const image = images.find(({ version }) => version === '13')?.id;
  const deploy = async (name: string): Promise<string> =>
    expectSuccess(await api.post('/servers', { name, plan: 's1', region: 'par', image, ssh_keys: [key] })).id;
  const [web, db] = [await deploy('web'), await deploy('db')];
  await world.settle();
  return {
    ...{ world, panel, other, api, web, db },
    done: async (path, form, fields) => {
      const answer = await panel.submit(await panel.open(path), form, fields);
      assert.equal(answer.status, 303, textOf(answer.text));
      return await panel.followRedirects(answer);
    },
    refused: async (path, form, fields) => {
      const answer = await panel.submit(await panel.open(path), form, fields);
      assert.ok(answer.status >= 400, `${answer.status}`);
      return answer;
    },
  };
}

/** The path of a page, without what was just done. */
export function pathOf({ path }: PanelResponse): string {
  return path.split(/[?#]/)[0] ?? '';
}
