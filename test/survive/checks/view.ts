/** The resources of a customer, from the REST lists. */
import { type JsonBody, V1Client } from '../../support/v1-client.ts';
import type { ModelCustomer } from '../model/model.ts';
import type { Asker } from '../operations/ask.ts';

export interface CustomerView {
  readonly servers: readonly JsonBody[];
  readonly volumes: readonly JsonBody[];
  readonly snapshots: readonly JsonBody[];
  readonly topups: readonly JsonBody[];
  readonly ledger: readonly JsonBody[];
  readonly balanceUsd: number;
}

export async function viewCustomer(asker: Asker, { token }: ModelCustomer): Promise<CustomerView> {
  const read = async (path: string): Promise<JsonBody> => {
    const answer = await asker.ask(`GET ${path}`, 0, (url) => V1Client.forUrl(url, token).get(path));
    if (answer?.status !== 200) throw new Error(`GET ${path}: ${answer?.status} ${answer?.text}`);
    return answer.body;
  };
  const list = async (path: string): Promise<JsonBody[]> => {
    const items: JsonBody[] = [];
    for (let after = ''; ; ) {
      const { data, next_cursor: cursor } = await read(`${path}?page_size=100${after}`);
      items.push(...data);
      if (cursor === undefined) return items;
      after = `&cursor=${encodeURIComponent(cursor)}`;
    }
  };
  return {
    servers: await list('/servers'),
    volumes: await list('/volumes'),
    snapshots: await list('/snapshots'),
    topups: await list('/billing/topup'),
    ledger: await list('/billing/ledger'),
    balanceUsd: (await read('/billing/balance')).usd,
  };
}
