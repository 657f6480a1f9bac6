/** Power actions on several servers of the list, each with its own result and its own audit row. */
import type { CustomerActor, Service } from '../../../domain/context.ts';
import { rebootServer, startServer, stopServer } from '../../../domain/servers/operations/power.ts';
import { getServer } from '../../../domain/servers/read.ts';
import { Failure, fail } from '../../../kernel/fail.ts';
import { FAILURE_TEXTS } from '../../../panel/parts/problem-text.ts';
import { BULK_ACTIONS, type BulkAction, type BulkResult } from '../../../panel/servers/bulk.ts';
import type { Server } from '../../../spec/schemas/server.ts';
import type { Call } from '../../admission/forms.ts';
import { auditRefusal, resourceFromParams } from '../../admission/refusal-audit.ts';
import { field } from '../../form.ts';
import type { CustomForm, PageContext } from '../page-types.ts';
import { readSelection } from './list-state.ts';

type Verb = (service: Service, actor: CustomerActor, id: string) => Promise<Server>;

const VERBS: Readonly<Record<BulkAction, Verb>> = {
  // A server that must be paid for first is refused: the question shows no price.
  start: (service, actor, id) => startServer(service, actor, id, { max_price_usd: 0 }),
  stop: stopServer,
  reboot: (service, actor, id) => rebootServer(service, actor, id, { hard: false }),
};

export const BULK_FORMS = { start: bulkForm('start'), stop: bulkForm('stop'), reboot: bulkForm('reboot') };

function isBulkAction(word: string): word is BulkAction {
  return Object.hasOwn(BULK_ACTIONS, word);
}

function bulkForm(action: BulkAction): CustomForm {
  return {
    audit: `server.${action}`,
    rest: `servers.${action}`,
    run: async (call) => {
      const ids = readSelection(call.form);
      if (ids.length === 0) fail('bad_request', {}, 'No server is selected.');
      const results: BulkResult[] = [];
      for (const id of ids) results.push(await runOne(call, action, id));
      return { shown: { results: JSON.stringify(results) } };
    },
  };
}

/** Each server is a change of its own: a refusal leaves the others as they are. */
async function runOne(call: Call, action: BulkAction, id: string): Promise<BulkResult> {
  const { edge, request } = call;
  // The response of the form as a whole is saved after all of them.
  const { saveResponse: _whole, ...actor } = call.customer();
  try {
    const { name } = await VERBS[action](edge.service, actor, id);
    return { id, name, action, refusal: null };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const resource = () => resourceFromParams({ id });
    const refused = { edge, request, caller: actor, action: `server.${action}`, resource } as const;
    await auditRefusal({ ...refused, isRefusalAudited: false }, error);
    const name = error.code === 'not_found' ? id : (await getServer(edge.service, actor, id)).name;
    return { id, name, action, refusal: explain(error) };
  }
}

function explain({ code, message }: Failure): string {
  if (code === 'price_changed') return 'suspended. Open the server to pay for it and power it on.';
  return FAILURE_TEXTS[code] ?? message;
}

/**
 * The action that a button of the list or a refused form asks about, and the servers that are selected, of
 * which there may be none. Null without an action.
 */
export async function readBulkQuestion(
  context: PageContext,
): Promise<{ readonly action: BulkAction; readonly servers: readonly Server[] } | null> {
  const { forms, query, service } = context;
  const isRefused = forms.refused !== null && isBulkAction(forms.refused.name);
  const action = isRefused ? forms.refused.name : field(query, 'bulk');
  if (!isBulkAction(action)) return null;
  const servers: Server[] = [];
  for (const id of readSelection(isRefused ? forms.values : query)) {
    try {
      servers.push(await getServer(service, context.customer(), id));
    } catch (error) {
      if (!(error instanceof Failure && error.code === 'not_found')) throw error;
    }
  }
  return { action, servers };
}
