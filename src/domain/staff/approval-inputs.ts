/** The input of an act that waits for a second person: sealed, and forgotten some time after the decision. */
import { isDeepStrictEqual } from 'node:util';
import type { Sql } from '../../kernel/sql.ts';
import { DAY_MS } from '../../kernel/time.ts';
import { SEALED } from '../../spec/sealed.ts';
import { STAFF_LIMITS } from '../../spec/staff/roles.ts';
import {
  clearPlainInputs,
  expireApprovalInput,
  insertApprovalInput,
  lockPlainInputs,
} from '../../store/staff/approval-inputs.ts';
import { type ApprovalRow, listApproved, markUsed } from '../../store/staff/approvals.ts';
import type { Service } from '../context.ts';

type Keys = Pick<Service, 'keys'>;

export interface HeldInput {
  readonly params: Readonly<Record<string, string>>;
  readonly body: Readonly<Record<string, unknown>>;
}

const PLAIN_BATCH = 100;

/** Until when the input of a request is kept that ended then. */
function keptUntil(endedAt: Date): Date {
  return new Date(endedAt.getTime() + STAFF_LIMITS.approvalInputDays * DAY_MS);
}

/** `endsAt` is when the request expires. */
export async function storeInput(
  tx: Sql,
  { keys }: Keys,
  { id, endsAt, input }: { readonly id: string; readonly endsAt: Date; readonly input: HeldInput },
): Promise<void> {
  await insertApprovalInput(tx, {
    request_id: id,
    input_sealed: keys.seal(SEALED.approvalInput, id, JSON.stringify(input)),
    expires_at: keptUntil(endsAt),
  });
}

export async function decideInput(tx: Sql, id: string, now: Date): Promise<void> {
  await expireApprovalInput(tx, id, keptUntil(now));
}

/** Null: it was forgotten. */
export function openInput(
  { keys }: Keys,
  { id, input_sealed: sealed, params, body }: Pick<ApprovalRow, 'id' | 'input_sealed' | 'params' | 'body'>,
): HeldInput | null {
  if (sealed !== null) return JSON.parse(keys.open(SEALED.approvalInput, id, sealed).toString());
  return body === null ? null : { params: params ?? {}, body };
}

/** Uses up an approved request of the person with the same input. Returns false when there is none. */
export async function useGrant(
  { db, keys }: Keys & Pick<Service, 'db'>,
  act: {
    readonly staffId: string;
    readonly operation: string;
    readonly target: string | null;
    readonly body: HeldInput['body'];
    readonly now: Date;
  },
): Promise<boolean> {
  const { body, ...grant } = act;
  const wanted = comparable(body);
  for (const row of await listApproved(db, grant)) {
    const input = openInput({ keys }, row);
    if (input === null || !isDeepStrictEqual(comparable(input.body), wanted)) continue;
    if (await markUsed(db, row.id)) return true;
  }
  return false;
}

/** The reason may be another one. */
function comparable({ reason: _, ...rest }: HeldInput['body']): unknown {
  return JSON.parse(JSON.stringify(rest));
}

/** Seals the inputs that the previous version stored in plain text. Yields the number sealed per batch. */
export async function* sealPlainInputs({ db, keys }: Keys & Pick<Service, 'db'>): AsyncGenerator<number> {
  for (let sealed = PLAIN_BATCH; sealed === PLAIN_BATCH; ) {
    sealed = await db.transaction(async (tx) => {
      const rows = await lockPlainInputs(tx, PLAIN_BATCH);
      for (const { id, params, body, ended_at: endsAt } of rows) {
        const input = { params: params ?? {}, body } as HeldInput;
        await storeInput(tx, { keys }, { id, endsAt, input });
      }
      if (rows.length > 0) {
        await clearPlainInputs(
          tx,
          rows.map(({ id }) => id),
        );
      }
      return rows.length;
    });
    yield sealed;
  }
}
