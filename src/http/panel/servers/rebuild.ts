/** Rebuilding a server, its rescue system, and its drive for ISO images. */
import { rebuildView } from '../../../panel/servers/rebuild.ts';
import type { Server } from '../../../spec/schemas/server.ts';
import type { RescuedServer } from '../../../spec/schemas/server-actions.ts';
import { type Form, field } from '../../form.ts';
import { listOwnSshKeys, listUsableImages } from '../choices.ts';
import { bodyReader, checkedIds, encodeUserData, text } from '../field-readers.ts';
import { page, restForm } from '../page-types.ts';
import { loadServer, redirectToServer, SERVER_PATH, type ServerContext } from './overview.ts';

/** With no key selected, the server keeps its current keys. */
function selectedKeys(form: Form, name: string): unknown {
  const ids = checkedIds(form, name) as readonly string[];
  return ids.length > 0 ? ids : undefined;
}

async function render(context: ServerContext) {
  const [page, images, keys] = await Promise.all([
    loadServer(context),
    listUsableImages(context),
    listOwnSshKeys(context),
  ]);
  const { username, password } = context.shown?.texts ?? {};
  return rebuildView({
    ...page,
    images: page.capabilities.customImages ? images : images.filter(({ type }) => type === 'official'),
    keys,
    rescue: username === undefined || password === undefined ? null : { username, password },
    forms: context.forms,
  });
}

export const SERVER_REBUILD_PAGE = page({
  path: `${SERVER_PATH}/rebuild`,
  access: 'customer',
  render,
  forms: {
    rebuild: restForm({
      operation: 'servers.rebuild',
      body: bodyReader({ image: text, ssh_keys: selectedKeys, user_data_b64: encodeUserData }),
      fieldNames: { user_data_b64: 'user_data' },
      done: redirectToServer('server_rebuilding'),
    }),
    insert_iso: restForm({
      operation: 'servers.insert_iso',
      body: (form) => ({ image: field(form, 'iso') }),
      fieldNames: { image: 'iso' },
      done: redirectToServer('iso_inserting'),
    }),
    eject_iso: restForm({ operation: 'servers.eject_iso', done: redirectToServer('iso_ejecting') }),
    boot: restForm<Server>({
      operation: 'servers.update',
      body: bodyReader({ boot: text }),
      done: redirectToServer('boot_changing'),
    }),
    rescue: restForm<RescuedServer>({
      operation: 'servers.rescue',
      done: ({ rescue }) => ({ shown: { username: rescue.username, password: rescue.password } }),
    }),
  },
});
