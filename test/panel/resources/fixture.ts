/** Two customers with browsers, the first with two running servers. */
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
  /** Ids of the servers. */
  readonly web: string;
  readonly db: string;
  /** Submits a form of the page at `path`, which must succeed. Returns the page that it leads to. */
  done(path: string, form: string, fields?: FormInput): Promise<PanelResponse>;
  /** Submits a form that must be rejected. Returns the page with the errors. */
  refused(path: string, form: string, fields?: FormInput): Promise<PanelResponse>;
}

export async function startResourceFixture(world: World): Promise<ResourceFixture> {
  const session = await world.customer(100);
  const panel = PanelClient.forUrl(world.url, session);
  const other = PanelClient.forUrl(world.url, await world.customer());
  const api = V1Client.forUrl(world.url, await createApiToken(session, 'write'));
  const sshKey = { name: 'laptop', public_key: publicKey(7, 'ada') };
  const key = expectSuccess(await api.post('/ssh-keys', sshKey)).id;
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
    world,
    panel,
    other,
    api,
    web,
    db,
    done: async (path, form, fields) => {
      const response = await panel.submit(await panel.open(path), form, fields);
      assert.equal(response.status, 303, textOf(response.text));
      return await panel.followRedirects(response);
    },
    refused: async (path, form, fields) => {
      const response = await panel.submit(await panel.open(path), form, fields);
      assert.ok(response.status >= 400, `${response.status}`);
      return response;
    },
  };
}

/** Returns the path of a page without its query. */
export function pathOf({ path }: PanelResponse): string {
  return path.split(/[?#]/)[0] ?? '';
}
