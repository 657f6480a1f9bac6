/** Quote (API 1.7): the price of an operation, and whether it is possible now. */
import { type Static, type TObject, Type } from 'typebox';
import { V1_ERRORS, V1_ISSUES, type V1Error } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import type { Operation } from '../operations.ts';
import { Id, nullable, oneOf, Time, Usd } from './parts.ts';
import { ServerBody } from './server.ts';
import { ResizeBody, StartBody } from './server-actions.ts';

/** An order of which only the plan is known yet. */
const PartialOrder = Type.Object(
  { ...Type.Partial(ServerBody).properties, plan: ServerBody.properties.plan },
  { additionalProperties: false },
);
export type PartialOrder = Static<typeof PartialOrder>;

interface QuotableOperation {
  /** Its name in maintenance windows and policies. */
  readonly operation: Operation;
  /** The body of its request. */
  readonly params: TObject;
  /** Whether it is about a server that exists. */
  readonly hasResource: boolean;
}

/** The operations that have a price. */
export const QUOTABLE = {
  'server.create': { operation: 'servers.create', params: PartialOrder, hasResource: false },
  'server.start': { operation: 'servers.start', params: StartBody, hasResource: true },
  'server.resize': { operation: 'servers.resize', params: ResizeBody, hasResource: true },
  'server.delete': {
    operation: 'servers.delete',
    params: Type.Object({}, { additionalProperties: false }),
    hasResource: true,
  },
} as const satisfies Record<string, QuotableOperation>;
export type QuotedOperation = keyof typeof QUOTABLE;

export const QUOTED_OPERATIONS = Object.keys(QUOTABLE) as QuotedOperation[];

export const QuoteBody = Type.Object(
  {
    operation: oneOf(QUOTED_OPERATIONS),
    resource: Type.Optional(
      Type.String({ description: 'Id of the server. Only for operations on a server that exists.' }),
    ),
    params: Type.Optional(
      Type.Object(
        {},
        {
          additionalProperties: true,
          description:
            'The body of that request. For `server.create`, only `plan` is required: fields that you leave ' +
            'out are not checked.',
        },
      ),
    ),
  },
  { additionalProperties: false },
);
export type QuoteBody = Static<typeof QuoteBody>;

const money = (description: string) => nullable(Type.Number({ description }));
const BILLING_ONLY = 'Null for a token whose scope is not `billing`';

export const Quote = Type.Object({
  id: Id('quo_'),
  object: Type.Literal('quote'),
  operation: oneOf(QUOTED_OPERATIONS),
  available: Type.Boolean({
    description: 'Whether the operation is possible now, for a token with the scope that it requires.',
  }),
  errors: Type.Array(
    Type.Object({ field: Type.String(), issue: oneOf(V1_ISSUES) }, { additionalProperties: true }),
    { description: '`errors` of the response that the request would get. Empty if it would succeed.' },
  ),
  refusal: nullable(
    Type.Object(
      { code: oneOf(Object.keys(V1_ERRORS) as V1Error[]), message: Type.String() },
      { description: '`code` and `message` of that response. Null if the request would succeed.' },
    ),
  ),
  lines: Type.Array(
    Type.Object({
      description: Type.String({ examples: ['s1 in par, 3 months'] }),
      amount_usd: { ...Usd, description: 'Negative for an amount that comes back to your balance.' },
    }),
    { description: 'The parts of the price. One entry of the ledger charges a server and its backups.' },
  ),
  total_usd: money('The sum of all charges. Null if there is no price, as for an unknown plan.'),
  credit_usd: money('The amount that comes back to your balance.'),
  due_now_usd: money('The amount that is charged now: `total_usd` less `credit_usd`, but at least 0.'),
  renews_usd: money('The price of the next cycle. Null if the server does not renew.'),
  renews_at: nullable({ ...Time, description: 'When the next cycle is charged.' }),
  cycle_ends_at: nullable({ ...Time, description: 'Until when the server is then paid.' }),
  balance_after_usd: money(`Your balance after the operation; negative if it is too low. ${BILLING_ONLY}.`),
  deficit_usd: money(`The amount that your balance is short by. ${BILLING_ONLY}.`),
  topup: nullable(
    Type.Object(
      { amount_usd: Usd, bonus_usd: Usd },
      {
        description:
          'The smallest top-up that covers the deficit with its bonus, and first your servers that are ' +
          `suspended for insufficient balance; at most ${Number(LIMITS.topupMaxCents) / 100}. Null if ` +
          'nothing is missing, and for a token whose scope is not `billing`.',
      },
    ),
  ),
  expires_at: { ...Time, description: 'Until when you can send the id with the request.' },
});
export type Quote = Static<typeof Quote>;
