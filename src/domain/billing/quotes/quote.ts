/** Quotes an operation: its price, whether it is possible now, and the balance after it. */
import { Failure, fail, InvalidRequest, invalidRequest } from '../../../kernel/fail.ts';
import { parseId } from '../../../kernel/ids.ts';
import { QUOTABLE, type QuotedOperation } from '../../../spec/schemas/quote.ts';
import { scopeCovers } from '../../../spec/scopes.ts';
import { listWaitingServers } from '../../../store/billing/calendar.ts';
import { findPayer } from '../../../store/ledger/ledger.ts';
import type { ScopedActor, Service } from '../../context.ts';
import { loadRules, type Rules, requireAllowed, requireOpen } from '../../rules/rules.ts';
import { priceWithAnnouncement } from '../../servers/billing/price.ts';
import { requireOperation } from '../../tokens/limits/active.ts';
import { isMasked, withoutAccountNumbers } from '../../tokens/limits/mask.ts';
import { smallestTopup } from '../../topups/offer.ts';
import { makeQuoteId } from './id.ts';
import { type OperationPrice, REHEARSALS, type Rehearsal } from './rehearse.ts';

export interface QuoteRequest {
  readonly operation: QuotedOperation;
  /** `srv_…` as received; null: the operation has none. */
  readonly resource: string | null;
  /** The body of the operation's request, already validated. */
  readonly params: object;
}

export interface QuotedPrice extends Pick<QuoteRequest, 'operation'> {
  readonly id: string;
  readonly quotedAt: Date;
  readonly price: OperationPrice | null;
  /** The refusal that the operation would get now; null: it is possible. */
  readonly refusal: Failure | null;
  /** All charges, and all that comes back. */
  readonly totalCents: bigint;
  readonly creditCents: bigint;
  readonly balance: QuotedBalance;
}

export interface QuotedBalance {
  readonly nowCents: bigint;
  readonly afterCents: bigint;
  /** The amount that the balance is short by for the operation; 0 if none. */
  readonly deficitCents: bigint;
  /** Suspended servers that wait for payment: the next balance change pays them before anything else. */
  readonly waiting: { readonly servers: number; readonly cents: bigint };
  /** Null: nothing is missing. */
  readonly topup: ReturnType<typeof smallestTopup> | null;
}

/**
 * Stores and reserves nothing. Refuses with `unknown_reference` a resource that is not the customer's, and
 * with 400 `params` that the operation's own request would be refused for with 400.
 */
export async function quote(
  service: Service,
  actor: ScopedActor,
  { operation, resource, params }: QuoteRequest,
): Promise<QuotedPrice> {
  const { customerId } = actor;
  const quotedAt = service.clock.now();
  const call = { service, actor, resource: resource ?? '', params: params as never };
  const [rehearsal, payer, waiting, rules] = await Promise.all([
    REHEARSALS[operation](call),
    findPayer(service.reads, customerId),
    readWaiting(service, customerId, resource, quotedAt),
    loadRules(service),
  ]);
  const { balance_cents: nowCents, frozen } = payer ?? fail('auth_required');
  const refusal = await findRefusal(actor, { operation, rehearsal, frozen, rules, now: quotedAt });
  const amounts = (rehearsal.price?.lines ?? []).map(({ cents }) => cents);
  const totalCents = sum(amounts.filter((cents) => cents > 0n));
  const creditCents = -sum(amounts.filter((cents) => cents < 0n));
  return {
    operation,
    id: makeQuoteId(service.keys, { customerId, operation, resource }, totalCents, quotedAt),
    quotedAt,
    price: rehearsal.price,
    refusal,
    totalCents,
    creditCents,
    balance: balanceAfter(nowCents, totalCents - creditCents, waiting),
  };
}

interface QuoteConditions {
  readonly operation: QuotedOperation;
  readonly rehearsal: Rehearsal;
  readonly rules: Rules;
  readonly frozen: boolean;
  readonly now: Date;
}

/** Returns the refusal that the operation would get, in the order of the checks of its own request. */
async function findRefusal(actor: ScopedActor, conditions: QuoteConditions): Promise<Failure | null> {
  const { rehearsal, rules, frozen, now } = conditions;
  const { operation } = QUOTABLE[conditions.operation];
  const { region, check } = rehearsal;
  try {
    requireOpen(rules, operation, now);
    if (frozen) fail('account_frozen');
    requireOperation(actor.limits, operation);
    requireAllowed(rules, { operation, country: actor.ipCountry, region });
    await check();
    return null;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error instanceof InvalidRequest) return rejectParams(error);
    if (isMasked(actor)) return withoutAccountNumbers(error) as Failure;
    return scopeCovers(actor.scope, 'billing') ? error : withoutBalance(error);
  }
}

function rejectParams({ items, message }: InvalidRequest): never {
  invalidRequest(
    items.map((item) => ({ ...item, field: `params.${item.field}` })),
    message,
  );
}

/** Only the scope `billing` reads the balance. */
function withoutBalance(failure: Failure): Failure {
  if (failure.code !== 'insufficient_balance') return failure;
  const { have: _have, deficit: _deficit, ...rest } = failure.extras;
  return new Failure(failure.code, rest);
}

/** Leaves out the quoted server: its cycle is part of the quote. */
async function readWaiting(
  service: Service,
  customerId: string,
  resource: string | null,
  now: Date,
): Promise<QuotedBalance['waiting']> {
  const quotedId = resource === null ? undefined : parseId('server', resource);
  const waiting = await listWaitingServers(service.reads, customerId, now);
  const servers = waiting.filter(({ id }) => id !== quotedId);
  const prices = servers.map((server) => priceWithAnnouncement(server, server.announced_cents_month));
  return { servers: servers.length, cents: sum(prices.map(({ cycleCents }) => cycleCents)) };
}

function balanceAfter(nowCents: bigint, dueCents: bigint, waiting: QuotedBalance['waiting']): QuotedBalance {
  const afterCents = nowCents - dueCents;
  const deficitCents = dueCents > 0n && afterCents < 0n ? -afterCents : 0n;
  const topup = deficitCents > 0n ? smallestTopup(deficitCents + waiting.cents) : null;
  return { nowCents, afterCents, deficitCents, waiting, topup };
}

function sum(amounts: readonly bigint[]): bigint {
  return amounts.reduce((total, cents) => total + cents, 0n);
}
