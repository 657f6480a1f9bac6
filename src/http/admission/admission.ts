/**
 * The pipeline of all surfaces. A request passes named stages, and the first failure ends it. Each surface
 * lists its stages in a table, in the order that it promises: REST in v1/admit.ts, the forms of the session
 * surface and the panel in forms.ts. Forms reach their table with their body read and their visitor known, so
 * a rule that must come first for all surfaces is a hook of http/server.ts.
 *
 * Each surface reads requests and writes responses in its own way (v1/pipeline.ts, session/pipeline.ts,
 * panel/pipeline.ts). The stages that surfaces share are here and in once.ts.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../../domain/context.ts';
import { type Rules, requireAllowed, requireOpen } from '../../domain/rules/rules.ts';
import { fail } from '../../kernel/fail.ts';
import type { Action } from '../../spec/actions.ts';
import type { Operation } from '../../spec/operations.ts';
import type { Edge } from '../settings.ts';

/** A request on its way through the stages. */
export interface Admission {
  readonly edge: Edge;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** Its name in maintenance windows and policies. Null: only windows of the whole service apply. */
  readonly operation: Operation | null;
  /** The audit log's name for it. Null: it changes nothing. */
  readonly action: Action | null;
  /** Whether a frozen customer may not send it. */
  readonly changes: boolean;
  /** The resource that the audit log names when the request is refused. */
  readonly resource: () => string | null;
  /** From `identify`. Null: unknown. */
  caller: Actor | null;
  frozen: boolean;
  /** The version of the operator's rules, if `identify` has read it. */
  rulesVersion?: bigint | undefined;
  /** From `open`: the operator's rules as of this request. */
  rules: Rules | null;
  /** Whether the audit row of its refusal is written. */
  isRefusalAudited: boolean;
}

type Stage<Each extends Admission> = (admission: Each) => Promise<void> | void;

/** By name, in order. */
export type Stages<Each extends Admission> = Readonly<Record<string, Stage<Each>>>;

export async function passStages<Each extends Admission>(
  stages: Stages<Each>,
  admission: Each,
): Promise<void> {
  for (const stage of Object.values(stages)) {
    const passing = stage(admission);
    // Most stages of most requests have nothing to wait for.
    if (passing) await passing;
  }
}

/** `open`: fails with `maintenance` while the service or the operation is closed. */
export async function requireServiceOpen(admission: Admission): Promise<void> {
  const { edge, operation, rulesVersion } = admission;
  admission.rules = await edge.rules.read(rulesVersion);
  requireOpen(admission.rules, operation, edge.service.clock.now());
}

/** `policy`: applies the operator's policies. `regionOf` reads the region that the request names. */
export function requirePolicies(
  { rules, caller, operation }: Admission,
  regionOf: () => Promise<string | null> | string | null = () => null,
): Promise<void> | void {
  // No policies: skip the GeoIP lookup.
  if (!rules || !caller || !operation || rules.policies.length === 0) return;
  const check = async () =>
    requireAllowed(rules, { operation, country: caller.ipCountry, region: await regionOf() });
  return check();
}

/** `frozen`: a frozen customer reads, but changes nothing. */
export function requireNotFrozen({ changes, frozen }: Admission): void {
  if (changes && frozen) fail('account_frozen');
}

/** The region in a REST body. */
export function regionIn(body: unknown): string | null {
  const region = (body as { readonly region?: unknown } | null | undefined)?.region;
  return typeof region === 'string' ? region : null;
}
