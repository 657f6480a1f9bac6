/** Power actions on several servers of the list, each with its own result. */
import type { CustomerActor, Service } from '../../../domain/context.ts';
import { rebootServer, startServer, stopServer } from '../../../domain/servers/operations/power.ts';
import { getServer } from '../../../domain/servers/read.ts';
import { Failure, fail } from '../../../kernel/fail.ts';
import { FAILURE_TEXTS } from '../../../panel/parts/problem-text.ts';
import { BULK_ACTIONS, BULK_BOX, type BulkAction, type BulkResult } from '../../../panel/servers/bulk.ts';
import { LIMITS } from '../../../spec/limits.ts';
import type { Server } from '../../../spec/schemas/server.ts';
import type { Call } from '../../admission/forms.ts';
import { type Form, field } from '../../form.ts';
import { checkedIds } from '../field-readers.ts';
import type { CustomForm, PageContext } from '../page-types.ts';

type Verb = (service: Service, actor: CustomerActor, id: string) => Promise<Server>;

const VERBS: Readonly<Record<BulkAction, Verb>> = {
  // A server that must be paid for first is refused: the question shows no price.
  start: (service, actor, id) => startServer(service, actor, id, { max_price_usd: 0 }),
  stop: stopServer,
  reboot: (service, actor, id) => rebootServer(service, actor, id, { hard: false }),
};

export const BULK_FORMS = { start: bulkForm('start'), stop: bulkForm('stop'), reboot: bulkForm('reboot') };

/** At most as many servers as a page of the list has. */
function selectedIds(form: Form): readonly string[] {
  const ids = checkedIds(form, BULK_BOX) as readonly string[];
  return ids.length <= LIMITS.pageSizeMax ? ids : fail('bad_request');
}

function bulkForm(action: BulkAction): CustomForm {
  return {
    audit: `server.${action}`,
    rest: `servers.${action}`,
    run: async (call) => {
      const results: BulkResult[] = [];
      for (const id of selectedIds(call.form)) results.push(await runOne(call, action, id));
      return { shown: { results: JSON.stringify(results) } };
    },
  };
}

/** Each server is a change of its own: a refusal leaves the others as they are. */
async function runOne({ edge, customer }: Call, action: BulkAction, id: string): Promise<BulkResult> {
  // The response of the form as a whole is saved after all of them.
  const { saveResponse: _whole, ...actor } = customer();
  try {
    const { name } = await VERBS[action](edge.service, actor, id);
    return { id, name, action, refusal: null };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const name = error.code === 'not_found' ? id : (await getServer(edge.service, actor, id)).name;
    return { id, name, action, refusal: explain(error) };
  }
}

function explain({ code, message }: Failure): string {
  if (code === 'price_changed') return 'suspended. Open the server to pay for it and power it on.';
  return FAILURE_TEXTS[code] ?? message;
}

/** The action that the list's buttons ask about, and the servers that are ticked; null without any. */
export async function readBulkQuestion(
  context: PageContext,
): Promise<{ readonly action: BulkAction; readonly servers: readonly Server[] } | null> {
  const action = field(context.query, 'bulk');
  if (!Object.hasOwn(BULK_ACTIONS, action)) return null;
  const servers: Server[] = [];
  for (const id of selectedIds(context.query)) {
    try {
      servers.push(await getServer(context.service, context.customer(), id));
    } catch (error) {
      if (!(error instanceof Failure && error.code === 'not_found')) throw error;
    }
  }
  return servers.length > 0 ? { action: action as BulkAction, servers } : null;
}
