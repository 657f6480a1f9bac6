/**
 * The description of a REST route. The pipeline derives the rest from it, alike for every route:
 * authorization, rate limits, idempotency, errors, and the OpenAPI document.
 */
import type { Static, TObject, TSchema } from 'typebox';
import type { ScopedActor, Service } from '../../domain/context.ts';
import type { EventStreams } from '../../domain/events/streams.ts';
import type { ReceivedUpload } from '../../domain/images/upload.ts';
import type { ActionCommand } from '../../spec/action-commands.ts';
import type { Action } from '../../spec/actions.ts';
import type { ListRules, PageRequest } from '../../spec/lists.ts';
import type { Operation } from '../../spec/operations.ts';
import type { Scope } from '../../spec/scopes.ts';

export type Method = 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';

export interface TokenActor extends ScopedActor {
  readonly tokenId: string;
  /** Changes with the limits of the token. */
  readonly limitsVersion: number;
}

type ParamName<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParamName<Rest>
  : never;

/** The parameters in a path: `{ id: string }` for `/servers/{id}/stop`. */
export type PathParams<Path extends string> = Readonly<Record<ParamName<Path>, string>>;

/** A request that passed every check. The handler calls one domain verb with its contents. */
export interface Call<Body = unknown, Query = unknown, Params extends object = object> {
  readonly service: Service;
  readonly actor: ScopedActor;
  /** Path parameters as sent. A verb answers `not_found` to a malformed id. */
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The requested page of a list; unused elsewhere. */
  readonly page: PageRequest;
  /** The upload received by a `multipart` route; undefined elsewhere. */
  readonly upload?: ReceivedUpload;
  /** Returns `https://host` as customers reach the service, without a trailing slash. */
  readonly baseUrl: () => string;
}

/** The page of a request that is not for a list. */
export const UNPAGED: PageRequest = { filter: {}, sort: '', descending: false, after: null, size: 0 };

/** A request for a response that stays open. */
export interface StreamCall<Query = unknown, Headers = unknown> extends Call<unknown, Query> {
  readonly actor: TokenActor;
  readonly headers: Headers;
  readonly streams: EventStreams;
}

/** Server-sent events, as texts to write in order. */
export interface Feed {
  readonly chunks: AsyncIterable<string>;
  /** The client has disconnected, or stopped reading. */
  end(): void;
}

interface RouteDefinition {
  /** `<resources>.<verb>`: the operation's name in OpenAPI, in maintenance windows, and in policies. */
  readonly id: Operation;
  readonly method: Method;
  /** Below /v1, with parameters as `{id}`. */
  readonly path: string;
  readonly scope: Scope;
  readonly summary: string;
  readonly description?: string;
  readonly status: 200 | 201 | 202 | 204;
  /** Error statuses in addition to those of every route, and to 404 for a path with an id. */
  readonly errorStatuses?: readonly (409 | 422)[];
  /** The audit log's name for it. Required for every route that changes something. */
  readonly audit?: Action;
  /** The action that it begins: the response names it in X-Action-Id. */
  readonly starts?: ActionCommand;
  /** The rate limit bucket; `general` when omitted. */
  readonly bucket?: 'provision';
  /** Set for a POST that only reads: it is not audited, and a frozen customer may send it. */
  readonly changesNothing?: true;
  /** A frozen customer may send it. */
  readonly whenFrozen?: true;
  /** Accepts `multipart/form-data`. Then the body's schema only serves the OpenAPI document. */
  readonly multipart?: true;
  /** Requires the header `X-Service-Beta: true`. */
  readonly beta?: true;
  /** An example body for the OpenAPI document. Every route with a body has one. */
  readonly example?: object;
}

/** A route as registered, without its static types. */
export interface Route extends RouteDefinition {
  readonly body?: TObject;
  readonly query?: TObject;
  readonly list?: ListRules;
  readonly stream?: StreamRules;
  /** The schema of the response: of one item for a list, of one message's data for a stream. Null for 204. */
  readonly reply: TSchema | null;
  readonly run: (call: Call) => Promise<unknown>;
}

/** The additional properties of a stream. */
export interface StreamRules {
  /** Accepted headers, in the spelling that clients use. */
  readonly headers: TObject;
  /** An excerpt of the stream, for the OpenAPI document. */
  readonly example: string;
}

/**
 * Types a handler by the route's path and schemas. Bodies and queries are objects with
 * `additionalProperties: false`.
 */
export function route<
  Path extends string,
  Body extends TObject,
  Query extends TObject,
  Reply extends TSchema | null,
>(
  row: Omit<RouteDefinition, 'status'> & {
    readonly path: Path;
    /** Defaults to 200. */
    readonly status?: RouteDefinition['status'];
    readonly body?: Body;
    readonly query?: Query;
    readonly reply: Reply;
    /** Without a reply, the result at most names the action that was begun: a BeganAction. */
    readonly run: (
      call: Call<Static<Body>, Static<Query>, PathParams<Path>>,
    ) => Promise<Reply extends TSchema ? Static<Reply> : unknown>;
  },
): Route {
  return { status: 200, ...row } as unknown as Route;
}

/** Declares a list. The pipeline reads page, filter, and sort, and builds the envelope and its cursor. */
export function listRoute<Path extends string, Item extends TSchema>(
  row: Omit<RouteDefinition, 'method' | 'status'> & {
    readonly path: Path;
    readonly list: ListRules;
    readonly reply: Item;
    readonly run: (call: Call<unknown, unknown, PathParams<Path>>) => Promise<ListPage<Static<Item>>>;
  },
): Route {
  return { ...row, method: 'GET', status: 200 } as unknown as Route;
}

/**
 * Declares a stream (`text/event-stream`). Admission and errors work as for any other route. Once admitted,
 * it stays open until either side closes it.
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

/** One page: its items, and the position of the next page, or null on the last page. */
export interface ListPage<Item> {
  readonly items: readonly Item[];
  readonly next: { readonly value: string; readonly id: string } | null;
}
