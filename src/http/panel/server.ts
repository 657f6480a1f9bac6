/** A server's own page, with its power and its console. */
import { getImage } from '../../domain/images/find.ts';
import { openConsole } from '../../domain/servers/console.ts';
import { type DescribedServer, describeServer } from '../../domain/servers/describe.ts';
import { serverIdByNo } from '../../domain/servers/find.ts';
import { Failure } from '../../kernel/fail.ts';
import { imageName } from '../../panel/image-words.ts';
import type { Notice } from '../../panel/notices.ts';
import { overviewView } from '../../panel/server.ts';
import { PANEL_PATHS, serverPartPath } from '../../spec/paths.ts';
import type { Server } from '../../spec/schemas/server.ts';
import { ownKeys } from './choices.ts';
import { type Done, type Look, type OwnForm, type PanelPage, restForm } from './page.ts';

export const SERVER_PATH = `${PANEL_PATHS.servers}/{id}`;

/** The server that the path names; `not_found` where the customer has none such. */
export async function lookedAt(look: Look): Promise<DescribedServer> {
  return await describeServer(look.service, look.customer(), look.params.id ?? '');
}

/** Back to the server's own page, where one sees how it goes on. */
export function toServer(notice: Notice): (answer: Server) => Done {
  return (server) => ({ to: serverPartPath(server.id), notice });
}

/** A console of one's own for each click: its link is used up by the first screen. */
const console: OwnForm = {
  audit: null,
  rest: 'servers.console',
  unkeyed: true,
  run: async (call) => {
    const id = (call.request.params as Record<string, string>).id ?? '';
    const opened = await openConsole(call.edge.service, call.customer(), id, {
      readOnly: false,
      baseUrl: '',
    });
    return { to: `${opened.url}&server=${encodeURIComponent(id)}` };
  },
};

/** `/servers/4711`: where the session surface and mails lead. */
const BY_NUMBER: NonNullable<PanelPage['alias']> = {
  path: `${PANEL_PATHS.servers}/:no(^[1-9]\\d{0,15}$)`,
  params: async (service, session, given) => {
    const { no = '' } = given as { readonly no?: string };
    return { id: await serverIdByNo(service, session, BigInt(no)) };
  },
};

export const SERVER_PAGE: PanelPage = {
  path: SERVER_PATH,
  alias: BY_NUMBER,
  access: 'customer',
  shows: ['servers.get', 'images.get'],
  show: async (look) => {
    const [page, known] = await Promise.all([lookedAt(look), ownKeys(look)]);
    const named = new Map(known.map(({ id, name }) => [id, name]));
    return overviewView({
      ...page,
      imageName: await nameOfImage(look, page.server.image),
      keys: page.server.ssh_keys.map((id) => ({ id, name: named.get(id) ?? null })),
      forms: look.forms,
    });
  },
  forms: {
    start: restForm({ does: 'servers.start', done: toServer('server_starting') }),
    stop: restForm({ does: 'servers.stop', done: toServer('server_stopping') }),
    reboot: restForm({ does: 'servers.reboot', done: toServer('server_rebooting') }),
    reset: restForm({
      does: 'servers.reboot',
      query: () => ({ hard: true }),
      done: toServer('server_rebooting'),
    }),
    console,
  },
};

/** An image that is no longer there has no name. */
async function nameOfImage(look: Look, id: string): Promise<string> {
  try {
    return imageName(await getImage(look.service, look.customer(), id));
  } catch (error) {
    if (error instanceof Failure && error.code === 'not_found') return 'one that is no longer offered';
    throw error;
  }
}
