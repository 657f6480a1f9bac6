/**
 * What a route of the REST surface says about itself. Everything else (who may call it, how often, once only, what an
 * error looks like, the document) is made from this row by the pipeline, the same for all.
 */
import type { Static, TObject, TSchema } from 'typebox';
import type { CustomerActor, Service } from '../../domain/context.ts';
import type { EventStreams } from '../../domain/events/streams.ts';
import type { SaveResponse } from '../../domain/idempotency.ts';
import type { ReceivedUpload } from '../../domain/images/upload.ts';
import type { Action } from '../../spec/actions.ts';
import type { ListRules, PageRequest } from '../../spec/lists.ts';
import type { Operation } from '../../spec/operations.ts';
import type { Scope } from '../../spec/scopes.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

/** The caller: behind a token, or in a session of the panel, which may do everything. */
export interface ScopedActor extends CustomerActor {
  readonly scope: Scope;
}

export interface TokenActor extends ScopedActor {
  readonly tokenId: string;
}

/** One request that passed every check; the handler calls one verb of the domain with what is in here. */
export interface Call<Body = unknown, Query = unknown> {
  readonly service: Service;
  readonly actor: ScopedActor;
  /** Parts of the path as they came: a verb answers `not_found` to one that is no id. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  /** Which page of a list; meaningless elsewhere. */
  readonly page: PageRequest;
  /** Keeps the answer for its Idempotency-Key in the transaction of the change. Undefined without a key. */
  readonly saveResponse: SaveResponse | undefined;
  /** What a route with `multipart` received; undefined elsewhere. */
  readonly upload?: ReceivedUpload;
  /** `https://host` as customers reach the service, without a slash at its end. */
  readonly baseUrl: string;
}

/** A request for an answer that stays open. */
export interface StreamCall<Query = unknown, Headers = unknown> extends Call<unknown, Query> {
  readonly actor: TokenActor;
  readonly headers: Headers;
  readonly streams: EventStreams;
}

/** Server-sent events, as texts that are written as they come. */
export interface Feed {
  readonly chunks: AsyncIterable<string>;
  /** The caller has left, or takes nothing any more. */
  end(): void;
}

interface RouteDefinition {
  /** `<resources>.<verb>`: the operation's name in the document, in maintenance windows and in policies. */
  readonly id: Operation;
  readonly method: Method;
  /** Below /v1, with parameters as `{id}`. */
  readonly path: string;
  readonly scope: Scope;
  readonly summary: string;
  readonly description?: string;
  readonly status: 200 | 201 | 202 | 204;
  /** Which refusals it has beside those that any route may answer. */
  readonly errorStatuses?: readonly (404 | 409 | 422)[];
  /** What the audit log calls it: every route that changes something. */
  readonly audit?: Action;
  /** Which bucket it draws on; the general one when left out. */
  readonly bucket?: 'provision';
  /** Takes `multipart/form-data`; the body's schema is for the document. */
  readonly multipart?: true;
  /** Needs the header `X-Service-Beta: true`. */
  readonly beta?: true;
  /** A body as an example for the document; every route with a body has one. */
  readonly example?: object;
}

/** A route as it is registered, its types forgotten. */
export interface Route extends RouteDefinition {
  readonly body?: TObject;
  readonly query?: TObject;
  readonly list?: ListRules;
  readonly stream?: StreamRules;
  /** The shape of the answer (of one item, for a list; of one message's data, for a stream); null: 204. */
  readonly reply: TSchema | null;
  readonly run: (call: Call) => Promise<unknown>;
}

/** What is said of a stream beside what is said of every route. */
export interface StreamRules {
  /** Headers that it takes, by the names that callers write. */
  readonly headers: TObject;
  /** Some of it as it is on the wire, for the document. */
  readonly example: string;
}

/** Types a route's handler by its schemas. Bodies and queries are objects with `additionalProperties: false`. */
export function route<Body extends TObject, Query extends TObject, Reply extends TSchema | null>(
  row: RouteDefinition & {
    readonly body?: Body;
    readonly query?: Query;
    readonly reply: Reply;
    readonly run: (
      call: Call<Static<Body>, Static<Query>>,
    ) => Promise<Reply extends TSchema ? Static<Reply> : void>;
  },
): Route {
  return row as unknown as Route;
}

/** The route of a list: the pipeline reads page, filter and sort, and makes the envelope and its cursor. */
export function listRoute<Item extends TSchema>(
  row: Omit<RouteDefinition, 'method' | 'status'> & {
    readonly list: ListRules;
    readonly reply: Item;
    readonly run: (call: Call) => Promise<ListPage<Static<Item>>>;
  },
): Route {
  return { ...row, method: 'GET', status: 200 } as unknown as Route;
}

/**
 * The route of a stream (`text/event-stream`). It is let in and checked like any other, and a refusal looks the same; then
 * it stays open until one side ends it.
 */
export function streamRoute<Query extends TObject, Headers extends TObject>(
  row: Omit<RouteDefinition, 'method' | 'status'> & {
    readonly query: Query;
    readonly stream: Omit<StreamRules, 'headers'> & { readonly headers: Headers };
    readonly reply: TSchema;
    readonly run: (call: StreamCall<Static<Query>, Static<Headers>>) => Promise<Feed>;
  },
): Route {
  return { ...row, method: 'GET', status: 200 } as unknown as Route;
}

/** One page: its items, and where the next one begins, or null at the end. */
export interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly next: { readonly value: string; readonly id: string } | null;
}
