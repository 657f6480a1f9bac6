/** The overview page of a server, with power actions and the console. */

import { getImage } from '../../../domain/images/read.ts';
import { listFiringAlerts } from '../../../domain/servers/alerts/read.ts';
import { openConsole } from '../../../domain/servers/console.ts';
import { getMetrics } from '../../../domain/servers/metrics.ts';
import {
  type DescribedServer,
  describeServer,
  getServer,
  serverIdByNo,
} from '../../../domain/servers/read.ts';
import { getTransfer } from '../../../domain/servers/traffic.ts';
import { type ErrorItem, Failure } from '../../../kernel/fail.ts';
import type { Notice } from '../../../panel/parts/notices.ts';
import { formatImageName } from '../../../panel/resources/images.ts';
import { LOAD_PERIOD } from '../../../panel/servers/load.ts';
import { stepOf } from '../../../panel/servers/metrics.ts';
import { overviewView } from '../../../panel/servers/overview.ts';
import { PANEL_FIELDS, PANEL_PATHS, serverPagePath } from '../../../spec/paths.ts';
import type { Server } from '../../../spec/schemas/server.ts';
import type { Call } from '../../admission/forms.ts';
import { type Form, field } from '../../form.ts';
import type { PathParams } from '../../v1/route.ts';
import { listOwnSshKeys } from '../choices.ts';
import { bodyReader, number } from '../field-readers.ts';
import {
  type CustomForm,
  type FormResult,
  type PageContext,
  type PanelPage,
  type PathIds,
  page,
  restForm,
} from '../page-types.ts';
import { readLatestActions } from './actions.ts';

export const SERVER_PATH = `${PANEL_PATHS.servers}/{id}` as const;

/** The context of a page about one server. */
export type ServerContext = PageContext<PathParams<typeof SERVER_PATH>>;

/** Loads the server in the path, or fails with `not_found`. */
export async function loadServer(context: ServerContext): Promise<DescribedServer> {
  return await describeServer(context.service, context.customer(), context.params.id);
}

/** Redirects to the server's overview, which shows the progress. */
export function redirectToServer(notice: Notice): (answer: Server) => FormResult {
  return (server) => ({ to: serverPagePath(server.id), notice });
}

/** Opens a new console for each click, because the first screen uses up its link. */
function consoleForm(idOf: (form: Form, params: PathIds) => string): CustomForm {
  return {
    audit: null,
    rest: 'servers.console',
    skipIdempotency: true,
    run: async ({ edge, customer, form }, params) => {
      const id = idOf(form, params);
      const session = await openConsole(edge.service, customer(), id, { readOnly: false, baseUrl: '' });
      return { to: `${session.url}&server=${encodeURIComponent(id)}` };
    },
  };
}

/** Opens the console of a row of the server list. */
export const ROW_CONSOLE_FORM = consoleForm((form) => field(form, PANEL_FIELDS.key));

/** `/servers/4711`: the path in the session surface and in mails. */
const BY_NUMBER: NonNullable<PanelPage['alias']> = {
  path: `${PANEL_PATHS.servers}/:no(^[1-9]\\d{0,15}$)`,
  params: async (service, session, given) => {
    const { no = '' } = given as { readonly no?: string };
    return { id: await serverIdByNo(service, session, BigInt(no)) };
  },
};

export const SERVER_PAGE = page({
  path: SERVER_PATH,
  alias: BY_NUMBER,
  access: 'customer',
  readOperations: ['servers.get', 'images.get', 'actions.of_server', 'alerts.list', 'servers.metrics'],
  render: async (context) => {
    const [page, sshKeys, actions, alerts, metrics, transfer] = await Promise.all([
      loadServer(context),
      listOwnSshKeys(context),
      readLatestActions(context, context.params.id),
      listFiringAlerts(context.service, context.customer(), context.params.id),
      getMetrics(context.service, context.customer(), context.params.id, stepOf(LOAD_PERIOD)),
      getTransfer(context.service, context.customer(), context.params.id),
    ]);
    const keyNames = new Map(sshKeys.map(({ id, name }) => [id, name]));
    return overviewView({
      ...page,
      actions,
      imageName: await findImageName(context, page.server.image),
      keys: page.server.ssh_keys.map((id) => ({ id, name: keyNames.get(id) ?? null })),
      ...{ alerts, metrics, transfer },
      forms: context.forms,
    });
  },
  forms: {
    start: restForm({
      operation: 'servers.start',
      body: bodyReader({ max_price_usd: number }),
      done: redirectToServer('server_starting'),
    }),
    stop: restForm({ operation: 'servers.stop', done: redirectToServer('server_stopping') }),
    reboot: restForm({ operation: 'servers.reboot', done: redirectToServer('server_rebooting') }),
    reset: restForm({
      operation: 'servers.reboot',
      query: () => ({ hard: true }),
      done: redirectToServer('server_rebooting'),
    }),
    console: consoleForm((_, { id }) => id),
  },
});

/** Returns the name of an image, or a placeholder for a deleted one. */
async function findImageName(context: PageContext, id: string): Promise<string> {
  try {
    return formatImageName(await getImage(context.service, context.customer(), id));
  } catch (error) {
    if (error instanceof Failure && error.code === 'not_found') return 'an image that is no longer available';
    throw error;
  }
}

/**
 * Confirms an action on a server by its typed name. Compares the typed name with the current one: the page
 * may be old, and another server may have its name now.
 */
export async function checkTypedName(
  { edge, form, customer }: Call,
  serverId: string,
): Promise<readonly ErrorItem[]> {
  const typed = field(form, 'name_typed').trim();
  if (typed === '') return [{ field: 'name_typed', issue: 'required' }];
  const { name } = await getServer(edge.service, customer(), serverId);
  return typed === name ? [] : [{ field: 'name_typed', issue: 'invalid_value' }];
}
