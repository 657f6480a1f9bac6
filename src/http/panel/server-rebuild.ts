/** Installing a server anew, and its rescue system. */
import { rebuildView } from '../../panel/server-rebuild.ts';
import type { RescuedServer } from '../../spec/schemas/server-actions.ts';
import type { Form } from '../form.ts';
import { ownKeys, usableImages, userDataB64 } from './choices.ts';
import { body, text, tickedIds } from './fields.ts';
import { type Look, type PanelPage, restForm } from './page.ts';
import { lookedAt, SERVER_PATH, toServer } from './server.ts';

/** None ticked: those that it has. */
function someKeys(form: Form, name: string): unknown {
  const ids = tickedIds(form, name) as readonly string[];
  return ids.length > 0 ? ids : undefined;
}

async function show(look: Look) {
  const [page, images, keys] = await Promise.all([lookedAt(look), usableImages(look), ownKeys(look)]);
  const { username, password } = look.shown?.texts ?? {};
  return rebuildView({
    ...page,
    images: page.able.ownImages ? images : images.filter(({ type }) => type === 'official'),
    keys,
    rescue: username === undefined || password === undefined ? null : { username, password },
    forms: look.forms,
  });
}

export const SERVER_REBUILD_PAGE: PanelPage = {
  path: `${SERVER_PATH}/rebuild`,
  access: 'customer',
  show,
  forms: {
    rebuild: restForm({
      does: 'servers.rebuild',
      body: body({ image: text, ssh_keys: someKeys, user_data_b64: userDataB64 }),
      names: { user_data_b64: 'user_data' },
      done: toServer('server_rebuilding'),
    }),
    rescue: restForm<RescuedServer>({
      does: 'servers.rescue',
      done: ({ rescue }) => ({ shown: { username: rescue.username, password: rescue.password } }),
    }),
  },
};
