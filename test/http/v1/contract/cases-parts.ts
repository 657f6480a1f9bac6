/** The parts of a case, and how a case becomes a request. */
import type { Route } from '../../../../src/http/v1/route.ts';
import { ID_PREFIXES } from '../../../../src/kernel/ids.ts';
import type { V1Client, V1Response } from '../../../support/v1-client.ts';
import { MULTIPART } from '../upload-world.ts';
import type { Estate } from './estate.ts';

/** The kind of an id: a resource of a customer, or a catalog code, which belongs to no one. */
export type Kind = Owned | 'plan' | 'region' | 'anything';
export type Owned = keyof ReturnType<typeof ownedIds>;

/** The place of an id in a request. */
export interface Place {
  readonly in: 'path' | 'body' | 'filter';
  /** The parameter, the dotted path in the body, or the key of the query. */
  readonly name: string;
  readonly kind: Kind;
}

/** One request of a route, as texts and objects. */
export interface Case {
  readonly params: Readonly<Record<string, string>>;
  readonly query: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Members that the body has instead of others. */
  readonly instead?: readonly string[];
  /** The body of a multipart route. */
  readonly upload?: string;
  readonly places: readonly Place[];
}

export const NOTHING: Case = { params: {}, query: {}, places: [] };

export const inPath = (name: string, kind: Kind): Place => ({ in: 'path', name, kind });
export const inBody = (name: string, kind: Kind): Place => ({ in: 'body', name, kind });
export const inFilter = (name: string, kind: Kind): Place => ({ in: 'filter', name, kind });

/** A request for the resource in its path. */
export function caseFor(kind: Kind, id: string, more: Partial<Case> = {}): Case {
  return { ...NOTHING, ...more, params: { id }, places: [inPath('id', kind), ...(more.places ?? [])] };
}

/** The ids of the estate by kind, starting with those in the cases. */
export function ownedIds(estate: Estate) {
  const { server, image, keys, token, topup, volume, snapshot, group, rule, webhook, delivery, quote } =
    estate;
  const { alert } = estate;
  return {
    server: [server.running, server.stopped],
    customImage: [image.own, image.inserted],
    sshKey: keys,
    token: [token],
    topup: [topup.credited, topup.open],
    volume: [volume.attached, volume.detached],
    snapshot: [snapshot],
    firewallGroup: [group.applied, group.idle],
    firewallRule: [rule.ofApplied, rule.ofIdle],
    webhook: [webhook.pinged, webhook.other],
    delivery: [delivery.ofPinged, delivery.ofOther],
    audit: [estate.auditEvent],
    action: [estate.action],
    ledgerEntry: [estate.ledgerEntry],
    quote: [quote.order, quote.start, quote.resize],
    alert: [alert.listed, alert.labeled],
    ticket: [estate.ticket],
  } satisfies Partial<Record<keyof typeof ID_PREFIXES, readonly string[]>>;
}

/** Returns the same request with another id in this place. */
export function withId(one: Case, place: Place, id: string): Case {
  if (place.in === 'path') return { ...one, params: { ...one.params, [place.name]: id } };
  if (place.in === 'filter') return { ...one, query: { ...one.query, [place.name]: id } };
  const body = structuredClone(one.body ?? {});
  const steps = place.name.split('.');
  const last = steps.pop() ?? '';
  const holder = steps.reduce((part, step) => part[step] as Record<string, unknown>, body as Json);
  holder[last] = id;
  return { ...one, body };
}
type Json = Record<string, unknown>;

/** Returns the text in a place. */
export function idAt(one: Case, { in: where, name }: Place): unknown {
  if (where === 'path') return one.params[name];
  if (where === 'filter') return one.query[name];
  return name.split('.').reduce<unknown>((part, step) => (part as Json | undefined)?.[step], one.body);
}

export async function send(client: V1Client, route: Route, one: Case): Promise<V1Response> {
  const path = route.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(one.params[name] ?? ''));
  const query = new URLSearchParams(one.query).toString();
  const url = query === '' ? path : `${path}?${query}`;
  const headers = route.beta ? { 'x-service-beta': 'true' } : {};
  if (one.upload === undefined) return await client.call(route.method, url, one.body, { headers });
  return await client.raw(route.method, url, one.upload, { headers: { ...headers, ...MULTIPART } });
}

/** Returns the dotted path and the text of everything in a value that looks like an id. */
export function idsIn(value: unknown, path: readonly string[] = []): [path: string, id: string][] {
  if (typeof value === 'string') return looksLikeId(value) ? [[path.join('.'), value]] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => idsIn(inner, [...path, name]));
}

const PREFIXES: readonly string[] = Object.values(ID_PREFIXES);

function looksLikeId(text: string): boolean {
  return PREFIXES.some((prefix) => text.startsWith(prefix)) && /_[a-z2-7]{26}$/.test(text);
}
